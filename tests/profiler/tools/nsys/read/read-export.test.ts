import { describe, expect, it } from "vitest";
import { MOST_BYTES } from "../../../../../src/profiler/tools/nsys/read/database.ts";
import { readNsysExport } from "../../../../../src/profiler/tools/nsys/read/read-export.ts";
import { call, globalId, kernel, range, type Tables, writeExport } from "../exports.ts";

const read = (tables: Tables) => readNsysExport(writeExport(tables));

const unsupportedDriver =
  "Installed CUDA driver version (13.2) is not supported by this build of Nsight Systems. CUDA trace will be collected using libraries for driver version 12.8";

describe("an export", () => {
  it("without any of the tables is a timeline with a note", () => {
    const { processes, notes } = read({});
    expect(processes).toEqual([]);
    expect(notes).toEqual(["Nsight Systems saw no NVTX call and no CUDA activity in any process"]);
  });

  it("with tables that are not known says which, and not that nsys saw nothing or is too old", () => {
    const { notes } = read({
      NVTX_EVENTS_V2: [range],
      NVTX_PAYLOAD_SCHEMAS: [{ id: 1 }],
      CUPTI_ACTIVITY_KIND_KERNEL_V2: [kernel],
      CUPTI_ACTIVITY_KIND_CUDA_EVENT: [{ start: 1 }],
      CUPTI_ACTIVITY_KIND_RUNTIME: [{ ...call, nameId: 1, returnValue: 0 }],
      StringIds: [{ id: 1, value: "cudaLaunchKernel_v7000" }],
    });
    expect(notes).toEqual([
      "the export has 2 tables that are not known here (CUPTI_ACTIVITY_KIND_KERNEL_V2, NVTX_EVENTS_V2): what they hold is missing",
    ]);
  });

  it("whose times are UTC is shifted without losing a nanosecond", () => {
    const utc = 1_795_262_059_380_493_915n;
    const at = (ns: bigint) => utc + ns;
    const { originNs, processes } = read({
      NVTX_EVENTS: [{ ...range, start: at(0n), end: at(80n) }],
      CUPTI_ACTIVITY_KIND_KERNEL: [{ ...kernel, start: at(30n), end: at(51n) }],
      CUPTI_ACTIVITY_KIND_RUNTIME: [{ ...call, start: at(7n), end: at(9n) }],
    });
    expect(originNs).toBe(utc);
    expect(processes[0]?.ranges).toMatchObject([{ startNs: 0, endNs: 80 }]);
    expect([...(processes[0]?.kernels ?? [])]).toMatchObject([
      { launchNs: 7, startNs: 30, endNs: 51 },
    ]);
  });

  it("says when its session began, and what processes are called", () => {
    const { originNs, processes } = read({
      TARGET_INFO_SESSION_START_TIME: [{ utcEpochNs: 1_795_262_059_380_493_915n }],
      NVTX_EVENTS: [range],
      PROCESSES: [
        { globalPid: globalId(7), pid: 7, name: "/bin/seven" },
        { globalPid: globalId(8), pid: 8, name: "/bin/unrelated" },
      ],
    });
    expect(originNs).toBe(1_795_262_059_380_493_915n);
    expect(processes.map(({ executable }) => executable)).toEqual(["/bin/seven"]);
  });

  it("with values that are too large is read without them, and with all else", () => {
    const [large, small] = ["x".repeat(MOST_BYTES + 1), "y".repeat(MOST_BYTES)];
    const { processes, notes, toolVersion } = read({
      META_DATA_EXPORT: [
        { name: "EXPORT_PRODUCT_VERSION", value: "2024.1" },
        { name: "OTHER", value: large },
      ],
      NVTX_EVENTS: [
        { ...range, text: large, textId: null, binaryData: new Uint8Array(MOST_BYTES + 1) },
        { ...range, text: null, textId: 3 },
        { ...range, text: small },
      ],
      StringIds: [{ id: 3, value: `${large}z` }],
      NVTX_PAYLOAD_SCHEMAS: [{ domainId: 1, schemaId: 1, name: large }],
      NVTX_PAYLOAD_SCHEMA_ENTRIES: [{ domainId: 1, schemaId: 1, name: "a" }],
    });
    expect(toolVersion).toBe("2024.1");
    expect(processes[0]?.ranges.map(({ name }) => name).toSorted()).toEqual([
      "(text of 1048577 bytes)",
      "(text of 1048578 bytes)",
      small,
    ]);
    for (const column of ["NVTX_EVENTS.text", "NVTX_EVENTS.binaryData", "StringIds.value"])
      expect(notes).toContainEqual(
        expect.stringContaining(`${column}: 1 value of more than 1,048,576 bytes was not read`),
      );
  });

  it("with launches and no kernels says so, as nsys writes under WSL", () => {
    const launch = (nameId: number) => ({ ...call, nameId });
    const of = (name: string, more = {}) =>
      read({
        NVTX_EVENTS: [range],
        StringIds: [{ id: 3, value: name }],
        CUPTI_ACTIVITY_KIND_RUNTIME: [launch(3)],
        ...more,
      }).notes;
    expect(of("cudaLaunchKernel_v7000")).toEqual([
      expect.stringContaining("nsys recorded none of them"),
    ]);
    expect(of("cuLaunchKernelEx")).toHaveLength(1);
    expect(of("cudaMalloc_v3020")).toEqual([]);
    const returned = (returnValue: number) =>
      of("cudaLaunchKernel_v7000", {
        CUPTI_ACTIVITY_KIND_RUNTIME: [{ ...launch(3), returnValue }],
      });
    expect(returned(0)).toHaveLength(1);
    // No GPU was there: nothing ran.
    expect(returned(100)).toEqual([]);
    const kernel = { start: 5, end: 6, globalPid: globalId(7), correlationId: 1 };
    const recorded = of("cudaLaunchKernel_v7000", { CUPTI_ACTIVITY_KIND_KERNEL: [kernel] });
    expect(recorded.join()).not.toContain("none of them");
  });

  it("with launches and no kernels names the cause where nsys told of it", () => {
    const of = (...texts: readonly string[]) =>
      read({
        NVTX_EVENTS: [range],
        StringIds: [{ id: 3, value: "cudaLaunchKernel_v7000" }],
        CUPTI_ACTIVITY_KIND_RUNTIME: [{ ...call, nameId: 3 }],
        DIAGNOSTIC_EVENT: texts.map((text) => ({ severity: 1, text, globalPid: globalId(7) })),
      }).notes;
    const [any] = of("Profiling has started.");
    expect(any).toContain("as new as the driver");
    expect(any).toContain("CuptiUseRawGpuTimestamps=false");
    const hardware = "Hardware tracing used for CUDA tracing";
    const [traced] = of("Profiling has started.", hardware);
    expect(traced).toContain("nsys recorded none of them");
    expect(traced).toContain("pipeline.nsys.trace='cuda-sw,nvtx'");
    expect(traced).not.toContain("WSL");
    const [old] = of(hardware, unsupportedDriver);
    expect(old).toContain("nsys knows CUDA 12.8, and the driver has 13.2");
  });

  it.each([
    [unsupportedDriver, "set HYDRACONF_NSIGHT to the directory of a newer nsys"],
    [
      "Number of incomplete CUPTI events dropped: 55012. Incomplete events appear when GPU timestamp information have not been retrieved at the time the profiling session was stopped.",
      "pipeline.nsys.trace='cuda-sw,nvtx'",
    ],
    [
      "CUPTI dropped 12 records. Some CUPTI events might be missing.",
      "pipeline.nsys.capture_range",
    ],
    [
      "Number of CUPTI events produced: 4110, CUPTI buffers: 3 of 8. Some CUPTI events might be missing. To make sure all the events are collected, let the application run until it quits, and make sure cudaDeviceReset() is called before exit.",
      "--cuda-flush-interval",
    ],
    [
      "cuptiSubscribe failed: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED",
      "uses its own profiler",
    ],
    [
      "Failed to enable CUPTI activities: CUPTI_ERROR_INVALID_DEVICE",
      "set HYDRACONF_NSIGHT to the directory of a newer nsys",
    ],
  ])("says what helps beside what nsys warned of: %s", (text, remedy) => {
    const { notes } = read({
      NVTX_EVENTS: [range],
      DIAGNOSTIC_EVENT: [{ severity: 2, text, globalPid: globalId(7) }],
    });
    expect(notes).toEqual([expect.stringContaining(`nsys warning: ${text.replace(/\.$/, "")}`)]);
    expect(notes[0]).toContain(remedy);
  });

  it("leaves out what nsys warned of programs that did nothing, such as shells", () => {
    const warning = { severity: 2, text: "No CUDA events collected." };
    const of = (pid: number, more = {}) =>
      read({
        NVTX_EVENTS: [range],
        DIAGNOSTIC_EVENT: [{ ...warning, globalPid: globalId(pid), ...more }],
      }).notes;
    expect(of(7)).toEqual(["nsys warning: No CUDA events collected."]);
    expect(of(0)).toHaveLength(1);
    expect(of(12)).toEqual([]);
    expect(of(12, { severity: 3 })).toEqual(["nsys error: No CUDA events collected."]);
    const alone = read({ DIAGNOSTIC_EVENT: [{ ...warning, globalPid: globalId(12) }] }).notes;
    expect(alone).toContain("nsys warning: No CUDA events collected.");
  });

  it("of a newer schema, and what nsys warned of, are notes", () => {
    const { notes, toolVersion } = read({
      META_DATA_EXPORT: [
        { name: "EXPORT_PRODUCT_VERSION", value: "2030.1" },
        { name: "EXPORT_SCHEMA_VERSION_MAJOR", value: "4" },
        { name: "EXPORT_SCHEMA_VERSION_MINOR", value: "0" },
      ],
      NVTX_EVENTS: [range],
      DIAGNOSTIC_EVENT: [
        { severity: 1, text: "fine" },
        { severity: 2, text: "12 NVTX events\n were dropped" },
        { severity: 3, text: "out of buffers" },
        { severity: 3, text: "out of buffers" },
      ],
    });
    expect(toolVersion).toBe("2030.1");
    expect(notes).toEqual([
      expect.stringContaining("schema 4.0, newer than the newest known schema 3.25"),
      "nsys warning: 12 NVTX events were dropped",
      "nsys error: out of buffers",
    ]);
  });
});
