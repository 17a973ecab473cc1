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
    // CUDA takes one slice of a partitioned GPU, and no second device beside it.
    ["MIG-5c8e9ab2-0000", ["A (MIG)"]],
    ["MIG-GPU-b123/1/0,MIG-GPU-c123/1/0", ["B (MIG)"]],
  ])("CUDA_VISIBLE_DEVICES=%s gives %j, numbered anew", (visible, names) => {
    const gpus = visibleGpus(machine, visible);
    expect(gpus.map(({ name }) => name)).toEqual(names);
    expect(gpus.map(({ index }) => index)).toEqual(names.map((_, i) => i));
  });
});
