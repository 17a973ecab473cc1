import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isCodedError } from "../../../src/engine/values/errors.ts";
import { timelineSlice } from "../../../src/profiler/cli/query.ts";
import { runQuery } from "../../../src/profiler/cli/subcommand-lines.ts";
import { traceSlice } from "../../../src/profiler/cli/trace-slice.ts";
import { createHostCalls } from "../../../src/profiler/model/host-calls.ts";
import type { CounterSeries } from "../../../src/profiler/model/timeline.ts";
import { renderChromeTrace } from "../../../src/profiler/run/chrome-trace.ts";
import type { NCUProfileRegionReport } from "../../../src/report/model/document.ts";
import { createDocumentValidator } from "../../../src/report/validation/document-contracts.ts";
import { medianRunNote } from "../../../src/report/view/notes.ts";
import { capturedConsole } from "../../captured-console.ts";
import { bundleOf } from "../../report/bundles.ts";

const cwd = mkdtempSync(join(tmpdir(), "hydraconf query-"));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const MS = 1_000_000;
const bundle = (slower: number) =>
  bundleOf([
    {
      pid: 1,
      ranges: [
        { name: "step", start: 0, end: 100 * MS },
        { name: "copy", start: 5 * MS, end: 60 * MS },
        { name: "conv", start: 60 * MS, end: 90 * MS },
      ],
      kernels: [
        { name: "gemm", launch: 62 * MS, ns: 20 * slower * MS },
        { name: `template<${"x".repeat(2000)}>`, launch: 83 * MS, ns: 2 * MS },
      ],
    },
  ]);

/** A run whose steps call CUDA, and one of them the system. */
function called() {
  const whole = bundleOf([
    {
      pid: 1,
      ranges: [
        { name: "step 1", start: 0, end: 10 * MS },
        { name: "step 2", start: 10 * MS, end: 20 * MS },
        { name: "save", start: 20 * MS, end: 30 * MS },
      ],
    },
  ]);
  const call = (api: "cuda" | "os", name: string, ms: readonly [number, number]) => ({
    ...{ api, name, calls: 2, total_ms: ms[0] + ms[1] },
    ...{ min_ms: ms[0], max_ms: ms[1] },
  });
  const launch = call("cuda", "cudaLaunchKernel", [1, 2]);
  const calls: Readonly<Record<string, readonly ReturnType<typeof call>[]>> = {
    "step 1": [launch],
    "step #": [{ ...launch, calls: 4, total_ms: 7, min_ms: 0.5, max_ms: 3.5 }],
    "step 2": [call("cuda", "cudaLaunchKernel", [0.5, 3.5])],
    save: [call("os", "write", [4, 5]), call("cuda", "cudaMemcpy", [0.25, 0.75])],
  };
  const withCalls = <T extends { readonly name: string }>(regions: readonly T[] | undefined) =>
    regions?.map((region) => ({
      ...region,
      ...(calls[region.name] && { host_calls: calls[region.name] }),
    }));
  return {
    ...whole,
    reports: whole.reports.map((report) => ({
      ...report,
      regions: withCalls(report.regions),
      families: withCalls(report.families),
    })),
  };
}

