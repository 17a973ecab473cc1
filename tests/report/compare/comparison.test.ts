import { describe, expect, it } from "vitest";
import { countChange } from "../../../src/report/compare/change.ts";
import {
  compareReports,
  judgedBy,
  type ReportComparison,
} from "../../../src/report/compare/compare-reports.ts";
import {
  changedKernels,
  contributionOf,
  countNotes,
  gateSummary,
  intervalLegend,
  kernelHeading,
  mainTime,
  notesBeside,
  overallSentence,
  overallTimes,
  regionLines,
  waterfallOf,
} from "../../../src/report/compare/comparison.ts";
import { renderComparison } from "../../../src/report/compare/comparison-terminal.ts";
import type { Change, GateResult } from "../../../src/report/compare/comparison-types.ts";
import { parseGates } from "../../../src/report/compare/gates.ts";
import { regionKey } from "../../../src/report/model/report-files.ts";
import { bundleOf, firstReport, reportOfCalls, resnet } from "../bundles.ts";

const operations = firstReport(bundleOf([resnet], { operationDomains: ["shallow_resnet.ops"] }));
const walls = firstReport(bundleOf([resnet], { operationDomains: [] }));
const launched = firstReport(
  bundleOf([
    {
      ranges: [{ name: "step", start: 0, end: 10 }],
      kernels: [{ name: "gemm", launch: 5, ns: 1 }],
    },
  ]),
);

it("is about the time of kernels where both have it, else about wall time", () => {
  expect(mainTime(compareReports(operations, operations))).toBe("total_ms");
  expect(mainTime(compareReports(operations, walls))).toBe("wall_ms");
  expect(mainTime(compareReports(walls, operations))).toBe("wall_ms");
  expect(mainTime(compareReports(walls, walls))).toBe("wall_ms");
});

describe("what decides", () => {
  const ofCpu = (ms: number) => {
    const report = reportOfCalls([100]);
    return {
      ...report,
      regions: report.regions.map((region) =>
        region.kind === "outside"
          ? region
          : { ...region, cpu_ms: ms, cpu_exclusive_ms: ms, wall_exclusive_ms: 100 },
      ),
      totals: { ...report.totals, cpu_ms: ms },
    };
  };
  const [key] = ofCpu(10).regions.map(regionKey);
  const ratio = (ms: number) => Array.from({ length: 8 }, (_, at) => Math.log(ms) + at / 1e4);
  const times = { cpu_ms: ratio(2), cpu_exclusive_ms: ratio(2), wall_ms: ratio(1) };
  const pairs = { totals: times, regions: new Map([[key ?? "", times]]) };
  const shownAs = (reports: ReportComparison) =>
    renderComparison(
      { names: { a: "a", b: "b" }, reports, config: null, gates: [] },
      { width: 120, color: false, regions: 10, kernels: 10 },
    );

  it("is shown of pairs: the processor time, in headline, contributions and tables", () => {
    const reports = compareReports(ofCpu(10), ofCpu(20), pairs);
    expect(mainTime(reports)).toBe("cpu_ms");
    expect(overallSentence(reports)).toMatch(
      /^B is slower: \+10\.000 ms .* \(processor time in ranges\)/,
    );
    expect(waterfallOf(reports, 5)?.parts).toMatchObject([{ label: "step", ms: 10 }]);
    const text = shownAs(reports);
    expect(text).toMatch(/^step +10\.000 +20\.000 .* slower$/m);
    expect(text).toMatch(/^Numbers are processor time in ranges; /m);
  });

  it("is shown of conditions: the time of the first that names one", () => {
    const reports = compareReports(ofCpu(10), ofCpu(20), pairs);
    const judged = (...names: readonly string[]) => mainTime(judgedBy(reports, names));
    expect(judged("kernel_count", "wall_ms", "cpu_ms")).toBe("wall_ms");
    expect(judged("kernel_count")).toBe("cpu_ms");
    expect(judged("total_ms")).toBe("cpu_ms");
    const single = compareReports(ofCpu(10), ofCpu(20));
    expect(mainTime(single)).toBe("wall_ms");
    expect(mainTime(judgedBy(single, ["cpu_exclusive_ms"]))).toBe("cpu_ms");
  });
});

it("calls nothing a CPU operation but what is one", () => {
  expect(kernelHeading(compareReports(operations, operations))).toBe("CPU operation");
  expect(kernelHeading(compareReports(operations, launched))).toBe("Kernel");
  expect(kernelHeading(compareReports(launched, launched))).toBe("Kernel");
  expect(kernelHeading(compareReports(walls, walls))).toBe("Kernel");
});

