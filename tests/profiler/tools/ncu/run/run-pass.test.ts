import { describe, expect, it } from "vitest";
import {
  detailFilesIn,
  notesOfWarnings,
} from "../../../../../src/profiler/tools/ncu/run/run-pass.ts";

describe("notesOfWarnings", () => {
  it("names metrics that a GPU or a slice of one does not have, few of many", () => {
    const names = ["read", "write", "sum", "avg", "max"].map((end) => `pcie__${end}_bytes.sum`);
    const [note] = notesOfWarnings([
      `==WARNING== Unable to access the following 5 metrics: ${names.join(", ")}. If profiling on a MIG instance, it is not possible to collect metrics from GPU units that are shared with other MIG instances.`,
    ]);
    expect(note).toMatch(/: pcie__read_bytes\.sum, .*, pcie__sum_bytes\.sum and 2 more$/);
    const [four] = notesOfWarnings([
      `Unable to access the following 4 metrics: ${names.slice(1).join(", ")}.`,
    ]);
    expect(four).toMatch(/: pcie__write_bytes\.sum, .*, pcie__max_bytes\.sum$/);
    const [short] = notesOfWarnings(["Unable to access the following 1 metric: a__b.sum."]);
    expect(short).toMatch(/: a__b\.sum$/);
    const [list] = notesOfWarnings(["Unable to access the following 1 metrics: group:a__b-c."]);
    expect(list).toMatch(/: group:a__b-c$/);
  });

  it.each([
    ["==WARNING== Only 3/7 kernels could be matched across replay passes.", "3 of 7"],
    ["==WARNING== Inconsistent number of profiled kernels.", "those that differ"],
    ["==WARNING== Kernel was not profiled because of a stream capture.", "capture of a CUDA graph"],
    [
      "==WARNING== Launched during a stream capture on the same context.",
      "capture of a CUDA graph",
    ],
    ["==ERROR== Failed to reset GPU clocks. Try manually running it.", "--clock-control reset"],
    [
      "==WARNING== Graph kernel nodes which are device-updatable are not supported for profiling.",
      "pipeline.ncu.ncu_cli.graph_profiling=graph",
    ],
    ["==WARNING== Failed to load Nsight Compute CUDA modules.", "do not match"],
    // As of --set default, which ncu 2024 does not have.
    ["==WARNING== No metrics to collect found in sections.", "ncu --list-sets"],
    [
      "==WARNING== The application disconnected before reaching the range end marker.",
      "still open when the program ended",
    ],
  ])("of %s", (line, words) => {
    expect(notesOfWarnings(["==PROF== other", line, line])).toEqual([
      expect.stringContaining(words),
    ]);
  });

  it("says nothing of what changes nothing", () => {
    expect(notesOfWarnings(["==WARNING== Note: Running with unmodified GPU clocks."])).toEqual([]);
  });
});

describe("detailFilesIn", () => {
  it("finds the files that ncu names, each once", () => {
    const line = "==ERROR== For more information, see /tmp/nsight-compute-a507-931f.log";
    expect(detailFilesIn([line, "==WARNING== else", line])).toEqual([
      "/tmp/nsight-compute-a507-931f.log",
    ]);
    expect(detailFilesIn(["For more information, see https://developer.nvidia.com/x.log"])).toEqual(
      [],
    );
  });
});