beforeAll(() => {
  for (const [run, slower] of [
    ["a", 1],
    ["b", 1.2],
  ] as const) {
    mkdirSync(join(cwd, run, "recorder", "regions"), { recursive: true });
    const file = join(cwd, run, "recorder", "regions", "report.json");
    writeFileSync(file, JSON.stringify(bundle(slower)));
  }
  mkdirSync(join(cwd, "called", "nsys", "regions"), { recursive: true });
  writeFileSync(join(cwd, "called", "nsys", "regions", "report.json"), JSON.stringify(called()));
  const withReports = (change: (report: NCUProfileRegionReport) => NCUProfileRegionReport) => {
    const whole = bundle(1);
    return JSON.stringify({ ...whole, reports: whole.reports.map(change) });
  };
  const counted = withReports((report) => ({
    ...report,
    collector: { ...report.collector, name: "ncu" },
    regions: report.regions.map((region) => ({
      ...region,
      metrics: {
        "sm__throughput.avg.pct_of_peak_sustained_elapsed": { value: 90, unit: "%" },
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": {
          ...{ value: 20, unit: "%" },
        },
      },
    })),
  }));
  const written = (run: string, collector: string, text: string) => {
    mkdirSync(join(cwd, run, collector, "regions"), { recursive: true });
    writeFileSync(join(cwd, run, collector, "regions", "report.json"), text);
  };
  written("counted", "recorder", JSON.stringify(bundle(1)));
  written("counted", "ncu", counted);
  written(
    "repeated",
    "recorder",
    withReports((report) => ({ ...report, notes: [...report.notes, medianRunNote(3)] })),
  );
  const ranges = (lengths: Readonly<Record<string, number>>) =>
    bundleOf(
      [
        {
          pid: 1,
          ranges: Object.entries(lengths).map(([name, ms], at) => ({
            ...{ name, start: at * 1000 * MS },
            end: (at * 1000 + ms) * MS,
          })),
        },
      ],
      { labels: { fold: null } },
    );
  for (const [run, lengths] of [
    ["small", { early: 100, gone: 20, late: 100 }],
    ["large", { early: 110, late: 140 }],
    ["single", { "step 7": 10, save: 5 }],
    ["many", Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`region ${at}`, 1 + at]))],
  ] as const) {
    mkdirSync(join(cwd, run, "recorder", "regions"), { recursive: true });
    const file = join(cwd, run, "recorder", "regions", "report.json");
    writeFileSync(file, JSON.stringify(ranges(lengths)));
  }
});

async function query(...args: readonly string[]) {
  const { console, out } = capturedConsole();
  const code = await runQuery(args, { cwd, env: { COLUMNS: "90" }, now: new Date(0), console });
  expect(code).toBe(0);
  return out.stdout;
}

const asked = async (...args: readonly string[]) => JSON.parse(await query(...args, "--json"));

async function refusal(...args: readonly string[]) {
  try {
    await query(...args);
    return null;
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return error.details;
  }
}

