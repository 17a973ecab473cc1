import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { endedFromOutside, type Job } from "../../../src/app/job/job.ts";
import { judgementOfPage } from "../../../src/app/sweep/best.ts";
import { reportedCurves } from "../../../src/app/sweep/learning-curves.ts";
import { sweepPageData, thinnedCurve } from "../../../src/app/sweep/page/build-page-data.ts";
import { readSweepStatus } from "../../../src/app/sweep/status.ts";
import { pageSweep } from "../../../src/app/sweep/sweep-page.ts";
import { writeSweepTables } from "../../../src/app/sweep/sweep-tables.ts";
import { createAjv } from "../../../src/engine/schema/ajv.ts";
import { program } from "../cli/program.ts";

const SCHEMA = new URL("../../../schemas/sweep-curves.schema.json", import.meta.url);

async function reporting() {
  const { cwd, run } = program({ "conf/config.yaml": "x: 1\nhydra: {sweep: {dir: s}}\n" });
  const { exitCode } = await run(["-m", "x=1,2,3"], (config, job) => {
    const x = Number(config.get("x"));
    if (x === 3) return;
    for (const step of [10, 20]) job.report(step, { loss: x / step });
    writeFileSync(
      join(job.outputDir, "metrics.jsonl"),
      `${readFileSync(join(job.outputDir, "metrics.jsonl"), "utf8")}{"loss": NaN, "val": {"acc": 1}}\n{"step`,
    );
  });
  expect(exitCode).toBe(0);
  const rowsOf = async (directory: string) =>
    (await readSweepStatus({ directory, env: {}, launchers: [] })).rows;
  return { cwd, rowsOf };
}

const linesOf = (file: string) => readFileSync(file, "utf8").trimEnd().split("\n");

const CURVES_OF_FIRST = [
  { metric: "loss", steps: [10, 20], values: [0.1, 0.05] },
  { metric: "val.acc", steps: [3], values: [1] },
];

test("the curves of jobs are data beside the table, as the schema says", async () => {
  const { cwd } = await reporting();
  const lines = linesOf(join(cwd, "s/.sweep/sweep-curves.jsonl")).map((line) => JSON.parse(line));
  expect(lines).toMatchObject([{ job: 0, curves: CURVES_OF_FIRST }, { job: 1 }]);
  const check = createAjv().compile(JSON.parse(readFileSync(SCHEMA, "utf8")));
  for (const line of lines) expect([check(line), check.errors]).toEqual([true, null]);
  expect(check({ ...lines[0], job: "0" })).toBe(false);
});

test("a page of a sweep that was moved has them; of a changed file, what the jobs wrote counts", async () => {
  const { cwd, rowsOf } = await reporting();
  const [old, moved] = [join(cwd, "s"), join(cwd, "moved")];
  const rows = await rowsOf(old);
  const judgement = judgementOfPage(old, { dialect: "1.3" }, {});
  const curvesAt = (directory: string) =>
    sweepPageData([pageSweep(directory, rows, judgement, cwd)]).curves.map(
      ({ row, title: metric, steps, values }) => ({ row, metric, steps, values }),
    );
  const wanted = curvesAt(old);
  expect(wanted.filter(({ row }) => row === 0)).toEqual(
    CURVES_OF_FIRST.map((curve) => ({ row: 0, ...curve })),
  );
  writeFileSync(join(old, ".sweep/sweep-curves.jsonl"), "{");
  expect(curvesAt(old)).toEqual(wanted);
  writeSweepTables(old, rows);
  renameSync(old, moved);
  expect(curvesAt(moved)).toEqual(wanted);
});

