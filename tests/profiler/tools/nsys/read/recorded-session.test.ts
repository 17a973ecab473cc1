import { describe, expect, it } from "vitest";
import { readNsysExport } from "../../../../../src/profiler/tools/nsys/read/read-export.ts";
import { writeExport } from "../exports.ts";

const machineOf = (tables: Parameters<typeof writeExport>[0]) =>
  readNsysExport(writeExport(tables)).machine;

describe("the machine of an export", () => {
  it("has its names and GPUs, these in CUDA's order", () => {
    const gpus = [
      { id: 0, name: "NVIDIA A100", busLocation: "0000:c1:00.0", cuDevice: 1 },
      { id: 1, name: "NVIDIA T4", busLocation: "0000:03:00.0", cuDevice: 0 },
      { id: 2, name: "NVIDIA A100", busLocation: "0000:81:00.0", cuDevice: 2 },
    ];
    const machine = machineOf({
      TARGET_INFO_GPU: gpus,
      TARGET_INFO_SYSTEM_ENV: [
        { name: "Hostname", value: "node7" },
        { name: "OsDescription", value: "Ubuntu 22.04.2 LTS" },
        { name: "CpuDescription", value: " Some CPU " },
        { name: "DeviceEnvironment", value: "TOKEN=secret" },
      ],
    });
    expect(machine).toEqual({
      hostname: "node7",
      os: "Ubuntu 22.04.2 LTS",
      cpu: "Some CPU",
      gpus: ["NVIDIA T4", "NVIDIA A100", "NVIDIA A100"],
    });
  });

  it("has the GPUs of an old export once, though each process lists them", () => {
    const gpus = [7, 8].flatMap((pid) => [
      { name: "Tesla V100", pciBusId: "0000:91:00.0", deviceId: 1, pid },
      { name: "Tesla P100", pciBusId: "0000:05:00.0", deviceId: 0, pid },
    ]);
    expect(machineOf({ TARGET_INFO_CUDA_GPU: gpus }).gpus).toEqual(["Tesla P100", "Tesla V100"]);
  });

  it("is not known where the export does not tell", () => {
    expect(machineOf({})).toEqual({ hostname: null, os: null, cpu: null, gpus: [] });
  });
});

it("an export until 2023.2 tells its version under another name", () => {
  const old = { EXPORT_META_DATA: [{ name: "EXPORT_PRODUCT_VERSION", value: "2022.2.1.31" }] };
  expect(readNsysExport(writeExport(old, { metadata: false })).toolVersion).toBe("2022.2.1.31");
});