describe("a question about a run", () => {
  it.each([
    [["summary"]],
    [["top"]],
    [["regions"]],
    [["regions", "--sort", "wall", "--limit", "1"]],
    [["kernels"]],
    [["kernels", "--region", "conv", "--kernel", "ge*"]],
    [["why", "conv"]],
    [["compare", "b"]],
  ])("is answered as its schema says: %j", async (words) => {
    const answer = await asked("a", ...words);
    expect(createDocumentValidator().validate(answer)).toEqual([]);
    expect(answer).toMatchObject({ question: words[0], run: "a", collector: "recorder" });
    expect(await query("a", ...words)).not.toBe("");
  });

  it("has the calls of CUDA and of the system by function, with the regions that make them", async () => {
    const answer = await asked("called", "calls");
    expect(createDocumentValidator().validate(answer)).toEqual([]);
    expect(answer).toMatchObject({ total: 3, shown: 3 });
    expect(answer.answer.calls).toMatchObject([
      { api: "os", name: "write", calls: 2, total_ms: 9, mean_ms: 4.5, share_pct: 100 },
      {
        ...{
          api: "cuda",
          name: "cudaLaunchKernel",
          calls: 4,
          total_ms: 7,
          min_ms: 0.5,
          max_ms: 3.5,
        },
        ...{
          mean_ms: 1.75,
          share_pct: 87.5,
          regions: [{ path: ["step #"], members: 2, calls: 4 }],
        },
      },
      { name: "cudaMemcpy", total_ms: 1, share_pct: 12.5, regions: [{ path: ["save"] }] },
    ]);
    const { answer: one } = await asked("called", "calls", "--region", "step 1");
    expect(one.calls).toMatchObject([{ name: "cudaLaunchKernel", calls: 2, total_ms: 3 }]);
    expect(await query("called", "calls")).toMatch(
      /cuda +cudaLaunchKernel +4 +7\.000 +1\.750 +0\.500 +3\.500 +step #/,
    );
    expect(await query("a", "calls")).toContain("nsys records them");
  });

  it("has times and shares of regions, those with most of their own first", async () => {
    const { answer, total, shown } = await asked("a", "regions", "--limit", "2");
    expect([total, shown]).toEqual([3, 2]);
    expect(answer).toMatchObject({
      whole_ms: 22,
      regions: [
        { path: ["step", "conv"], exclusive_ms: 22, share_pct: 100, exclusive_share_pct: 100 },
        { path: ["step"], exclusive_ms: 0, share_pct: 100, exclusive_share_pct: 0 },
      ],
    });
    const text = await query("a", "regions", "--limit", "2");
    expect(text).toContain("2 of 3; more with --limit N");
    expect(text).toMatch(/ Wall excl +Kernels +GPU excl +Share % +Excl\. share %\n/);
    const { answer: why } = await asked("a", "why", "step");
    expect(why.regions).toMatchObject([{ share_pct: 100, exclusive_share_pct: 0 }]);
  });

  it("says what shares are of, and of how many runs its numbers are from one", async () => {
    expect(await query("a", "regions")).toContain("100 % = 22.000 ms, total GPU time of kernels\n");
    const kernels = await query("a", "kernels", "--region", "conv");
    expect(kernels).toContain("100 % = 22.000 ms, total GPU time of kernels\n");
    expect(kernels).not.toContain("median");
    const text = await query("repeated", "kernels", "--region", "conv");
    expect(text).toMatch(/\nnumbers are from the median run of 3\n$/);
    const answer = await asked("repeated", "kernels", "--region", "conv");
    expect(answer.median_of_runs).toBe(3);
    expect(createDocumentValidator().validate(answer)).toEqual([]);
    expect(await asked("a", "kernels")).not.toHaveProperty("median_of_runs");
  });

  it("has one reason of a region in each answer, also by the counters of another collector", async () => {
    const { answer: top } = await asked("counted", "top", "--collector", "recorder");
    const { answer: why } = await asked("counted", "why", "conv", "--collector", "recorder");
    expect(top.by_gpu[0].reason.rule).toBe("compute_bound");
    expect(why.regions[0].gpu_reason).toEqual(top.by_gpu[0].reason);
  });

  it("counts kernels of nested regions once, and cuts names that are screens long", async () => {
    const { answer } = await asked("a", "kernels", "--region", "*");
    expect(answer.kernels.map(({ calls }: { calls: number }) => calls)).toEqual([1, 1]);
    expect(answer.kernels[1].kernel_name).toHaveLength(1001);
  });

  it("finds a region by its path, and names those there are where it finds none", async () => {
    for (const path of ["step / conv", "step > conv"]) {
      const { answer } = await asked("a", "why", path);
      expect(answer.regions).toMatchObject([{ path: ["step", "conv"], wall_exclusive_ms: 30 }]);
    }
    expect(await refusal("a", "why", "convv")).toMatchObject({
      code: "profile.input",
      available: expect.arrayContaining(["step", "copy", "conv"]),
      nearest: "conv",
    });
  });

  it("names the nearest region, or path, of one that is written as a path of files", async () => {
    for (const [typed, nearest] of [
      ["step/conv", "step / conv"],
      ["step/convv", "step / conv"],
      ["step::conv", "step / conv"],
      ["train/convv", "conv"],
    ] as const) {
      expect(await refusal("a", "why", typed)).toMatchObject({ nearest });
      await asked("a", "why", nearest);
    }
    expect((await refusal("a", "why", "x/y"))?.nearest).toBeUndefined();
  });

  it("finds the one region of a family by the family's name, as comparisons write it", async () => {
    const { answer } = await asked("single", "regions", "--region", "step #");
    expect(answer.regions).toMatchObject([{ path: ["step 7"], family: ["step #"] }]);
    expect(await query("single", "why", "step #")).toContain("step 7");
    // In a run of many members the name is the family's.
    const many = await asked("many", "regions", "--region", "region #");
    expect(many.answer.regions).toMatchObject([{ path: ["region #"], members: 300 }]);
    expect((await refusal("single", "why", "save #"))?.message).toBe(
      "no region is called 'save #'",
    );
  });

  it("says what changed to another run", async () => {
    const { answer } = await asked("a", "compare", "b");
    expect(answer.totals.total_ms).toMatchObject({ a: 22, b: 26, verdict: "unclear" });
    expect(answer.kernels).toMatchObject([
      { kernel_name: "gemm", changes: { total_ms: { delta: 4 } } },
    ]);
    expect(answer).toMatchObject({ main_time: "total_ms" });
    expect(answer.headline).toMatch(/^It is unclear whether B is slower or faster: \+4\.000 ms/);
    expect(await query("a", "compare", "b")).toMatch(
      /^step \/ conv +\+4\.000 +22\.000 +26\.000 +\+4\.000 +\+18\.2 +unclear$/m,
    );
  });

  it("has what contributed most first, whatever the order of the tree", async () => {
    const { answer } = await asked("small", "compare", "large");
    expect(
      answer.regions.map(({ path, contributed_ms: ms }: Record<string, unknown>) => [path, ms]),
    ).toEqual([
      [["late"], expect.closeTo(40, 6)],
      [["gone"], expect.closeTo(-20, 6)],
      [["early"], expect.closeTo(10, 6)],
    ]);
  });

  it("is as long as asked for, and goes on at its cursor until all items were given", async () => {
    const names: string[] = [];
    let cursor: string | undefined;
    for (let turn = 0; turn < 500; turn++) {
      const more = cursor === undefined ? [] : ["--cursor", cursor];
      const text = await query(
        ...["many", "regions", "--json", "--limit", "1000", "--bytes", "5000"],
        ...more,
      );
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(5001);
      const { answer, total, shown, next } = JSON.parse(text);
      expect(createDocumentValidator().validate(JSON.parse(text))).toEqual([]);
      expect([total, shown]).toEqual([300, answer.regions.length]);
      names.push(...answer.regions.map(({ path }: { path: readonly string[] }) => path.join()));
      cursor = next;
      if (cursor === undefined) break;
    }
    expect(new Set(names).size).toBe(300);
    expect(names).toHaveLength(300);
    expect(
      Buffer.byteLength(await query("many", "regions", "--json", "--limit", "1000")),
    ).toBeLessThan(50_002);
    expect(await query("many", "regions", "--limit", "2", "--cursor", "7")).toContain(
      "2 of 300; more with --limit N, at most 1000, or --cursor 9",
    );
    expect(await refusal("many", "regions", "--cursor", "next")).toMatchObject({
      code: "app.usage",
      message: "--cursor: 'next' is not a cursor",
    });
  });

  it.each([
    [["a", "sumary"], "app.usage", "'sumary' is no question"],
    [["a", "why"], "app.usage", "why needs REGION"],
    [["a", "top", "conv"], "app.usage", "top takes nothing behind it"],
    [["a", "regions", "--limit", "1001"], "app.usage", "--limit: at most 1000"],
    [["a", "timeline", "--from", "now"], "app.usage", "'now' is not a time in milliseconds"],
    [["a", "timeline"], "profile.input", "it holds reports only"],
    [["nosuch"], "profile.input", "there is no such file or directory"],
    [["a", "kernels", "--kernel", "gemn"], "profile.input", "no kernel is called 'gemn'"],
    [["a", "regions", "--metric", "payload.*"], "profile.input", "no region has metrics"],
    [["a", "timeline", "--from", "5", "--to", "3"], "app.usage", "--to: 3 is before --from 5"],
    [["a", "timeline", "--region", "step"], "app.usage", "--region: 'timeline' does not read it"],
    [["a", "timeline", "--sort", "wall"], "app.usage", "--sort: 'timeline' does not read it"],
    [["a", "timeline", "--kernel", "gemm"], "app.usage", "--kernel: 'timeline' does not read it"],
    [["a", "timeline", "--scope", "process:1"], "app.usage", "--scope: 'timeline'"],
    [["a", "kernels", "--sort", "wall"], "app.usage", "--sort: 'kernels' does not read it"],
    [["a", "top", "--from", "5"], "app.usage", "--from: 'top' does not read it"],
    [["a", "top", "--scope", "process:2"], "profile.input", "no report of 'process:2'"],
  ])("is refused where it cannot be answered: %j", async (args, code, message) => {
    expect(await refusal(...args)).toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
    expect(await refusal("a", "kernels", "--kernel", "gemn")).toMatchObject({ nearest: "gemm" });
  });
});