it("tells counts that differ, those of both sides, and no others", () => {
  const reports = compareReports(operations, operations);
  const of = (a: number | null, b: number | null) => ({
    invocations: countChange(a, b),
    calls: countChange(a, b),
    kernel_count: countChange(a, b),
  });
  expect(countNotes(of(2, 3), reports)).toBe("calls 2 -> 3, calls 2 -> 3, CPU operations 2 -> 3");
  expect(countNotes({ calls: countChange(4, 0) }, reports)).toBe("calls 4 -> 0");
  for (const changes of [of(2, 2), of(null, 2), of(2, null), {}])
    expect(countNotes(changes, reports)).toBe("");
});

describe("the summary of gates", () => {
  const result = (outcome: GateResult["outcome"], reason: string): GateResult[] =>
    parseGates("wall_ms>5%").map((gate) => ({ gate, outcome, reason }));

  const tooFew = result("unclear", "x").map((one) => ({ ...one, too_few_runs: true as const }));

  it.each([
    ["gates passed: 1 checked", [...result("passed", "x")]],
    [
      "gates passed: 2 checked, 1 past the limit but within noise, 1 past the limit, but too few runs to be certain: use repeats=5 for both, or deep-profile ab",
      [...result("unclear", "x"), ...tooFew],
    ],
    [
      "gates passed: 1 checked, 2 left out of a report, unchecked",
      [...result("unchecked", "x"), ...result("passed", "y"), ...result("unchecked", "z")],
    ],
    [
      "gates passed: 3 checked, 2 past the limit but within noise",
      [...result("unclear", "x"), ...result("passed", "y"), ...result("unclear", "z")],
    ],
    ["gate breached: y", [...result("unclear", "x"), ...result("breached", "y")]],
    ["gate breached: x (and 1 more)", [...result("breached", "x"), ...result("breached", "y")]],
  ])("%s", (summary, gates) => {
    expect(gateSummary(gates)).toBe(summary);
  });
});

type Lengths = Readonly<Record<string, number>>;

/** One range of each name, one after the other, in ms. */
function reportOf(lengths: Lengths) {
  let end = 0;
  const ranges = Object.entries(lengths).map(([name, ms]) => {
    const start = end;
    end += ms * 1e6;
    return { name, start, end };
  });
  return firstReport(bundleOf([{ ranges }], { labels: { fold: null } }));
}

const labelsOf = (a: Lengths, b: Lengths) =>
  waterfallOf(compareReports(reportOf(a), reportOf(b)), 10)?.parts.map(({ label }) => label);

