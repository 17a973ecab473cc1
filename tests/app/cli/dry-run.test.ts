import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { program } from "./program.ts";

const CONFIG = { "conf/config.yaml": "x: 1\nhydra:\n  run: {dir: o}\n  sweep: {dir: s}\n" };

test("one job: its directory, its overrides, its config's fingerprint; nothing is made", async () => {
  const { run, cwd } = program(CONFIG);
  const { exitCode, stdout } = await run(["--dry-run", "x=2"], () => expect.unreachable());
  expect(exitCode).toBe(0);
  expect(stdout).toContain(`One job would run in ${join(cwd, "o")}; nothing was written.\n`);
  expect(stdout).toMatch(/\| x=2 +\| sha256:[0-9a-f]{12} \|\n/);
  expect(readdirSync(cwd)).toEqual(["conf"]);
});

test("jobs stand by their directories inside that of the sweep, as wide as the terminal is", async () => {
  const { run, cwd } = program(CONFIG);
  const wide = await run(["--dry-run", "-m", "x=1,2"]);
  expect(wide.stdout).toContain(`2 jobs would run in ${join(cwd, "s")}; nothing was written.\n`);
  expect(wide.stdout).toMatch(/^\| 1 \| 1 +\| x=2 +\| sha256:[0-9a-f]{12} \|$/m);
  const outside = await run([
    "--dry-run",
    "-m",
    "x=1,2",
    "hydra.sweep.subdir=../t/${hydra.job.num}",
  ]);
  expect(outside.stdout).toContain(`| 1 | ${join(cwd, "t/1")} |`);
  const long = ["--dry-run", "-m", `x=1,${"9".repeat(100)}`];
  const narrow = await run(long, undefined, {}, { stdoutWidth: 60 });
  const lines = narrow.stdout.split("\n").slice(1);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
  expect(narrow.stdout).toContain("…");
});

test("what planning itself writes is named, once", async () => {
  const planJob = async () => ({ text: "./train\n", data: [], written: "the recorder, in build" });
  const { run, cwd } = program(CONFIG, { planJob });
  const { stdout } = await run(["--dry-run", "-m", "x=1,2"], () => expect.unreachable());
  expect(stdout).toContain(
    `2 jobs would run in ${join(cwd, "s")}; nothing was written but the recorder, in build.\n`,
  );
});

test("all jobs of a sweep, as JSON; equal configs have equal fingerprints", async () => {
  const { run, cwd } = program(CONFIG);
  const { stdout } = await run(["--dry-run", "-m", "x=1,2,1", "--json"], () =>
    expect.unreachable(),
  );
  const { directory, jobs, mode } = JSON.parse(stdout);
  expect([mode, directory]).toEqual(["multirun", join(cwd, "s")]);
  expect(jobs).toMatchObject(
    [1, 2, 1].map((x, number) => ({
      number,
      overrides: [`x=${x}`],
      directory: join(cwd, "s", String(number)),
    })),
  );
  expect(jobs[0].fingerprint).toBe(jobs[2].fingerprint);
  expect(jobs[0].fingerprint).not.toBe(jobs[1].fingerprint);
  expect(readdirSync(cwd)).toEqual(["conf"]);
});

test("says why a config does not resolve", async () => {
  const { run } = program({
    "conf/config.yaml": "x: 1\ny: ${oc.env:NO_SUCH_VARIABLE}\nhydra:\n  sweep: {dir: s}\n",
  });
  const { stdout } = await run(["--dry-run", "-m", "x=1,2"]);
  expect(stdout).toContain(
    "\nJob #0 (and 1 other job) does not resolve: Resolver 'oc.env' failed: ",
  );
  expect(stdout).toMatch(/'NO_SUCH_VARIABLE' not found.*Hint: .+\n$/);
});

test("says what a run would refuse", async () => {
  const { run } = program(CONFIG, { schema: { properties: { x: { maximum: 1 } } } });
  const { exitCode, stderr, stdout } = await run(["--dry-run", "-m", "x=1,2"]);
  expect([exitCode, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("Job #1 (x=2):\n");
  const json = await run(["--dry-run", "-m", "x=1,2", "--json"]);
  expect([json.exitCode, json.stderr]).toEqual([1, stderr]);
  expect(JSON.parse(json.stdout)).toEqual({
    version: 1,
    error: { code: "schema.mismatch", message: stderr.trimEnd() },
  });
  expect((await run(["--dry-run", "--cfg", "job"])).exitCode).toBe(1);
});

test("the layout does not depend on the length of a secret", async () => {
  const schema = { properties: { token: { type: "string", writeOnly: true } } };
  const { run } = program(
    { "conf/config.yaml": "token: none\nx: 1\nhydra: {run: {dir: o}, sweep: {dir: s}}\n" },
    { schema },
  );
  const shown = async (token: string) => {
    const { stdout } = await run(["--dry-run", "-m", `token=${token}`, "x=1,2"]);
    expect(stdout).not.toContain(token);
    return stdout.replaceAll(/sha256:\w+/g, "");
  };
  expect(await shown("s3cr3t")).toBe(await shown(`s3cr3t-${"0123456789".repeat(9)}`));
  const lines = (await shown("s3cr3t-of-some-length"))
    .split("\n")
    .filter((line) => /^[|-]/.test(line));
  expect(lines.length).toBeGreaterThan(4);
});

test("of a resumed sweep it shows the jobs that would run, and changes nothing", async () => {
  const { cwd, run } = program({
    "conf/config.yaml": "x: 1\nhydra: {sweep: {dir: s, subdir: '${hydra:job.num}'}}\n",
  });
  await run(["-m", "x=1,2,3"], (config) => {
    if (config.get("x") === 2) throw new Error("boom");
  });
  const files = () => readdirSync(join(cwd, "s"), { recursive: true, encoding: "utf8" }).sort();
  const before = files();
  const shown = async (...argv: readonly string[]) => {
    const { exitCode, stderr, stdout } = await run([...argv, "--dry-run", "--json"], () =>
      expect.unreachable(),
    );
    expect([exitCode, stderr]).toEqual([0, ""]);
    return JSON.parse(stdout).jobs.map(({ number }: { readonly number: number }) => number);
  };
  expect(await shown("--resume", "s")).toEqual([]);
  expect(await shown("--retry-failed", "s")).toEqual([1]);
  expect(files()).toEqual(before);
  const table = await run(["--retry-failed", "s", "--dry-run"], () => expect.unreachable());
  expect(table.stdout).toMatch(/^1 job would run in .*\/s; nothing was written\.\n/);
  const ran: (number | undefined)[] = [];
  await run(["--retry-failed", "s"], (_, { number }) => void ran.push(number));
  expect(ran).toEqual([1]);
});
