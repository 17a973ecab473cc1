import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { hangNote } from "../../../../../src/profiler/tools/ncu/run/failures.ts";
import {
  createLogReader,
  diagnosticsIn,
  diagnosticsOf,
} from "../../../../../src/profiler/tools/ncu/run/log.ts";
import { progressText } from "../../../../../src/profiler/tools/ncu/run/run-pass.ts";
import { growth } from "../../../../growth.ts";
import { runs } from "../../../../runs.ts";
import { samplesOrSkip } from "../../../../shared.ts";

const sample = samplesOrSkip("recorded logs of ncu");
const logOf = (name: string): string => readFileSync(sample?.(`log-${name}.txt`) ?? "", "utf8");

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

  it.skipIf(sample === null)("follows a line of progress that a warning cuts", () => {
    const { finished, current, warnings } = read(logOf("pub-progress-line-split-by-warning"));
    expect([finished, current]).toEqual([2, null]);
    expect(warnings.join()).toContain("taking more time than expected");
    expect(hangNote({ warnings, current: "gemm" })).toContain('"gemm" takes longer');
    expect(hangNote({ warnings: ["something else"], current: "gemm" })).toBeNull();
  });

  it.skipIf(sample === null)("does not count what failed", () => {
    const { finished, errors } = read(logOf("pub-failed-kernel-mid-run"));
    expect(finished).toBe(4);
    expect(errors).toContain("An error occurred while trying to profile.");
  });

  it.skipIf(sample === null)("takes the kernels that ran, where ncu lists them", () => {
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

  it.skipIf(sample === null)("does not depend on where the log is cut", () => {
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

describe("own lines", () => {
  const directory = mkdtempSync(join(tmpdir(), "hydraconf-own-lines-"));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const fileOf = (text: string): string => {
    const file = join(directory, "stderr.txt");
    writeFileSync(file, text);
    return file;
  };

  describe("ownLinesOf", () => {
    it("finds ncu's lines among whatever a program prints, wherever pieces of the file end", () => {
      const error = "==ERROR== ERR_NVGPUCTRPERM - 漢字";
      for (const before of [0, 1, 5, 20, 25, 40]) {
        // The line stands across the end of the first piece.
        const filler = `${"x".repeat((1 << 20) - before - 1)}\n`;
        const text = `==WARNING== first\n${filler.slice(18)}no newline${error}\n${"y\n".repeat(10)}==ERROR== last`;
        expect(diagnosticsOf(fileOf(text))).toEqual(["==WARNING== first", error, "==ERROR== last"]);
        expect(diagnosticsIn(text)).toEqual(diagnosticsOf(fileOf(text)));
      }
    });

    it("keeps little of lines that never end, and of what is said again and again", () => {
      const endless = `${"z".repeat(3 << 20)}==ERROR== at the end`;
      expect(diagnosticsOf(fileOf(endless))).toEqual(["==ERROR== at the end"]);
      expect(diagnosticsOf(fileOf("==WARNING== again\n".repeat(200_000))).length).toBe(10_000);
    });

    it("takes each mark for the start of a line: a program may print any number without ending one", () => {
      expect(diagnosticsIn("==ERROR== one==WARNING== two ==ERROR== ==ERROR== ")).toEqual([
        "==ERROR== one",
        "==WARNING== two ",
        "==ERROR== ",
        "==ERROR== ",
      ]);
    });

    it("finds none where there is no file", () => {
      expect(diagnosticsOf(join(directory, "nosuch"))).toEqual([]);
    });
  });
});