it("names the questions, and the nearest kernel, where one is refused", async () => {
  expect(await refusal("a", "tops")).toMatchObject({
    message: "'tops' is no question",
    hint: "questions: summary, top, regions, kernels, calls, why, timeline, compare",
    nearest: "top",
  });
});

it("says that no kernel was recorded, of the run and of a region", async () => {
  expect(await query("small", "kernels")).toBe("No GPU kernels or CPU operations were recorded.\n");
  expect(await query("small", "kernels", "--region", "late")).toBe(
    "No GPU kernels or CPU operations were recorded in these regions.\n",
  );
});

it("names the questions that read an option", async () => {
  expect(await refusal("a", "why", "step", "--region", "step")).toMatchObject({
    hint: "questions that do: regions, kernels, calls",
  });
});

describe("a part of a timeline", () => {
  const process = (ranges: readonly (readonly [number, number | null])[]) => ({
    pid: 7,
    parentPid: null,
    executable: "program",
    startNs: 0,
    endNs: 1000,
    finished: true,
    ranges: ranges.map(([startNs, endNs], id) => ({
      ...{ id, kind: "push_pop" as const, domain: "", name: `r${id}`, threadId: 8 },
      ...{ startNs, endNs, endThreadId: 8, category: null, color: null, payload: null },
    })),
    marks: [],
    kernels: [],
    notes: [],
  });
  const timelineOf = (ranges: readonly (readonly [number, number | null])[]) => ({
    ...{ collector: "recorder", clock: "CLOCK_MONOTONIC", originNs: 0n, notes: [] },
    processes: [process(ranges)],
  });

  it("is the same of a trace, which imports leave", async () => {
    const timeline = timelineOf([
      [100, 400],
      [150, null],
      [600, 900],
    ]);
    const file = join(cwd, "many", "recorder", "trace.json");
    writeFileSync(file, [...renderChromeTrace(timeline)].join(""));
    for (const [from, to] of [
      [0, 1000],
      [0, 140],
      [450, 1000],
    ] as const) {
      const request = { fromMs: from / 1e6, toMs: to / 1e6, limit: 2 };
      const { events, total } = timelineSlice(timeline, request);
      const read = await traceSlice("trace.json", file, request);
      expect(read.total).toBe(total);
      expect(read.events).toEqual(events);
    }
    const { answer } = await asked("many", "timeline");
    expect(answer.events).toMatchObject([{ name: "r0" }, { name: "r1" }, { name: "r2" }]);
    expect((await asked("many/recorder", "timeline")).answer).toEqual(answer);
    expect(await query("many", "timeline", "--from", "5")).toMatch(
      /^Nothing is at 5 ms: the timeline is .* long, from 0 to .* ms\.\n$/,
    );
    expect(await query("many", "timeline", "--cursor", "7")).toContain(
      "No event has number 8: there are 3 between these times.\n",
    );
    writeFileSync(file, '{"ph":"X","name":\n');
    expect(await refusal("many", "timeline")).toMatchObject({
      code: "profile.input",
      message: expect.stringMatching(/trace\.json: it is damaged/),
    });
    rmSync(file);
  });

  it("names the next event where none is between the two times", async () => {
    const timeline = timelineOf([
      [50e6, 60e6],
      [10e6, 20e6],
    ]);
    const [only = process([])] = timeline.processes;
    const file = join(cwd, "many", "recorder", "trace.json");
    const longer = { ...timeline, processes: [{ ...only, endNs: 90e6 }] };
    writeFileSync(file, [...renderChromeTrace(longer)].join(""));
    const between = async (...times: readonly string[]) =>
      (await query("many", "timeline", ...times)).replaceAll("\n", " ");
    expect(await between("--from", "0", "--to", "5")).toBe(
      "No range, kernel or other event is between 0 and 5 ms: the timeline is 90.00 ms long; the next one begins at 10.000 ms. ",
    );
    expect(await between("--from", "21", "--to", "30")).toContain("begins at 50.000 ms. ");
    expect(await between("--from", "61", "--to", "70")).toMatch(/90\.00 ms long\. $/);
    rmSync(file);
  });

  it("has each counter once, with what it was between the two times", () => {
    const timeline = timelineOf([[0, 1000]]);
    const [only = process([])] = timeline.processes;
    const samples = {
      ...{ domain: "cuda:0", name: "busy", unit: "%", threadId: null, holds: true },
      timesNs: Float64Array.of(100, 300, 600),
      endsNs: Float64Array.of(300, 500, 700),
      values: Float64Array.of(10, 40, 90),
    };
    const counted = {
      ...timeline,
      processes: [{ ...only, endNs: 1000, counters: [samples] }],
    };
    const sliceOf = (from: number, to: number) =>
      timelineSlice(counted, { fromMs: from / 1e6, toMs: to / 1e6, limit: 9 }).events.filter(
        ({ kind }) => kind === "counter",
      );
    // 10 for 100 ns and 40 for 200.
    expect(sliceOf(200, 550)).toEqual([
      {
        ...{ kind: "counter", name: "busy", row: `process ${only.pid}, cuda:0` },
        ...{ start_ms: 200 / 1e6, end_ms: 550 / 1e6 },
        counter: { unit: "%", samples: 2, min: 10, mean: 30, max: 40 },
      },
    ]);
    expect(sliceOf(510, 590)).toEqual([]);
  });

  /** Values at times that follow one another: each holds until the next, for a time of its own, or not at all. */
  const counterSeries = fc
    .record({
      name: fc.constantFrom("queue", "busy"),
      domain: fc.constantFrom("", "cuda:0"),
      unit: fc.constantFrom("", "%"),
      threadId: fc.constantFrom(null, 8),
      kind: fc.constantFrom("points", "steps", "spans"),
      steps: fc.array(fc.record({ gap: fc.nat(90), share: fc.integer({ min: 1, max: 9 }) }), {
        minLength: 1,
        maxLength: 9,
      }),
      values: fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 9, maxLength: 9 }),
    })
    .map(({ kind, steps, values, ...series }): CounterSeries => {
      let now = 0;
      const spans = steps.map(({ gap, share }) => {
        const begin = now + gap;
        now = begin + share * 10;
        return { begin, end: now };
      });
      return {
        ...{ ...series, holds: kind !== "points" },
        timesNs: Float64Array.from(spans, ({ begin }) => begin + 5000),
        values: Float64Array.from(values.slice(0, spans.length)),
        ...(kind === "spans" && { endsNs: Float64Array.from(spans, ({ end }) => end + 5000) }),
      };
    });

  it("has the counters of a trace, too, from the start of the run", async () => {
    const file = join(cwd, "many", "counted.json");
    // What one process or thread has of one name is one series.
    const several = fc.uniqueArray(counterSeries, {
      maxLength: 3,
      selector: ({ name, domain, unit, threadId }) =>
        JSON.stringify([name, domain, unit, threadId]),
    });
    await fc.assert(
      fc.asyncProperty(several, fc.nat(999), fc.nat(999), async (counters, one, two) => {
        const [first, second] = [[5010, 5400] as const, [5100, 5300] as const].map((range) => ({
          ...process([range]),
          ...{ startNs: range[0] - 10, endNs: range[1] + 100 },
        }));
        if (first === undefined || second === undefined) throw new Error("two processes");
        const timeline = {
          ...timelineOf([]),
          processes: [
            { ...first, counters },
            { ...second, pid: first.pid + 1, counters },
          ],
        };
        writeFileSync(file, [...renderChromeTrace(timeline)].join(""));
        const [fromMs, toMs] = [Math.min(one, two) / 1e6, Math.max(one, two) / 1e6];
        const slice = await traceSlice("counted.json", file, { fromMs, toMs, limit: 99 });
        const of = ({ events }: typeof slice) =>
          events.map(({ start_ms, end_ms, counter, ...event }) => ({
            ...event,
            ...{ start_ms: start_ms.toFixed(9), end_ms: end_ms.toFixed(9) },
            ...(counter && { counter: { ...counter, mean: counter.mean.toFixed(9) } }),
          }));
        const wanted = timelineSlice(timeline, { fromMs, toMs, limit: 99 });
        expect(of(slice)).toEqual(of(wanted));
        expect(slice).toMatchObject({ total: wanted.total, spanMs: wanted.spanMs });
      }),
      { numRuns: 60 },
    );
    rmSync(file);
  });

  it("has calls of CUDA and of the system, also of a trace, and before the first range", async () => {
    const table = createHostCalls();
    table.add({ api: "os", name: "open64", threadId: 8, startNs: 0, endNs: 50 });
    table.add({ api: "cuda", name: "cudaMalloc", threadId: 8, startNs: 120, endNs: 300 });
    const timeline = timelineOf([[100, 400]]);
    const [only = process([])] = timeline.processes;
    const started = { ...only, startNs: 0, hostCalls: table.finish() };
    const called = { ...timeline, processes: [started] };
    const request = { fromMs: null, toMs: null, limit: 9 };
    const { events } = timelineSlice(called, request);
    expect(events.map(({ kind, name, start_ms }) => [kind, name, start_ms])).toEqual([
      ["os_call", "open64", 0],
      ["range", "r0", 100 / 1e6],
      ["cuda_call", "cudaMalloc", 120 / 1e6],
    ]);
    const file = join(cwd, "many", "called.json");
    writeFileSync(file, [...renderChromeTrace(called)].join(""));
    expect((await traceSlice("called.json", file, request)).events).toEqual(events);
    // A range of a domain that is called as they are is a range.
    const named = only.ranges.map((range) => ({ ...range, domain: "cuda_call" }));
    const misleading = { ...timeline, processes: [{ ...only, ranges: named }] };
    writeFileSync(file, [...renderChromeTrace(misleading)].join(""));
    const [range] = (await traceSlice("called.json", file, request)).events;
    expect(range?.kind).toBe("range");
    rmSync(file);
  });

  it("has what was going on between its times, however it began and ended", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(999), fc.option(fc.nat(999)))),
        fc.nat(999),
        fc.nat(999),
        fc.integer({ min: 1, max: 5 }),
        (pairs, one, two, limit) => {
          const ranges = pairs.map(
            ([start, length]) =>
              [start, length === null ? null : Math.min(1000, start + length)] as const,
          );
          const [from, to] = [Math.min(one, two), Math.max(one, two)];
          const slice = timelineSlice(timelineOf(ranges), {
            fromMs: from / 1e6,
            toMs: to / 1e6,
            limit,
          });
          const open = ranges.filter(([start, end]) => start <= to && (end ?? 1000) >= from);
          expect(slice.total).toBe(open.length);
          expect(slice.events).toHaveLength(Math.min(limit, open.length));
          const starts = slice.events.map(({ start_ms }) => Math.round(start_ms * 1e6));
          expect(starts).toEqual(
            open
              .map(([start]) => start)
              .sort((a, b) => a - b)
              .slice(0, limit),
          );
        },
      ),
    );
  });
});
