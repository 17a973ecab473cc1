import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jobReport } from "../../../src/report/sweep/build-sweep-report.ts";
import { curvesOf, scalingFit, scalingWords } from "../../../src/report/sweep/sweep-document.ts";
import {
  renderSweepCsv,
  renderSweepHtml,
  renderSweepMarkdown,
  sweepJsonPieces,
} from "../../../src/report/sweep/writers.ts";
import { bundleOf, firstReport, hostileNames, reportOfCalls } from "../bundles.ts";
import { joined } from "../joined.ts";
import { readCsv } from "../read-csv.ts";
import { grid, jobOf, sweepOf } from "./sweeps.ts";

describe("a sweep's report", () => {
  it("tells what was swept, the best job and every region's times", () => {
    expect(grid.parameters).toEqual([
      { key: "infer.batch_size", numeric: true },
      { key: "size", numeric: true },
    ]);
    expect(grid).toMatchObject({ best: "0", basis: "total_ms", notes: [] });
    expect(grid.jobs.map(({ values }) => values.join())).toEqual([
      ...["1,1", "2,1", "4,1", "1,2", "2,2", "4,2"],
    ]);
    expect(grid.regions.map(({ path }) => path.join(" / "))).toEqual(["work", "work / inner"]);
    expect(grid.regions[0]?.times_ms).toEqual([1, 2, 4, 4, 8, 16]);
  });

  it("keeps of each job's report what it shows, and nothing of its kernels", () => {
    const { report } = jobOf("0", [], 3).result;
    expect(report?.kernels).toBe("GPU kernels");
    expect(report?.regions.map(({ path, total_ms }) => [path.at(-1), total_ms])).toEqual([
      ["work", 3],
      ["inner", 3],
    ]);
    for (const region of report?.regions ?? [])
      expect(region).toMatchObject({ kernels: [], metrics: {}, sections: {}, notes: [] });
  });

  it("says which jobs have no time, and keeps regions that only some jobs have", () => {
    const report = sweepOf([
      jobOf("0", ["x=a"], 3),
      jobOf("1", ["x=b"], null),
      jobOf("2", ["x=c"], 1, "other"),
    ]);
    expect(report.parameters).toEqual([{ key: "x", numeric: false }]);
    expect(report.best).toBe("2");
    expect(report.notes).toEqual(["1 of 3 jobs has no time: 1"]);
    const times = Object.fromEntries(
      report.regions.map(({ path, times_ms }) => [path[0], times_ms]),
    );
    expect(times).toMatchObject({ work: [3, null, null], other: [null, null, 1] });
    expect(renderSweepMarkdown(report)).toContain("it failed");
    expect(renderSweepMarkdown(report)).not.toContain("## Scaling");
  });

  it("tells how long single calls took in each job, where a region was called more than once", () => {
    const called = (name: string, lengths: readonly number[]) => ({
      name,
      overrides: [`x=${name}`],
      result: { report: jobReport(reportOfCalls(lengths)) },
    });
    const report = sweepOf([called("1", [1, 2, 3, 10]), called("2", [5]), called("3", [4, 4])]);
    const [region] = report.regions;
    expect(region?.calls_ms).toEqual([
      { calls: 4, min: 1, median: 2.5, p95: 10, max: 10 },
      null,
      { calls: 2, min: 4, median: 4, p95: 4, max: 4 },
    ]);
    const markdown = renderSweepMarkdown(report);
    expect(markdown).toContain(`## Calls of ${region?.path[0]}`);
    expect(markdown).toContain("| x=1 | 4 | 1.000 | 2.500 | 10.000 | 10.000 | 4.00 |");
    expect(markdown).not.toContain("| x=2 | 1 |");
    const rows = readCsv(joined(renderSweepCsv(report)));
    const [titles = [], ...records] = rows;
    const at = (row: readonly string[] | undefined, title: string) => row?.[titles.indexOf(title)];
    const first = records.find((row) => at(row, "region") === region?.path[0]);
    expect([at(first, "calls"), at(first, "call_max_ms")]).toEqual(["4", "10"]);
    expect(renderSweepMarkdown(sweepOf([called("1", [1]), called("2", [5])]))).not.toContain(
      "## Calls",
    );
  });

  it("compares jobs by what they do per second, where it is told how much that is", () => {
    // The larger batch takes longer and does more in its time.
    const jobs = [
      { ...jobOf("0", ["bs=1"], 2), amount: 10 },
      { ...jobOf("1", ["bs=4"], 5), amount: 40 },
      jobOf("2", ["bs=8"], 1),
      { ...jobOf("3", ["bs=16"], null), amount: 160 },
    ];
    expect(sweepOf(jobs).best).toBe("2");
    const report = sweepOf(jobs, { unit: "images", factors: ["bs", "10"] });
    // Of elapsed time, which is longer than that of the kernels by 2 µs.
    expect(report.basis).toBe("total_ms");
    expect(report.jobs.map(({ wall_ms }) => wall_ms)).toEqual([2.002, 5.002, 1.002, undefined]);
    expect(report.jobs.map(({ per_second }) => per_second)).toEqual([
      ...[10 / 0.002002, 40 / 0.005002, undefined, undefined],
    ]);
    expect(report.best).toBe("1");
    const markdown = renderSweepMarkdown(report);
    expect(markdown).toContain(
      "Job 1 (bs=4) did the most images per second, 7,996.8 ±8 images/s; job 0 (bs=1) the fewest, 4,995 ±5 images/s. images: bs \\* 10 in each job.",
    );
    expect(markdown).toMatch(/\| Job \| bs \| ms \| 95 % \| Wall ms \| images\/s \|/);
    expect(renderSweepHtml(report)).toMatch(
      /<p class="answer-line">Job 1 \([^<]*\) did the most images per second, /,
    );
    const rows = readCsv(joined(renderSweepCsv(report)));
    expect(rows[0]).toContain("per_second");
    expect(sweepOf([jobOf("0", ["bs=1"], 2)], { unit: "images", factors: ["bs"] }).best).toBeNull();
  });

  it("names no best job of single runs, and those that repeated runs do not tell apart", () => {
    const single = sweepOf([1, 2].map((ms) => jobOf(`${ms}`, [`x=${ms}`], ms, "work", 1)));
    expect(single.best).toBeNull();
    const page = renderSweepHtml(single, { script: "", style: "" });
    expect(page).toContain(
      '<p class="answer-line">From 1.000 ms, job 1 (x=1), to 2.000 ms, job 2 (x=2) (time of kernels or CPU operations); single runs do not tell which job is best: repeats=5.',
    );
    expect(renderSweepMarkdown(single)).not.toContain("| best |");
    // Two runs have no interval that says anything.
    const some = [jobOf("1", ["x=1"], 1), jobOf("2", ["x=2"], 2, "work", 2)];
    expect(sweepOf(some).best).toBeNull();
    const near = sweepOf([
      jobOf("1", ["x=1"], 10),
      jobOf("2", ["x=2"], 10.01),
      jobOf("3", ["x=3"], 11),
    ]);
    // The uncertainty has as many digits as in the table of jobs.
    expect(
      renderSweepMarkdown(sweepOf([jobOf("1", ["x=1"], 1234), jobOf("2", ["x=2"], 2000)])),
    ).toContain("1234.000 ±1.234 ms");
    expect(near).toMatchObject({
      best: "1",
      jobs: [{ ci95_half_ms: expect.closeTo(0.01, 6) }, {}, {}],
    });
    expect(renderSweepMarkdown(near)).toContain(
      "Job 1 (x=1) took the least time, 10.000 ±0.010 ms; job 3 (x=3) the most, 11.000 ±0.011 ms (time of kernels or CPU operations). Not told from the best: job 2 (x=2).",
    );
  });

  it("takes the elapsed time of a run without ranges, and says where none was measured", () => {
    const job = jobOf("0", ["x=1"], 3);
    const { report } = job.result;
    if (report === null) throw new Error("the job has a report");
    const work = { unit: "images", factors: ["10"] };
    const bare = { ...report.totals, wall_ms: null };
    const of = (totals: typeof report.totals) =>
      sweepOf([{ ...job, amount: 10, result: { report: { ...report, totals } } }], work);
    const run = { wall_ms: 20, process_ms: 20, process_count: 1, in_ranges_ms: 0 };
    const whole = of({ ...bare, run: { ...run, before_ranges_ms: null, after_ranges_ms: null } });
    expect(whole.jobs[0]).toMatchObject({ wall_ms: 20, per_second: 500 });
    const none = of(bare);
    expect(none.jobs[0]).not.toHaveProperty("per_second");
    expect(none.notes).toEqual([
      "no elapsed time was measured, which throughput needs: 0; the recorder and nsys measure it",
    ]);
  });

  it("calls columns of jobs by the values of one or two parameters", () => {
    expect(renderSweepMarkdown(grid)).toContain("| Region | batch\\_size=1 size=1 |");
    const same = sweepOf([jobOf("0", ["a.x=1", "b.x=1"], 1), jobOf("1", ["a.x=2", "b.x=2"], 1)]);
    expect(renderSweepMarkdown(same)).toContain("| Region | a.x=1 b.x=1 |");
    const three = sweepOf([
      jobOf("0", ["a=1", "b=1", "c=1"], 1),
      jobOf("1", ["a=2", "b=2", "c=2"], 1),
    ]);
    expect(renderSweepMarkdown(three)).toContain("| Region | job 0 |");
  });

  it("names the jobs with a time that ran beside another one on their machine", () => {
    const at = (from: number, until: number, host = "a") => ({ interval: { host, from, until } });
    const notes = (...stays: readonly object[]) =>
      sweepOf(stays.map((stay, at) => ({ ...jobOf(`${at}`, [`x=${at}`], 1), ...stay }))).notes;
    expect(notes(at(0, 5), at(5, 9), at(0, 9, "b"), {})).toEqual([]);
    expect(notes(at(0, 5), at(4, 9), at(9, 12))).toEqual([
      expect.stringMatching(
        /^jobs 0 and 1 ran while another job of the sweep did, .*: their times/,
      ),
    ]);
    const failed = { ...jobOf("1", ["x=1"], null), ...at(2, 9) };
    expect(sweepOf([{ ...jobOf("0", ["x=0"], 1), ...at(0, 5) }, failed]).notes).toEqual([
      "1 of 2 jobs has no time: 1",
      expect.stringMatching(/^job 0 ran while another job of the sweep did, .*: its time includes/),
    ]);
  });

  it("tells regions of one path apart", () => {
    const { report } = jobOf("0", ["x=1"], 1).result;
    const [work] = report?.regions ?? [];
    if (report === null || work === undefined) throw new Error("the job has a region");
    const regions = [
      work,
      { ...work, kind: "start_end" as const },
      { ...work, domain: "a|b" },
      { ...work, path: ["1. load"] },
    ];
    const alike = sweepOf([
      { name: "0", overrides: ["x=1"], result: { report: { ...report, regions } } },
    ]);
    const markdown = renderSweepMarkdown(alike);
    for (const name of ["work (push/pop)", "work (start/end)", "work &#64;a\\|b", "1\\. load"])
      expect(markdown).toContain(`| ${name} | `);
    expect(markdown).toContain("\n1 job, collector recorder");
    expect(renderSweepHtml(alike)).toContain('"path":["work (start/end)"]');
    const bare = { ...report, regions: [] };
    const without = sweepOf([{ name: "0", overrides: [], result: { report: bare } }]);
    expect(renderSweepMarkdown(without)).toContain("## Regions\n\nNo regions.\n");
  });

  it("compares wall times where a job has no kernels", () => {
    const job = jobOf("0", ["x=1"], 3);
    const { report } = job.result;
    if (report === null) throw new Error("the job has a report");
    const bare = { ...report, totals: { ...report.totals, total_ms: null } };
    const both = sweepOf([job, { name: "1", overrides: ["x=2"], result: { report: bare } }]);
    expect(both.basis).toBe("wall_ms");
    expect(both.jobs.map(({ total_ms }) => total_ms)).toEqual([3.002, 3.002]);
  });

  it("has a line per setting of the other parameters, and how time grows along it", () => {
    const curves = curvesOf(grid, 0);
    expect(curves.map(({ label }) => label)).toEqual(["size=1", "size=2"]);
    expect(curves[1]?.points.map(({ x, ms }) => [x, ms])).toEqual([
      [1, 4],
      [2, 8],
      [4, 16],
    ]);
    for (const { points } of curves) {
      expect(scalingFit(points)?.exponent).toBeCloseTo(1, 9);
      expect(scalingWords(points)).toBe("1.00 ±0.00 (R² 1.00)");
    }
    // A line through two points always fits.
    for (const { points } of curvesOf(grid, 1)) expect(scalingFit(points)).toBeNull();
    expect(scalingWords([{ x: 1, ms: 1, job: "0" }])).toBe("none: less than three values");
    expect(
      scalingFit([
        { x: 1, ms: 1, job: "0" },
        { x: 1, ms: 2, job: "1" },
        { x: 2, ms: 3, job: "2" },
      ]),
    ).toBeNull();
  });

  it("takes no text for a number that only looks like one of a program", () => {
    const numeric = (...values: readonly string[]) =>
      sweepOf(values.map((value, at) => jobOf(String(at), [`x=${value}`], 1))).parameters[0]
        ?.numeric;
    expect(numeric("1", "2.5", "-1e-3", "10xb")).toBe(false);
    expect(numeric("1", "2.5", "-1e-3")).toBe(true);
    for (const text of ["0x10", "0o7", "0B1", "", " "]) expect(numeric("1", text)).toBe(false);
  });

  it("says where jobs measured different things", () => {
    const [gpu, other] = [jobOf("0", ["x=1"], 3), jobOf("1", ["x=2"], 3)];
    const walls = firstReport(bundleOf([{ ranges: [{ name: "work", start: 0, end: 5 }] }]));
    expect(sweepOf([gpu, { ...other, result: { report: jobReport(walls) } }]).notes).toEqual([
      "the jobs measured different things: GPU kernels; no kernels",
    ]);
    expect(sweepOf([gpu, other]).notes).toEqual([]);
  });

  it("leaves what took no time, or has no size, out of an exponent", () => {
    const points = [
      { x: 1, ms: 2, job: "0" },
      { x: 4, ms: 8, job: "1" },
      { x: 8, ms: 16, job: "3" },
    ];
    for (const none of [
      { x: 2, ms: 0, job: "2" },
      { x: 0, ms: 5, job: "2" },
      { x: -1, ms: 5, job: "2" },
    ])
      expect(scalingFit([...points, none])?.exponent).toBeCloseTo(1, 9);
  });

  it("does not give an exponent that the times do not support", () => {
    const points = [3, 1, 4, 1, 5].map((ms, at) => ({ x: 2 ** at, ms, job: "" }));
    expect(scalingWords(points)).toMatch(/^not supported by the data \(R² 0\.\d\d\)$/);
    // By hand: logarithms 0, 1, 2 of times 0, 1, 1 (base 2): slope 0.5, residual 1/6 of a spread of 2/3.
    const fit = scalingFit([1, 2, 2].map((ms, at) => ({ x: 2 ** at, ms, job: "" })));
    expect(fit?.exponent).toBeCloseTo(0.5, 9);
    expect(fit?.r2).toBeCloseTo(0.75, 9);
    expect(fit?.half).toBeCloseTo(12.7062 * Math.sqrt(1 / 6 / 2), 3);
  });

  it("finds the exponent of any power law", () => {
    fc.assert(
      fc.property(
        fc.double({ min: -3, max: 3, noNaN: true }),
        fc.uniqueArray(fc.integer({ min: 1, max: 1000 }), { minLength: 3, maxLength: 8 }),
        (power, xs) => {
          const points = xs.map((x) => ({ x, ms: 5 * x ** power, job: "" }));
          expect(scalingFit(points)?.exponent).toBeCloseTo(power, 6);
        },
      ),
    );
  });
});

