import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hangNote, recogniseFailures } from "../../../../src/profile/ncu/run/failures.ts";
import { progressText } from "../../../../src/profile/ncu/run/follow-log.ts";
import { createLogReader } from "../../../../src/profile/ncu/run/log-reader.ts";
import { runs } from "../../../runs.ts";
import { sharedOrSkip } from "../../../shared.ts";

const shared = sharedOrSkip("recorded logs of ncu");
const logOf = (name: string): string =>
  readFileSync(join(shared ?? "", "samples/nsight", `log-${name}.txt`), "utf8");

function read(text: string) {
  const reader = createLogReader();
  reader.push(text);
  return reader.state();
}

describe("createLogReader", () => {
  it("shows a result while it is measured, from the unfinished line", () => {
    const reader = createLogReader();
    reader.push('==PROF== Connected to process 7 (/bin/x)\n==PROF== Profiling "gemm" - 0: 0%');
    expect(reader.state()).toMatchObject({ finished: 0, current: "gemm", percent: 0 });
    reader.push("....50%");
    expect(reader.state()).toMatchObject({ finished: 0, current: "gemm", percent: 50 });
    reader.push("....100% - 46 passes\n");
    const state = reader.state();
    expect(state).toMatchObject({ finished: 1, current: null });
    const pass = {
      name: "profile",
      mode: "kernel",
      include: [],
      exclude: [],
      labels: null,
    } as const;
    expect(progressText(pass, state)).toBe("ncu profile, kernel replay: 1 measured");
  });

  it.skipIf(shared === null)("follows a line of progress that a warning cuts", () => {
    const { finished, current, warnings } = read(logOf("pub-progress-line-split-by-warning"));
    expect([finished, current]).toEqual([2, null]);
    expect(warnings.join()).toContain("taking more time than expected");
    expect(hangNote({ warnings, current: "gemm" })).toContain('"gemm" takes more time');
    expect(hangNote({ warnings: ["something else"], current: "gemm" })).toBeNull();
  });

  it.skipIf(shared === null)("does not count what failed", () => {
    const { finished, errors } = read(logOf("pub-failed-kernel-mid-run"));
    expect(finished).toBe(4);
    expect(errors).toContain("An error occurred while trying to profile.");
  });

  it.skipIf(shared === null)("does not depend on where the log is cut", () => {
    const names = ["pub-progress-line-split-by-warning", "pub-failed-kernel-mid-run"];
    for (const text of names.map(logOf))
      fc.assert(
        fc.property(fc.array(fc.nat(text.length), { maxLength: 8 }), (cuts) => {
          const reader = createLogReader();
          let from = 0;
          for (const at of [...cuts.sort((a, b) => a - b), text.length]) {
            reader.push(text.slice(from, at));
            reader.state();
            from = at;
          }
          expect(reader.state()).toEqual(read(text));
        }),
        { numRuns: runs(50) },
      );
  });
});

describe("recogniseFailures", () => {
  const ids = (text: string) => recogniseFailures(text).map(({ id }) => id);

  it.skipIf(shared === null).each([
    ["pub-errnvgpuctrperm", ["permission"]],
    ["pub-driver-resource-unavailable", ["busy", "result_failed", "no_match"]],
    ["pub-failed-kernel-mid-run", ["result_failed", "application"]],
    ["pub-no-kernels-available-list", ["no_match"]],
    ["pub-nvtx-no-match-pushpop-hint", ["no_match"]],
    ["pub-progress-line-split-by-warning", []],
    ["real-no-cuda-driver-range-mode", ["no_driver", "application", "no_match"]],
  ])("of the recorded log %s", (name, expected) => {
    expect(ids(logOf(name))).toEqual(expected);
  });

  it.each([
    [
      "==WARNING== Skipping invalid capture range (Unsupported API during capture).",
      "unsupported_api",
    ],
    ["==ERROR== Option kernel-name is not supported during range replay.", "options"],
    ["==ERROR== the argument for option '--clock-control' is invalid.", "options"],
    ["==ERROR== Option '--section bogus' did not match any section.", "options"],
    ["==ERROR== Invalid configuration for nvtx-include : */", "options"],
    [
      "==ERROR== File a.ncu-rep already exists. Use '-f' for overwriting the file.",
      "report_exists",
    ],
    ["half a line of the program==ERROR== ERR_NVGPUCTRPERM - no", "permission"],
  ])("of %s", (text, id) => {
    const [failure] = recogniseFailures(text);
    expect(failure?.id).toBe(id);
    expect(failure?.remedy).toBeTruthy();
  });

  it.each([
    "FileExistsError: the cache already exists",
    "torch: libcuda.so.1 not found, using the CPU",
    "see ERR_NVGPUCTRPERM in NVIDIA's pages",
    "Failed to prepare range for profiling my model",
    "The application returned an error code (3)",
    "No kernels were profiled",
    "a driver resource was unavailable",
  ])("does not take what the program prints for ncu's: %s", (line) => {
    expect(recogniseFailures(line)).toEqual([]);
    const log = `==ERROR== The application returned an error code (1).\n${line}\n`;
    expect(ids(log)).toEqual(["application"]);
  });
});