test("a job that has run again has the curves of its last attempt, others those beside the table", async () => {
  const { cwd, rowsOf } = await reporting();
  const directory = join(cwd, "s");
  const rows = await rowsOf(directory);
  const judgement = judgementOfPage(directory, { dialect: "1.3" }, {});
  const valuesOf = (row: number) =>
    sweepPageData([pageSweep(directory, rows, judgement, cwd)]).curves.flatMap((curve) =>
      curve.row === row ? [curve.values] : [],
    );
  const [first, second] = [0, 1].map((number) => join(directory, String(number), "metrics.jsonl"));
  const line = '{"step": 10, "loss": 7}\n';
  writeFileSync(first ?? "", line);
  writeFileSync(second ?? "", line);
  const written = new Date(2026, 0, 2);
  utimesSync(join(directory, ".sweep/sweep-curves.jsonl"), written, written);
  const [before, after] = [new Date(2026, 0, 1), new Date(2026, 0, 3)];
  utimesSync(first ?? "", after, after);
  utimesSync(second ?? "", before, before);
  expect(valuesOf(0)).toEqual([[7]]);
  expect(valuesOf(1)).toEqual([[0.2, 0.1], [1]]);
  rmSync(second ?? "");
  expect(valuesOf(1)).toEqual([[0.2, 0.1], [1]]);
});

const LINE = {
  contract: "hydraconf.sweep-curves/1.0",
  job: 0,
  curves: [{ metric: "loss", steps: [1], values: [9] }],
};

test.each([
  ["another contract", { ...LINE, contract: "hydraconf.sweep-curves/2.0" }],
  ["a job without a number", { ...LINE, job: "0" }],
  ["no curves", { ...LINE, curves: null }],
  ["fewer values than steps", { ...LINE, curves: [{ metric: "loss", steps: [1], values: [] }] }],
  ["a text as a value", { ...LINE, curves: [{ metric: "loss", steps: [1], values: ["9"] }] }],
])("a file of curves with %s does not count", async (_, line) => {
  const { cwd, rowsOf } = await reporting();
  const directory = join(cwd, "s");
  const rows = await rowsOf(directory);
  const judgement = judgementOfPage(directory, { dialect: "1.3" }, {});
  const curvesWith = (text: string) => {
    writeFileSync(join(directory, ".sweep/sweep-curves.jsonl"), text);
    return sweepPageData([pageSweep(directory, rows, judgement, cwd)]).curves[0]?.values;
  };
  expect(curvesWith(JSON.stringify(LINE))).toEqual([9]);
  expect(curvesWith(JSON.stringify(line))).toEqual([0.1, 0.05]);
});

test("without metrics there is no file, and an earlier one does not stay", async () => {
  const { cwd, rowsOf } = await reporting();
  const directory = join(cwd, "s");
  const rows = await rowsOf(directory);
  expect(writeSweepTables(directory, rows)).toContain("sweep-curves.jsonl");
  for (const { output_dir } of rows) rmSync(join(output_dir, "metrics.jsonl"), { force: true });
  expect(writeSweepTables(directory, rows)).not.toContain("sweep-curves.jsonl");
  expect(existsSync(join(directory, "sweep-curves.jsonl"))).toBe(false);
});

test("a long curve keeps its first and its last point, and the order of those between", () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ noNaN: true }), { minLength: 1, maxLength: 300 }),
      fc.integer({ min: 2, max: 50 }),
      (values, most) => {
        const steps = values.map((_, at) => at);
        const thin = thinnedCurve({ metric: "loss", steps, values }, most);
        expect(thin.steps).toHaveLength(Math.min(most, values.length));
        expect([thin.steps[0], thin.steps.at(-1)]).toEqual([0, values.length - 1]);
        expect(thin.values).toEqual(thin.steps.map((step) => values[step]));
        expect(thin.steps).toEqual([...new Set(thin.steps)].sort((a, b) => a - b));
      },
    ),
  );
});

