/** Sweeps resumed with other values of what they vary. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runSweepCommand } from "../../../src/app/cli/sweep-command.ts";
import { endedFromOutside } from "../../../src/app/job/job.ts";
import type { SweepRow } from "../../../src/app/job/options.ts";
import { sweepFolder } from "../../../src/app/record/layout.ts";
import { readManifest } from "../../../src/app/record/manifest.ts";
import { bestRow, mainMetric } from "../../../src/app/sweep/client/jobs.ts";
import { sweepPageData } from "../../../src/app/sweep/page/build-page-data.ts";
import { pageSweep } from "../../../src/app/sweep/sweep-page.ts";
import { capturedConsole } from "../../captured-console.ts";
import { program } from "../cli/program.ts";

const CONFIG = { "conf/config.yaml": "x: 0.0\ny: 0\nepochs: 1\nhydra: {sweep: {dir: s}}\n" };

const NO_OBJECTIVE = { directions: ["minimize"], objective: undefined } as const;

async function statusOf(cwd: string): Promise<string> {
  const { console, out } = capturedConsole();
  const invocation = { argv: [], env: {}, cwd, now: new Date(), console };
  await runSweepCommand(["status", "s", "--all"], invocation);
  return out.stdout;
}

function sweeping() {
  const { cwd, run } = program(CONFIG);
  const ran: string[] = [];
  const play = async (...argv: readonly string[]) => {
    ran.length = 0;
    const outcome = await run(argv, (config, job) => {
      ran.push(`${job.number}: ${job.overrides.join(" ")}`);
      return (Number(config.get("x")) - 0.3) ** 2 + Number(config.get("y"));
    });
    return { ...outcome, log: `${outcome.stdout}${outcome.stderr}`, ran: [...ran] };
  };
  const rows = () => JSON.parse(readFileSync(join(cwd, "s/.sweep/sweep.json"), "utf8")).jobs;
  const results = () => readFileSync(join(cwd, "s/optimization_results.yaml"), "utf8");
  return { cwd, play, rows, results };
}

test("more values of a grid add the jobs for them, and no other", async () => {
  const { cwd, play, rows } = sweeping();
  await play("-m", "x=1,2", "y=5,6");
  const added = await play("--resume", "s", "x=0,1,2");
  expect(added.ran).toEqual(["4: x=0 y=5", "5: x=0 y=6"]);
  expect(added.exitCode).toBe(0);
  expect(added.log).not.toContain("do not count");
  expect(rows().map(({ swept }: { swept: object }) => swept)).toEqual([
    ...[
      { x: 0, y: 5 },
      { x: 0, y: 6 },
    ],
    ...[
      { x: 1, y: 5 },
      { x: 1, y: 6 },
      { x: 2, y: 5 },
      { x: 2, y: 6 },
    ],
  ]);
  expect(existsSync(join(cwd, "s/4/.hydra/overrides.yaml"))).toBe(true);
  // It is the sweep's space from then on.
  expect((await play("--resume", "s")).ran).toEqual([]);
  expect((await play("--resume", "s", "x=0,1,2")).ran).toEqual([]);
  expect((await play("--resume", "s", "y=5,6,7")).ran).toEqual([
    ...["6: x=0 y=7", "7: x=1 y=7", "8: x=2 y=7"],
  ]);
});

test("a changed grid whose batches were not all reached is resumed without naming it again", async () => {
  const { cwd, run } = program(CONFIG);
  await run(["-m", "hydra.sweeper.max_batch_size=1", "x=1,2"]);
  const stopped = await run(["--resume", "s", "x=3,4,1,2"], () => {
    throw new Error("boom");
  });
  expect(stopped.exitCode).toBe(1);
  const facts = readManifest(sweepFolder(join(cwd, "s")));
  expect([facts.more_to_come, facts.jobs.map(({ number }) => number)]).toEqual([true, [2, 0, 1]]);
  const ran: string[] = [];
  const resumed = await run(["--resume", "s", "--retry-failed", "s"], (_, job) => {
    ran.push(`${job.number}: ${job.overrides.join(" ")}`);
  });
  expect([resumed.stderr, resumed.exitCode]).toEqual(["", 0]);
  expect(ran).toEqual(["2: x=3", "3: x=4"]);
  expect((await run(["--resume", "s"])).exitCode).toBe(0);
});

test("finished jobs that a changed grid does not have are named, and stay in the table", async () => {
  const { cwd, play, rows } = sweeping();
  await play("-m", "x=1,2,3");
  const { log, ran } = await play("--resume", "s", "x=2,4");
  expect(ran).toEqual(["3: x=4"]);
  expect(log).toContain(
    "2 jobs of this sweep are none of those that the sweeper asks for now: their results do not count: #0 x=1 (and 1 more)",
  );
  expect(rows()).toHaveLength(4);
  const leftOut = rows().filter(({ left_out }: { left_out: boolean }) => left_out);
  expect(leftOut.map(({ number, status }: SweepRow) => [number, status])).toEqual([
    [0, "completed"],
    [2, "completed"],
  ]);
  const status = await statusOf(cwd);
  expect(status).toMatch(/0 \| x=1 +\| left_out /);
  expect(status).toMatch(/1 \| x=2 +\| completed +\| 1/);
  expect(status).toContain("4 of 4 jobs completed; 2 of these do not count (left_out)\n");
  // The best of those that count, although others are better.
  const page = sweepPageData([pageSweep(join(cwd, "s"), rows(), NO_OBJECTIVE)]);
  expect(page.status.filter((word) => word === "left_out")).toHaveLength(2);
  for (const table of ["sweep.csv", "sweep.md"])
    expect(
      readFileSync(join(cwd, "s/.sweep", table), "utf8").match(/\bleft_out\b/g),
      table,
    ).toHaveLength(2);
  const best = bestRow([...page.number.keys()], mainMetric(page), "minimize");
  expect(page.number[best ?? -1]).toBe(1);
  const again = await play("--resume", "s");
  expect([again.exitCode, again.ran]).toEqual([0, []]);
  expect(again.log).not.toContain("do not count");
});

test("only what the command line swept may change", async () => {
  const { play } = sweeping();
  await play("-m", "x=1,2", "epochs=3");
  for (const other of ["epochs=5", "y=1,2", "+z=1", "~x", "hydra.job.name=a"])
    await expect(play("--resume", "s", other)).resolves.toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/cannot be given here.*\n.*what its command line swept \(x\)/s),
    });
});

const SWEEPERS = [
  ["random", "hydra.sweeper.n_trials=8", "hydra.sweeper.seed=1"],
  ["random", "hydra.sweeper.n_trials=8", "hydra.sweeper.sequence=sobol"],
  ["tpe", "hydra.sweeper.n_trials=8", "hydra.sweeper.seed=1", "hydra.sweeper.n_startup_trials=4"],
];

test.each(SWEEPERS)(
  "a %s search (%s, %s) in a changed space goes on from the results in it",
  async (name, ...settings) => {
    const { cwd, play, results, rows } = sweeping();
    const first = await play(
      "-m",
      `hydra/sweeper=${name}`,
      ...settings,
      "x=interval(0,1)",
      "y=0,1",
    );
    expect(first.ran).toHaveLength(8);
    const valueIn = (job: string) => Number(/x=(\S+)/.exec(job)?.[1]);
    const isInside = (job: string) => valueIn(job) < 0.6 && job.endsWith("y=0");
    const inside = first.ran.filter(isInside);
    expect(inside.length).toBeGreaterThan(0);
    expect(inside.length).toBeLessThan(8);
    const best = /best_value: (\S+)/.exec(results())?.[1];
    const changed = await play("--resume", "s", "x=interval(0,0.6)", "y=0,2");
    expect(changed.exitCode).toBe(0);
    // Those inside count among the trials.
    expect(changed.ran).toHaveLength(8 - inside.length);
    for (const job of changed.ran) expect(valueIn(job)).toBeLessThan(0.6);
    const outside = 8 - inside.length;
    expect(changed.log).toMatch(
      new RegExp(`${outside} jobs? of this sweep .* (?:its|their) results? do(?:es)? not count: #`),
    );
    expect(changed.log).toMatch(/Best of 8 trials: /);
    // The best of the smaller space is that of the results in it, or a better one.
    const insideBest = Math.min(...inside.map((job) => (valueIn(job) - 0.3) ** 2));
    const now = Number(/best_value: (\S+)/.exec(results())?.[1]);
    expect(now).toBeLessThanOrEqual(insideBest);
    const isWorse = now > Number(best);
    expect(changed.log.includes("is worse than that of the earlier")).toBe(isWorse);
    expect(existsSync(join(cwd, "s/optimization_results.yaml.before"))).toBe(isWorse);
    // A later resumption asks for the same jobs.
    const again = await play("--resume", "s");
    expect([again.exitCode, again.ran]).toEqual([0, []]);
    expect(again.log).not.toContain("do not count");
    const more = await play("--resume", "s", "hydra.sweeper.n_trials=+3");
    expect(more.ran).toHaveLength(3);
    expect(rows()).toHaveLength(8 + changed.ran.length + 3);
    const { jobs } = readManifest(sweepFolder(join(cwd, "s")));
    expect(jobs.filter(({ left_out }) => left_out === true)).toHaveLength(outside);
  },
);

test.each(SWEEPERS)(
  "of a %s search (%s, %s) pruned jobs in a changed space count among its trials, and others stay in the table",
  async (name, ...settings) => {
    const { cwd, run } = program(CONFIG);
    const ran: { readonly x: number; readonly isPruned: boolean }[] = [];
    const play = async (...argv: readonly string[]) => {
      ran.length = 0;
      const outcome = await run(argv, (config) => {
        const [x, y] = [Number(config.get("x")), config.get("y")];
        ran.push({ x, isPruned: y === 1 });
        return y === 1 ? endedFromOutside({ by: "pruner", step: 3 }) : x;
      });
      return { ...outcome, log: `${outcome.stdout}${outcome.stderr}`, ran: [...ran] };
    };
    const sweeper = [`hydra/sweeper=${name}`, ...settings];
    const first = await play("-m", ...sweeper, "x=interval(0,1)", "y=0,1");
    expect(first.exitCode).toBe(0);
    const inside = first.ran.filter(({ x }) => x < 0.5);
    const outside = first.ran.filter(({ x }) => x >= 0.5);
    for (const some of [inside, outside]) expect(some.some(({ isPruned }) => isPruned)).toBe(true);
    const changed = await play("--resume", "s", "x=interval(0,0.5)");
    expect([changed.exitCode, changed.ran.length]).toEqual([0, 8 - inside.length]);
    expect(changed.log).toContain(
      `${outside.length} jobs of this sweep are none of those that the sweeper asks for now: their results do not count: #`,
    );
    const status = await statusOf(cwd);
    expect(status.match(/\| left_out /g)).toHaveLength(outside.length);
    expect(status).toMatch(
      new RegExp(`; ${outside.length} of these do not count \\(left_out\\)\n`),
    );
    const rows: readonly SweepRow[] = JSON.parse(
      readFileSync(join(cwd, "s/.sweep/sweep.json"), "utf8"),
    ).jobs;
    expect(rows).toHaveLength(8 + outside.length);
    const isLost = ({ left_out, status }: SweepRow) => left_out && status === "pruned";
    expect(rows.filter(isLost)).toHaveLength(outside.filter(({ isPruned }) => isPruned).length);
    expect((await play("--resume", "s")).ran).toEqual([]);
  },
);

test("of a halving in a changed space, jobs that it asks for again keep their results", async () => {
  const { play } = sweeping();
  const halving = [
    "budget_key=epochs",
    "min_budget=1",
    "max_budget=2",
    "eta=2",
    "n_trials=3",
    "seed=1",
  ];
  const first = await play(
    ...["-m", "hydra/sweeper=successive_halving", "x=1,2"],
    ...halving.map((setting) => `hydra.sweeper.${setting}`),
  );
  const changed = await play("--resume", "s", "x=1,3");
  expect(changed.exitCode).toBe(0);
  const texts = (jobs: readonly string[]) => jobs.map((job) => job.replace(/^\d+: /, ""));
  const known = new Set(texts(first.ran));
  expect(texts(changed.ran).filter((job) => job.includes("x=1") && known.has(job))).toEqual([]);
  expect(changed.log).toMatch(/their results do not count: #/);
});
