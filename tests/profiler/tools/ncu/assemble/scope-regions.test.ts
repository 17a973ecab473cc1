import { describe, expect, test } from "vitest";
import { type ResultSketch, resultsOf } from "../results.ts";
import { assembleNcu } from "./assemble-all.ts";

const notesOf = (...sketches: readonly ResultSketch[]) =>
  assembleNcu(resultsOf(...sketches)).scopes[0]?.notes.join("\n") ?? "";

const inside: ResultSketch = { in: ["A"], ns: 1 };
const outside: ResultSketch = { in: [], ns: 1 };

describe("kernels outside every range", () => {
  test("are told where they are a tenth or more, with what to do about other threads", () => {
    expect(notesOf(inside, outside, outside)).toMatch(
      /^2 of 3 kernels were launched outside every range of their thread; if a framework .* --nvtx-scope process\)$/m,
    );
    expect(notesOf(...Array.from({ length: 10 }, () => inside), outside)).not.toContain("outside");
  });

  test("are all there is where the program opens no range, or ncu did not look for them", () => {
    expect(notesOf(outside, outside)).toMatch(
      /^all 2 kernels were launched .*: the program opened no range around them, or ncu ran without --nvtx; if a framework/m,
    );
    expect(notesOf(outside)).toMatch(
      /^the only kernel was launched outside every range of its thread: .* no range around it, or/m,
    );
  });
});
