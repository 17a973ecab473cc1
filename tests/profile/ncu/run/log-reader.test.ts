import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hangNote } from "../../../../src/profile/ncu/run/failures.ts";
import { progressText } from "../../../../src/profile/ncu/run/follow-log.ts";
import { createLogReader } from "../../../../src/profile/ncu/run/log-reader.ts";
import { growth } from "../../../growth.ts";
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
  it("is not stopped by what a program prints without end into a line of progress", async () => {
    expect(read(`....${"0%".repeat(300_000)}`).percent).toBe(0);
    expect(await growth((digits) => read(`....${"7".repeat(digits)}`), 5000)).toBeLessThan(40);
  });

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
    expect(hangNote({ warnings, current: "gemm" })).toContain('"gemm" takes longer');
    expect(hangNote({ warnings: ["something else"], current: "gemm" })).toBeNull();
  });

  it.skipIf(shared === null)("does not count what failed", () => {
    const { finished, errors } = read(logOf("pub-failed-kernel-mid-run"));
    expect(finished).toBe(4);
    expect(errors).toContain("An error occurred while trying to profile.");
  });

  it.skipIf(shared === null)("takes the kernels that ran, where ncu lists them", () => {
    expect(read(logOf("pub-no-kernels-available-list")).kernels).toEqual([
      "wmma_cxx_kernel",
      "wmma_inline_ptx_stub",
    ]);
    expect(
      read("1. what the program prints\n==WARNING== No kernels were profiled.\n").kernels,
    ).toEqual([]);
    expect(read("Available Kernels:\n1. a<b, c>(int)\n==PROF== x\n2. not of it\n").kernels).toEqual(
      ["a<b, c>(int)"],
    );
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