test("an attempt that goes on continues the curves of those before it, one that begins anew does not", async () => {
  const { cwd } = program({});
  const points = (steps: readonly number[], loss: number) =>
    steps.map((step) => `${JSON.stringify({ step, loss })}\n`).join("");
  const placed = (continues: number | null, ...attempts: readonly (readonly number[])[]) => {
    const output_dir = mkdtempSync(join(cwd, "job-"));
    for (const [index, steps] of attempts.entries()) {
      const place =
        index + 1 === attempts.length
          ? output_dir
          : join(output_dir, ".attempts", String(index + 1));
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, "metrics.jsonl"), points(steps, index + 1));
    }
    return { attempts: attempts.length, continues, output_dir };
  };
  const curvesOf = (...attempts: readonly (readonly number[])[]) => {
    const row = { number: 0, ...placed(null, ...attempts) };
    return reportedCurves([row])(row);
  };
  const loss = (steps: readonly number[], values: readonly number[]) => [
    { metric: "loss", steps, values },
  ];
  // Killed after a step that its checkpoint did not have.
  expect(curvesOf([1, 2, 3], [3, 4])).toEqual(loss([1, 2, 3, 4], [1, 1, 2, 2]));
  expect(curvesOf([1, 2], [3], [4, 5])).toEqual(loss([1, 2, 3, 4, 5], [1, 1, 2, 3, 3]));
  expect(curvesOf([1, 2, 3], [1, 2])).toEqual(loss([1, 2], [2, 2]));
  expect(curvesOf([1, 2], [1], [2])).toEqual(loss([1, 2], [2, 3]));
  expect(curvesOf([1, 2], [])).toEqual(loss([1, 2], [1, 1]));
  // Jobs of one trial, whose first was retried: the last begins anew.
  const rows = [
    placed(null, [1, 2], [2]),
    placed(0, [3, 4]),
    placed(1, [5]),
    placed(2, [1]),
    placed(9, [7]),
    placed(5, [8]),
  ].map((row, number) => ({ number, ...row }));
  expect(rows.map(reportedCurves(rows))).toEqual([
    ...[loss([1, 2], [1, 2]), loss([1, 2, 3, 4], [1, 2, 1, 1])],
    ...[loss([1, 2, 3, 4, 5], [1, 2, 1, 1, 1]), loss([1], [1])],
    // What it continues is not there, or is itself.
    ...[loss([7], [1]), loss([8], [1])],
  ]);
});

/** Keeps its epochs in its checkpoint, and reports each once. */
function train(epochs: number, { checkpoint, report }: Pick<Job, "checkpoint" | "report">): void {
  const kept = readdirSync(checkpoint).length;
  for (let epoch = kept + 1; epoch <= epochs; epoch++) {
    report(epoch, { loss: 1 / epoch });
    writeFileSync(join(checkpoint, `${epoch}`), "");
  }
}

const stepsIn = (file: string): readonly (readonly number[] | undefined)[] =>
  linesOf(file).map((line) => JSON.parse(line).curves[0].steps);

test("a task of hydraMain that was ended and goes on continues its curve", async () => {
  const { cwd, run } = program({ "conf/config.yaml": "x: 1\nhydra: {sweep: {dir: s}}\n" });
  await run(["-m", "x=1"], (_, job) => {
    train(2, job);
    return endedFromOutside({ by: "signal", signal: "SIGTERM" });
  });
  const resumed = await run(["--resume", "s"], (_, job) => train(4, job));
  expect(resumed.exitCode).toBe(0);
  expect(stepsIn(join(cwd, "s/.sweep/sweep-curves.jsonl"))).toEqual([[1, 2, 3, 4]]);
  expect(linesOf(join(cwd, "s/0/metrics.jsonl"))).toHaveLength(2);
});

test("a trial with a larger budget continues the curve of the one with the smaller", async () => {
  const { cwd, run } = program({ "conf/config.yaml": "x: 1\nn: 1\nhydra: {sweep: {dir: s}}\n" });
  const { exitCode } = await run(
    [
      ...[
        "-m",
        "hydra/sweeper=successive_halving",
        "hydra.sweeper.budget_key=n",
        "x=interval(0,1)",
      ],
      ...["hydra.sweeper.min_budget=1", "hydra.sweeper.max_budget=4", "hydra.sweeper.eta=2"],
    ],
    (config, job) => {
      train(Number(config.get("n")), job);
      return Number(config.get("x"));
    },
  );
  expect(exitCode).toBe(0);
  expect(stepsIn(join(cwd, "s/.sweep/sweep-curves.jsonl"))).toEqual([
    ...[[1], [1], [1], [1], [1, 2], [1, 2], [1, 2, 3, 4]],
  ]);
});
