import { describe, expect, it } from "vitest";
import { steadiness } from "../../../src/report/conclusions/steadiness.ts";
import { bundleOf, firstReport } from "../bundles.ts";

/** Calls of these lengths in ms, one after the other. */
const calls = (name: string, lengths: readonly number[], thread = 1) => {
  let start = 0;
  return lengths.map((ms) => {
    const range = { name, start, end: start + ms * 1e6, thread };
    start = range.end;
    return range;
  });
};

const told = (ranges: ReturnType<typeof calls>, top = 5) =>
  steadiness(firstReport(bundleOf([{ ranges }])), ({ name }) => name, top);

describe("how steady regions are", () => {
  it("is told by the usual and the longest call", () => {
    expect(told(calls("step", [1, 1, 1, 9]))).toBe(
      "The time of these regions varies a lot from call to call:\n\n- step: usually 1.00 ms, at worst 9.00 ms (4 calls)",
    );
    expect(told(calls("step", [2, 2, 2, 2.9]))).toBe(
      "1 region ran more than once, each with about the same time per call.",
    );
    expect(told(calls("step", [0, 0]))).toContain("about the same time per call");
  });

  it("names first what costs most, and counts the rest", () => {
    const ranges = [
      ...calls("short", [0.001, 0.001, 0.1], 1),
      ...calls(
        "often",
        Array.from({ length: 100 }, (_, at) => (at % 10 === 0 ? 3 : 1)),
        2,
      ),
      ...calls("once in a while", [10, 10, 25], 3),
      ...calls("steady", [50, 50, 51], 4),
    ];
    const text = told(ranges, 2);
    expect(text.match(/^- [a-z ]+/gm)).toEqual(["- often", "- once in a while"]);
    expect(text).toMatch(/^The time .*; those that lose the most time come first:\n/);
    expect(text).toMatch(/\n\n1 more region does, too\.$/);
  });

  it("is not known of regions that ran once, or whose calls were not timed", () => {
    expect(told(calls("once", [1]))).toMatch(/^Each region ran once, so nothing/);
    expect(told([])).toMatch(/^No named region was seen/);
  });
});