describe("what contributed", () => {
  /** Steps of 10 ms that became longer by so many ms. */
  const steps = (...longer: readonly number[]): Lengths =>
    Object.fromEntries(longer.map((ms, at) => [`step ${at + 1}`, 10 + ms]));

  it.each([
    [[30, 1, 1, 1], " (step 1 alone +30.000 ms)"],
    [[1, 1, 30, 1], " (step 3 alone +30.000 ms)"],
    [[-6, -2, -2, -2], " (step 1 alone -6.000 ms)"],
    [[7, 2, 2, 2], " (step 1 alone +7.000 ms)"],
    // Half of the whole, and three times the mean of the others.
    [[6, 2, 2, 2], " (step 1 alone +6.000 ms)"],
    [[3, 1], " (step 1 alone +3.000 ms)"],
    [[5, 2, 2, 2], ""],
    [[10, 10, 1, 1], ""],
    [[2, 1], ""],
    [[9, -6], ""],
    [[-6, 9], ""],
    [[30], ""],
  ])(
    "of a family whose members grew by %j names the one that stands out: '%s'",
    (longer, alone) => {
      const none = longer.map(() => 0);
      const label = longer.length === 1 ? "step 1" : "step #";
      expect(labelsOf(steps(...none), steps(...longer))).toEqual([`${label}${alone}`]);
    },
  );

  it("names no member where the two have other ones", () => {
    expect(labelsOf(steps(0, 0, 0), steps(0, 30))).toEqual(["step #"]);
  });

  it("names none of a region that is no family, whatever families did", () => {
    expect(labelsOf({ ...steps(0, 0), end: 10 }, { ...steps(30, 1), end: 50 })).toEqual([
      ...["end", "step # (step 1 alone +30.000 ms)"],
    ]);
  });

  const compared = compareReports(
    reportOf({ a: 100, b: 50, c: 20, d: 7 }),
    reportOf({ a: 90, b: 80, c: 20, e: 5 }),
  );

  it("has the largest first, and counts what it does not list", () => {
    const shown = (most: number) => {
      const waterfall = waterfallOf(compared, most);
      return [waterfall?.parts.map(({ label, ms }) => `${label} ${ms}`), waterfall?.others];
    };
    expect(shown(4)).toEqual([["b 30", "a -10", "d -7", "e 5"], null]);
    expect(shown(2)).toEqual([["b 30", "a -10"], { count: 2, ms: -2 }]);
    expect(shown(0)).toEqual([[], { count: 4, ms: 18 }]);
  });

  it("is nothing where nothing changed, or the whole is not in both", () => {
    const report = reportOf({ a: 100 });
    expect(waterfallOf(compareReports(report, report), 5)).toBeNull();
    const { wall_ms: wall, ...totals } = compared.totals;
    if (wall === undefined) throw new Error("no time");
    expect(waterfallOf({ ...compared, totals }, 5)).toBeNull();
    for (const lacking of [{ a: null }, { b: null }, { delta: null }]) {
      const reports = { ...compared, totals: { wall_ms: { ...wall, ...lacking } } };
      expect(waterfallOf(reports, 5)).toBeNull();
    }
  });

  it.each([
    [100.4, null],
    [100.6, expect.closeTo(0.6, 9)],
    [99.6, null],
    [99.4, expect.closeTo(-0.6, 9)],
    [0, -100],
  ])("leaves of %f ms, of which regions explain 100, so much: %s", (longer, rest) => {
    const total = (report: ReturnType<typeof reportOf>, wall_ms: number) => ({
      ...report,
      totals: { ...report.totals, wall_ms },
    });
    const reports = compareReports(
      total(reportOf({ load: 100 }), 1000),
      total(reportOf({ load: 200 }), 1000 + longer),
    );
    expect(waterfallOf(reports, 5)?.rest?.ms ?? null).toEqual(rest);
  });

  it("is of a region its own time, all of it where one report has it alone", () => {
    const of = (name: string, main_time: ReportComparison["main_time"] = "wall_ms") => {
      const region = compared.regions.find(({ path }) => path[0] === name);
      if (region === undefined) throw new Error("no region");
      return [
        contributionOf(region, { ...compared, main_time }),
        contributionOf({ ...region, kind: "outside" }, { ...compared, main_time }),
      ];
    };
    expect(of("a")).toEqual([-10, null]);
    expect(of("d")).toEqual([-7, null]);
    expect(of("e")).toEqual([5, null]);
    expect(of("a", "total_ms")).toEqual([null, null]);
    const [a] = compared.regions;
    const time = { ...countChange(1, 2), verdict: "left_out" as const };
    if (a === undefined) throw new Error("no region");
    const leftOut = { ...a, changes: { wall_exclusive_ms: time } };
    expect(contributionOf(leftOut, compared)).toBeNull();
    const work = { ...a, kind: "outside" as const, changes: { exclusive_ms: countChange(1, 3) } };
    expect(contributionOf(work, { ...compared, main_time: "total_ms" })).toBe(2);
  });
});

describe("the result in a sentence", () => {
  const report = reportOf({ step: 100 });
  const reports = compareReports(report, reportOf({ step: 150 }));
  const sentence = (more: Partial<Change>) => {
    const { wall_ms: wall } = reports.totals;
    if (wall === undefined) throw new Error("no time");
    const { too_few_runs: _, ...change } = wall;
    const changed = { ...reports, totals: { wall_ms: { ...change, ...more } } };
    return [overallSentence(changed), intervalLegend(changed)];
  };
  const NUMBERS = "+50.000 ms (+50.0 %), from 100.000 to 150.000 ms (wall time in ranges)";
  const TOO_FEW = "too few runs to be certain: use repeats=5 for both, or deep-profile ab";
  const OF_RUNS = "± is the 95 % interval of the repeated runs";
  const OF_PAIRS =
    "ms are means of the runs, % is the mean ratio of the pairs of runs, and low…high its 95 % interval";

  it.each<[Partial<Change>, string, string]>([
    [{ verdict: "more" }, `B is slower: ${NUMBERS}`, TOO_FEW],
    [{ verdict: "less" }, `B is faster: ${NUMBERS}`, TOO_FEW],
    [{ verdict: "same" }, `B takes as long as A: ${NUMBERS}`, TOO_FEW],
    [{}, `It is unclear whether B is slower or faster: ${NUMBERS}`, TOO_FEW],
    [
      { verdict: "more", freedom: 4, uncertainty: 5 },
      `B is slower: ${NUMBERS.replace("+50.000", "+50.000 ±5.000").replace(" %)", " % ±5.0 %)")}`,
      OF_RUNS,
    ],
    [{ verdict: "more", freedom: 4, uncertainty: 0 }, `B is slower: ${NUMBERS}`, OF_RUNS],
    [
      { verdict: "more", log_ratios: [0.4, 0.4], relative_low: 0.4, relative_high: 0.6 },
      `B is slower: ${NUMBERS.replace(" %)", " %; +40.0…+60.0 %)")}`,
      OF_PAIRS,
    ],
    [
      { log_ratios: [0.4] },
      `It is unclear whether B is slower or faster: ${NUMBERS}`,
      "ms are means of the runs, % is the mean ratio of the pairs of runs, which are too few for an interval",
    ],
    [
      { a: 0, relative: null, freedom: 4, uncertainty: 5 },
      "It is unclear whether B is slower or faster: +50.000 ±5.000 ms, from 0.000 to 150.000 ms (wall time in ranges)",
      OF_RUNS,
    ],
  ])("of %j", (more, said, source) => {
    expect(sentence(more)).toEqual([`${said}; ${source}.`, source]);
  });

  it("has no interval of the calls of single runs", () => {
    const calls = sentence({ uncertainty: 5, too_few_runs: true });
    expect(calls).toEqual([expect.stringContaining(NUMBERS), TOO_FEW]);
  });

  it("says that there is none without a time of both", () => {
    const none = "There is no overall result: no time of A and B can be compared.";
    expect(sentence({ delta: null })[0]).toBe(none);
    expect(overallSentence({ ...reports, totals: {} })).toBe(none);
    expect(intervalLegend({ ...reports, totals: {} })).toBe(TOO_FEW);
  });
});

