/** `deep-profile report DIR` of a sweep: its jobs' reports side by side. */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { callCommand } from "../called-command.ts";
import { availableClients, buildFixture } from "../native/fixtures.ts";
import { readBundle, temporaryDirectory } from "./command.ts";

const here = temporaryDirectory();
afterAll(here.remove);
const inHere = (...names: readonly string[]) => join(here.path, ...names);
const profile = (args: readonly string[]) => callCommand("deep-profile", args, { cwd: here.path });
const clients = availableClients("throughput by an argument of a program");
const report = (...args: readonly string[]) => profile(["report", ...args]);

describe("the report of a sweep", () => {
  it("is made from the reports of its jobs", async () => {
    const { code, stdout: shown } = await profile([
      ...["-m", "infer.batch_size=1,2", "infer.iterations=1", "infer.warmup=0", "device=cpu"],
      "hydra.sweep.dir=sweep",
    ]);
    expect(code).toBe(0);
    expect(shown).toMatch(/\n#1 +2 +[\d.]+ {2}sweep\/1\/report\.md\nRegions by jobs, /);
    // A line for each job while it goes: its report has the tables.
    expect(shown).not.toContain("recorded by");
    expect(shown).not.toMatch(/^Region /m);
    const table = JSON.parse(readFileSync(inHere("sweep/sweep.json"), "utf8"));
    const [second] = readBundle(inHere("sweep/1")).reports;
    expect(table.jobs[1]).toMatchObject({
      swept: { "infer.batch_size": 2 },
      result: {
        collector: "recorder",
        total_ms: second?.totals.total_ms,
        regions: { residual: { invocations: 1 } },
      },
    });
    mkdirSync(inHere("sweep/2"));
    const overrides = readFileSync(inHere("sweep/0/overrides.yaml"), "utf8");
    writeFileSync(
      inHere("sweep/2/overrides.yaml"),
      overrides.replace("batch_size=1", "batch_size=4"),
    );
    mkdirSync(inHere("sweep/notes"));
    const { code: reported, stdout } = await report("sweep");
    expect(reported).toBe(0);
    expect(stdout).toContain("3 jobs, collector recorder");
    expect(stdout).toContain("1 of 3 jobs has no time: 2");
    const sweep = JSON.parse(readFileSync(inHere("sweep/sweep-report.json"), "utf8"));
    expect(sweep).toMatchObject({
      contract: "hydraconf.sweep-report/1.4",
      parameters: [{ key: "infer.batch_size", numeric: true }],
    });
    const [job] = readBundle(inHere("sweep/1")).reports;
    const { page } = sweep.jobs[1];
    expect(page).toBe("1/recorder/regions/report.html");
    expect(existsSync(inHere(`sweep/${page}`))).toBe(true);
    expect(readFileSync(inHere("sweep/sweep-report.md"), "utf8")).toContain(`](${page})`);
    expect(sweep.jobs[1].total_ms).toBe(job?.totals.total_ms);
    expect(sweep.regions.map(({ path }: { path: string[] }) => path)).toEqual(
      job?.regions.map(({ path }) => path),
    );
    for (const form of ["md", "html", "csv"])
      expect(existsSync(inHere(`sweep/sweep-report.${form}`))).toBe(true);
    const work = await report("sweep", "--work", "images=infer.batch_size*infer.iterations");
    expect(work.stdout).toMatch(/From [\d.,]+ images\/s, job \d .*single runs do not tell/);
    const { jobs } = JSON.parse(readFileSync(inHere("sweep/sweep-report.json"), "utf8"));
    expect(jobs[1].per_second).toBeCloseTo(2000 / (job?.totals.wall_ms ?? 0), 6);
    const refused = await report("sweep", "--work", "images=infer.batchsize");
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining("--work: 'infer.batchsize' is a number in the config of no job"),
    ]);
    expect((await report("sweep", "--work", "images")).code).toBe(2);
    expect((await report("sweep/1", "--work", "images=1")).code).toBe(2);
    expect((await report("sweep", "--collector", "ncu")).stderr).toContain("has a report of ncu");
    expect((await report("sweep/1", "--collector", "ncu")).code).toBe(2);
  });

  it.skipIf(clients.length === 0)(
    "counts work by an argument of the program, as the sweep of the documentation sets it",
    async () => {
      const program = await buildFixture("some_work.cc", "own client");
      const { code, stderr } = await profile([
        ...["-m", "workload=command", "repeats=3", "hydra.sweep.dir=commands"],
        `workload.command=[${program},'1',fp32]`,
        "workload.command.1='1','2'",
        "workload.command.2=fp32",
      ]);
      expect(code, stderr).toBe(0);
      const { stdout } = await report("commands", "--work", "images=workload.command.1*10");
      expect(stdout).toMatch(
        /Job \d \(.*\) did the most images per second, [\d,.]+ ±[\d,.]+ images\/s; job \d /,
      );
      const { jobs, best } = JSON.parse(readFileSync(inHere("commands/sweep-report.json"), "utf8"));
      for (const [at, amount] of [10, 20].entries())
        expect(jobs[at].per_second).toBeCloseTo((amount / jobs[at].wall_ms) * 1000, 6);
      expect(["0", "1"]).toContain(best);
      const typed = await report("commands", "--work", "images=workload.command.2");
      expect(typed.stderr).toContain("is a number in the config of no job");
    },
  );

  it("names jobs that ran side by side", async () => {
    cpSync(inHere("sweep"), inHere("beside"), { recursive: true });
    const file = (job: number) => inHere(`beside/${job}/run.json`);
    const [first, second] = [0, 1].map((job) => JSON.parse(readFileSync(file(job), "utf8")));
    const note = async () => (await report("beside")).stdout.match(/.*ran while.*/)?.[0];
    expect(Date.parse(first.started)).toBeLessThanOrEqual(Date.parse(first.ended));
    expect(Date.parse(first.ended)).toBeLessThanOrEqual(Date.parse(second.started));
    expect(await note()).toBeUndefined();
    writeFileSync(file(1), JSON.stringify({ ...second, started: first.started }));
    expect(await note()).toContain("jobs 0 and 1 ran while another job of the sweep did");
  });

  it("compares no times of a job whose program failed, nor one whose record is broken", async () => {
    cpSync(inHere("sweep"), inHere("failed-sweep"), { recursive: true });
    const file = inHere("failed-sweep/0/run.json");
    const run = JSON.parse(readFileSync(file, "utf8"));
    run.collectors[0].outcome.exitCode = 3;
    writeFileSync(file, JSON.stringify(run));
    writeFileSync(inHere("failed-sweep/2/overrides.yaml"), "[");
    expect((await report("failed-sweep")).code).toBe(0);
    const { jobs, best } = JSON.parse(
      readFileSync(inHere("failed-sweep/sweep-report.json"), "utf8"),
    );
    expect(best).toBeNull();
    expect(jobs[0]).toMatchObject({
      total_ms: null,
      problem: "shallow_resnet ended with exit code 3; what it measured is in its own report",
    });
    expect(jobs[2].problem).toContain("overrides.yaml");
  });
});
