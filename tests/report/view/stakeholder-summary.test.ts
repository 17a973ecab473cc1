import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderMarkdown } from "../../../src/pages/markdown.ts";
import {
  gpuActivity,
  variation as variationBlocks,
} from "../../../src/report/view/stakeholder-summary.ts";
import type { ProcessSketch } from "../../profiler/analysis/timelines.ts";
import { runs } from "../../runs.ts";
import { bundleOf, firstReport } from "../bundles.ts";

const MS = 1_000_000;
const step = { name: "step", start: MS, end: 11 * MS };
/** Kernels and copies of a sketch begin 1,000 ns after their launch. */
const at = (ms: number) => ms * MS - 1000;

const activity = (process: ProcessSketch) =>
  renderMarkdown(gpuActivity(firstReport(bundleOf([process])))).trimEnd();

describe("what the GPU did, in plain words", () => {
  it("puts first what took longest, and says what that means", () => {
    const kernels = [
      { name: "k", launch: at(1), ns: 2 * MS },
      { name: "copy", launch: at(2), ns: 6.5 * MS, kind: "memcpy", bytes: 1 },
    ] as const;
    expect(activity({ ranges: [step], kernels })).toBe(
      [
        "In the outermost regions (10.00 ms) the GPU",
        "- only copied or set memory: 55.0 % (5.50 ms)\n- was idle: 25.0 % (2.50 ms)\n- ran kernels: 20.0 % (2.00 ms)",
        "Most of this time memory is copied or set without a kernel running at the same time.",
      ].join("\n\n"),
    );
  });

  it("calls nothing most of the time that is not more than half of it", () => {
    const kernels = [{ name: "k", launch: at(1), ns: 5 * MS }];
    expect(activity({ ranges: [step], kernels })).toMatch(/50.0 % .*\n- .*50.0 %/);
    expect(activity({ ranges: [step], kernels })).not.toContain("Most");
  });

  it("tells a program that waits for its host from one that waits for its kernels", () => {
    const kernel = (ns: number) => [{ name: "k", launch: at(1), ns }];
    expect(activity({ ranges: [step], kernels: kernel(MS) })).toMatch(
      /the GPU waited for the host/,
    );
    expect(activity({ ranges: [step], kernels: kernel(9 * MS) })).toMatch(/this time is kernels/);
  });

  it("does not call a GPU idle that works when the regions have closed", () => {
    const kernels = [{ name: "k", launch: at(10.5), ns: 8 * MS }];
    expect(activity({ ranges: [step], kernels })).toMatch(
      /^- was idle: 95.0 %.*\n- ran kernels: 5.0 %/m,
    );
    expect(activity({ ranges: [step], kernels })).toMatch(/Most kernels ran after the regions/);
  });

  it("counts the time of a region inside another once", () => {
    const inner = { name: "inner", start: 2 * MS, end: 10 * MS };
    const kernels = [{ name: "k", launch: at(1), ns: 9 * MS }];
    expect(activity({ ranges: [step, inner], kernels })).toBe(
      activity({ ranges: [step], kernels }),
    );
  });

  it("says that regions which were open at once are added up", () => {
    const kernels = [{ name: "k", launch: at(1), ns: 5 * MS }];
    const ranges = [step, { ...step, name: "beside it", thread: 2 }];
    expect(activity({ ranges, kernels })).toMatch(
      /^In .* \(20.00 ms, added up over processes and threads\) the GPU\n\n- .*: 50.0 %/,
    );
  });

  it("says nothing where no GPU was seen, or no region, or none that took time", () => {
    const marker = { name: "marker", start: MS, end: MS };
    expect(activity({ ranges: [marker], kernels: [{ name: "k", launch: at(1), ns: 1 }] })).toBe("");
    expect(activity({ ranges: [step] })).toBe("");
    expect(activity({ ranges: [], kernels: [{ name: "k", launch: 0, ns: 1 }] })).toBe("");
  });
});

/** Calls of these lengths in ms, one after the other. */
const calls = (name: string, lengths: readonly number[], thread = 1) => {
  let start = 0;
  return lengths.map((ms) => {
    const range = { name, start, end: start + ms * 1e6, thread };
    start = range.end;
    return range;
  });
};

const variation = (ranges: ReturnType<typeof calls>, top = 5) =>
  renderMarkdown(
    variationBlocks(firstReport(bundleOf([{ ranges }])), ({ name }) => name, top),
  ).trimEnd();

describe("how steady regions are", () => {
  it("is told by the usual and the longest call", () => {
    expect(variation(calls("step", [1, 1, 1, 9]))).toBe(
      "The time of these regions varies a lot from call to call:\n\n- step: usually 1.00 ms, at worst 9.00 ms (4 calls)",
    );
    expect(variation(calls("step", [2, 2, 2, 2.9]))).toBe(
      "1 region ran more than once in a run, and lost little time to slow calls.",
    );
    // Most calls are long, and some are short.
    expect(variation(calls("step", [1, 1, 9, 9, 9]))).toContain("lost little time to slow calls");
    expect(variation(calls("step", [0, 0]))).toContain("lost little time to slow calls");
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
    const text = variation(ranges, 2);
    expect(text.match(/^- [a-z ]+/gm)).toEqual(["- often", "- once in a while"]);
    expect(text).toMatch(/^The time .*; those that lose the most time come first:\n/);
    expect(text).toMatch(/\n\n1 more region does, too\.$/);
  });

  it("is told of a region in which few calls of many take most of the time", () => {
    const lengths = Array.from({ length: 40 }, (_, at) => (at === 7 ? 400 : 15));
    const text = variation([...calls("often", [1, 1, 9], 1), ...calls("load", lengths, 2)]);
    expect(text.match(/^- .*/gm)).toEqual([
      "- load: usually 15.00 ms, at worst 400.00 ms (40 calls)",
      "- often: usually 1.00 ms, at worst 9.00 ms (3 calls)",
    ]);
    // A tenth of the time in a long call is a lot, a hundredth is not.
    const withOne = (ms: number) =>
      variation(calls("load", [...Array.from({ length: 100 }, () => 10), ms]));
    expect(withOne(130)).toMatch(/^The time of these regions varies a lot/);
    expect(withOne(30)).toContain("lost little time to slow calls");
  });

  it("is told wherever the reason of a region is one call", () => {
    const lengths = fc.array(fc.integer({ min: 8, max: 9 }), { minLength: 20, maxLength: 60 });
    fc.assert(
      fc.property(lengths, fc.nat({ max: 60 }), (others, at) => {
        const sum = others.reduce((all, ms) => all + ms, 0);
        const long = Math.max(90, sum);
        const text = variation(calls("load", others.toSpliced(at % others.length, 0, long)));
        expect(text).toMatch(/^The time of these regions varies a lot/);
      }),
      { numRuns: runs(100) },
    );
  });

  it("is not known of regions that ran once, or whose calls were not timed", () => {
    expect(variation(calls("once", [1]))).toMatch(/^Each region ran once, so nothing/);
    expect(variation([])).toMatch(/^No named region was seen/);
  });
});