describe("the forms of a sweep's report", () => {
  it("have the same facts", () => {
    const markdown = renderSweepMarkdown(grid);
    expect(markdown).toContain("6 jobs, collector recorder");
    expect(markdown).toMatch(/\| \*\*0\*\* \| 1 \| 1 \| 1\.000 \| ±0\.001 \| best \|/);
    expect(markdown).toContain("1: 1.000, 2: 2.000, 4: 4.000 | 1.00 ±0.00 (R² 1.00) |");
    expect(JSON.parse(joined(sweepJsonPieces(grid)))).toEqual(grid);
    const csv = [...renderSweepCsv(grid)];
    expect(csv[0]).toBe("job,infer.batch_size,size,region,domain,kind,total_ms\r\n");
    expect(csv).toHaveLength(1 + 6 * (1 + 2));
    expect(csv).toContain("5,4,2,work,,push_pop,16\r\n");
    const below = grid.jobs.map((job) => ({ ...job, values: ["-0.1", "1"] }));
    expect([...renderSweepCsv({ ...grid, jobs: below })]).toContain(
      "5,-0.1,1,work,,push_pop,16\r\n",
    );
  });

  it("are written as JSON in pieces, however many jobs there are: together they may be longer than a string", () => {
    const [region] = grid.regions;
    if (region === undefined) throw new Error("the sweep has a region");
    const many = { ...region, times_ms: Array.from({ length: 10_000 }, (_, job) => job / 3) };
    const report = { ...grid, regions: [many, { ...many, times_ms: [] }] };
    const pieces = [...sweepJsonPieces(report)];
    expect(pieces.join("")).toBe(`${JSON.stringify(report, null, 2)}\n`);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(10_000);
  });

  it("bear hostile names of regions, jobs and values", () => {
    for (const name of hostileNames) {
      const report = sweepOf([jobOf(name, [`k=${name}`], 1, name), jobOf("1", ["k=1"], 2, name)]);
      expect(JSON.parse(joined(sweepJsonPieces(report)))).toEqual(report);
      expect([...renderSweepCsv(report)].length).toBeGreaterThan(3);
      expect(renderSweepMarkdown(report)).not.toMatch(/<script/i);
      const page = renderSweepHtml(report, { script: "", style: "" });
      expect(page.match(/<script/gi)).toHaveLength(2);
    }
  });

  it("leave regions out of a page that would be too large, and say so", () => {
    const [region] = grid.regions;
    if (region === undefined) throw new Error("the sweep has a region");
    const regions = Array.from({ length: 20_000 }, (_, at) => ({
      ...region,
      path: [`region ${at}`],
    }));
    const page = renderSweepHtml({ ...grid, regions }, { script: "", style: "" });
    expect(Buffer.byteLength(page)).toBeLessThan(1e6);
    expect(page).toContain("regions are left out of this page");
  });
});