it("tells all times that both have, the one that decides first and even if only one has it", () => {
  const reports = compareReports(reportOf({ step: 100 }), reportOf({ step: 150 }));
  const both = countChange(1, 2);
  const names = (main_time: ReportComparison["main_time"], totals: ReportComparison["totals"]) =>
    overallTimes({ ...reports, main_time, totals }).map(({ name }) => name);
  const [wall, work, cpu] = [
    ...["wall time in ranges", "time of kernels or CPU operations", "processor time in ranges"],
  ];
  const all = { wall_ms: both, total_ms: both, cpu_ms: both };
  expect(names("wall_ms", all)).toEqual([wall, work, cpu]);
  expect(names("cpu_ms", all)).toEqual([cpu, wall, work]);
  expect(names("total_ms", { ...all, wall_ms: countChange(1, null) })).toEqual([work, cpu]);
  expect(names("wall_ms", { ...all, wall_ms: countChange(1, null) })).toEqual([wall, work, cpu]);
});

it("notes what the table of differences does not", () => {
  const report = reportOf({ step: 100 });
  const other = {
    ...report,
    environment: { ...report.environment, cpu: "Other CPU" },
    notes: [...report.notes, "its own"],
  };
  const reports = compareReports(report, other);
  expect(reports.notes).toEqual(["the processors differ: Example CPU and Other CPU", "B: its own"]);
  expect(notesBeside(reports)).toEqual(["B: its own"]);
});

it("lists the kernels whose time differs, of those that both looked for", () => {
  const reports = compareReports(operations, operations);
  const [kernel] = reports.kernels;
  if (kernel === undefined) throw new Error("no kernel");
  const of = (presence: typeof kernel.presence, changes: typeof kernel.changes) => ({
    ...{ ...kernel, presence, changes },
  });
  const kernels = [
    of("both", { total_ms: countChange(1, 2) }),
    of("added", { total_ms: countChange(null, 2) }),
    of("left_out", { total_ms: countChange(1, 2) }),
    of("both", { total_ms: countChange(1, 1) }),
    of("both", { calls: countChange(1, 2) }),
  ];
  expect(changedKernels({ ...reports, kernels })).toEqual(kernels.slice(0, 2));
});

describe("the lines of regions", () => {
  const tree = compareReports(operations, operations).regions;
  const lines = (...names: readonly string[]) =>
    regionLines(
      tree.filter(({ path }) => names.includes(path.at(-1) ?? "")),
      tree,
    ).map(({ level, label }) => `${level} ${label}`);

  it("are indented below those that are shown around them, and have the rest of the path", () => {
    expect(regionLines(tree).map(({ level, label }) => `${level} ${label}`)).toEqual([
      ...["0 forward", "1 stem", "1 residual", "2 block.conv1", "2 block.conv2"],
    ]);
    expect(lines("forward", "block.conv1", "block.conv2")).toEqual([
      ...["0 forward", "1 residual / block.conv1", "1 residual / block.conv2"],
    ]);
    expect(lines("stem", "block.conv2")).toEqual([
      ...["0 forward / stem", "0 forward / residual / block.conv2"],
    ]);
  });

  it("tell how ranges of one name were opened, also of the one that is shown alone", () => {
    const [forward] = tree;
    if (forward === undefined) throw new Error("no region");
    const other = { ...forward, kind: "start_end" as const };
    expect(regionLines([forward], [forward, other]).map(({ label }) => label)).toEqual([
      "forward (push/pop)",
    ]);
    expect(regionLines([forward]).map(({ label }) => label)).toEqual(["forward"]);
  });
});
