import { describe, expect, it } from "vitest";
import { visibleGpus } from "../../../src/profile/machine/gpu.ts";

const machine = ["A", "B", "C"].map((name) => ({
  name,
  driverVersion: "580",
  uuid: `GPU-${name.toLowerCase()}123`,
}));

describe("visibleGpus", () => {
  it.each([
    [undefined, ["A", "B", "C"]],
    ["2,0", ["C", "A"]],
    ["GPU-b1", ["B"]],
    // None: how programs are kept off GPUs.
    ["", []],
    ["-1", []],
    // What stands behind an entry that names no GPU does not count.
    ["0,7,1", ["A"]],
  ])("CUDA_VISIBLE_DEVICES=%s gives %j, numbered anew", (visible, names) => {
    const gpus = visibleGpus(machine, visible);
    expect(gpus.map(({ name }) => name)).toEqual(names);
    expect(gpus.map(({ index }) => index)).toEqual(names.map((_, i) => i));
  });
});
