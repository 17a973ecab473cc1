import { describe, expect, it } from "vitest";
import { resolveDevice } from "../../../src/profile/request/device.ts";

const gpu = { index: 0, name: "H200", driverVersion: "580" };

describe("resolveDevice", () => {
  it.each([
    ["auto", [], true, "cpu"],
    ["auto", [gpu], true, "cuda:0"],
    // A build without a GPU backend runs on the CPU of a GPU machine.
    ["auto", [gpu], false, "cpu"],
    ["cpu", [gpu], true, "cpu"],
    ["cuda:0", [gpu], true, "cuda:0"],
  ] as const)("%s with GPUs %j (backend: %s) is %s", (requested, gpus, backend, device) => {
    expect(resolveDevice(requested, gpus, backend)).toBe(device);
  });

  it("refuses a GPU that is not there and says what is", () => {
    expect(() => resolveDevice("cuda:1", [gpu], true)).toThrow(
      expect.objectContaining({
        code: "profile.device",
        details: expect.objectContaining({ key: "device", available: ["auto", "cpu", "cuda:0"] }),
      }),
    );
  });
});
