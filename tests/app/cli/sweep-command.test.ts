import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { runSweepCommand } from "../../../src/app/cli/sweep-command.ts";
import { durationText } from "../../../src/app/sweep/tally.ts";
import { workplace } from "../sweep/program/start.ts";
import { program } from "./program.ts";

const CONFIG = {
  "conf/config.yaml": "x: 1\nhydra: {sweep: {dir: s, subdir: '${hydra:job.num}'}}\n",
};

const WAITING = { timeout: 30_000 };

const command = (cwd: string, ...args: readonly string[]) => commandOn({}, cwd, ...args);

/** @param terminal what the terminal says of itself */
async function commandOn(
  terminal: { readonly stdoutWidth?: number },
  cwd: string,
  ...args: readonly string[]
) {
  let stdout = "";
  const console = {
    ...terminal,
    stdout: (text: string) => {
      stdout += text;
    },
    stderr: () => {},
  };
  const code = await runSweepCommand(args, { argv: [], env: {}, cwd, now: new Date(), console });
  return { code, stdout };
}

test("status and collect tell what a sweep came to", async () => {
  const { cwd, run } = program(CONFIG);
  await run(["-m", "x=1,2", "+y=a"], (config) => {
    if (config.get("x") === 2) throw new Error('boom, "twice"\nmore');
    return { loss: 0.5, big: 12345678901234567890n };
  });
  const { code, stdout } = await command(cwd, "status", "s");
  expect(code).toBe(1);
  expect(stdout).toContain("1 of 2 jobs completed, 1 failed\n  prog --retry-failed ");
  expect(stdout).toContain('boom, "twice"');
  expect((await command(cwd, "collect", "s")).code).toBe(0);
  const { jobs } = JSON.parse(readFileSync(join(cwd, "s/sweep.json"), "utf8"));
  expect(jobs).toMatchObject([
    { number: 0, swept: { x: 1, y: "a" }, status: "completed", result: { loss: 0.5 } },
    { number: 1, swept: { x: 2, y: "a" }, status: "failed", error: 'boom, "twice"' },
  ]);
  const [head, first, second] = readFileSync(join(cwd, "s/sweep.csv"), "utf8").split("\n");
  expect(head).toBe("job,x,y,status,attempts,seconds,loss,big,error,output_dir");
  expect(first).toMatch(/^0,1,a,completed,1,[\d.e-]+,0\.5,12345678901234567890,,/);
  expect(second).toMatch(/^1,2,a,failed,1,[\d.e-]+,,,"boom, ""twice""",/);
  expect(readFileSync(join(cwd, "s/sweep.md"), "utf8")).toContain("| 0 | 1 | a | completed |");
});

test("wait writes the tables if no launcher has, except for Hydra's own launcher", async () => {
  const place = workplace();
  await place.start(["-m", "x=1,2", "hydra/launcher=local"]);
  const file = join(place.cwd, "s/sweep.json");
  const written = readFileSync(file, "utf8");
  rmSync(file);
  expect((await command(place.cwd, "wait", "s")).code).toBe(0);
  expect(readFileSync(file, "utf8")).toBe(written);
  const { cwd, run } = program(CONFIG);
  await run(["-m", "x=1,2"]);
  expect((await command(cwd, "wait", "s")).code).toBe(0);
  expect(existsSync(join(cwd, "s/sweep.json"))).toBe(false);
});

test("a sweep that was stopped has the same words in its table and in its status; what runs has its seconds", async () => {
  const place = workplace();
  const sweep = ["-m", "x=1,2,3", "do=hold", "hydra/launcher=local", "hydra.launcher.n_jobs=1"];
  const launcher = place.start(sweep);
  await vi.waitFor(() => expect(place.ran("begin")).toEqual([0]), WAITING);
  const view = async () =>
    JSON.parse(String((await place.sweep(["status", "--json", "s"])).stdout)).jobs;
  const words = (jobs: readonly { readonly status: string }[]) => jobs.map(({ status }) => status);
  const running = await view();
  expect(words(running)).toEqual(["running", "queued", "queued"]);
  expect(running[0].seconds).toBeGreaterThan(0);
  expect((await place.sweep(["status", "s"])).stdout).toMatch(
    /^\| 0 +\| x=1 +\| running +\| 1 +\| \d+\.\d /m,
  );
  launcher.kill("SIGTERM");
  await launcher;
  const stopped = ["stopped", "missing", "missing"];
  expect(words(await view())).toEqual(stopped);
  const table = JSON.parse(readFileSync(join(place.cwd, "s/sweep.json"), "utf8"));
  expect(words(table.jobs)).toEqual(stopped);
});

test("refuses what is no sweep, and wrong words", async () => {
  const { cwd } = program(CONFIG);
  await expect(command(cwd, "status", "nowhere")).rejects.toThrow("There is no sweep");
  await expect(command(cwd, "statu", "s")).rejects.toThrow("expected an action");
  await expect(command(cwd, "status", "--json=no", "s")).rejects.toThrow("--json takes no value");
  expect((await command(cwd, "--help")).stdout).toContain("hydraconf sweep collect DIR");
});

test("of more than 50 jobs status shows those that failed, and as many of them as fit", async () => {
  const { cwd, run } = program(CONFIG);
  await run(["-m", "x=range(0,60)"], (config) => {
    if (Number(config.get("x")) < 30) throw new Error("boom");
  });
  const { stdout } = await command(cwd, "status", "s");
  expect(stdout.match(/^\| \d+ /gm)).toHaveLength(20);
  expect(stdout).toContain("and 10 more\n30 of 60 jobs completed, 30 failed\n");
  expect(stdout).toContain(`hydraconf sweep status ${join(cwd, "s")} --all`);
  const rows = async (...args: readonly string[]) =>
    (await command(cwd, "status", "s", ...args)).stdout.match(/^\| \d+ /gm)?.length;
  expect(await rows("--all")).toBe(60);
  expect(await rows("--only", "failed,running")).toBe(30);
  const told = JSON.parse((await command(cwd, "status", "s", "--json", "--only=completed")).stdout);
  expect([told.jobs.length, told.counts]).toEqual([30, { completed: 30, failed: 30 }]);
});

test("swept values have their types, as results have", async () => {
  const { cwd, run } = program({
    "conf/config.yaml": "x: 1\nhydra: {sweep: {dir: s, subdir: '${hydra:job.num}'}}\n",
    "conf/model/a.yaml": "n: 1\n",
  });
  const values = {
    x: ["1.5", 1.5],
    "+flag": ["true", true],
    "+list": ["[1,'a b']", [1, "a b"]],
    "+map": ["{k:{n:null}}", { k: { n: null } }],
    "+text": ["'1'", "1"],
    "+none": ["null", null],
    "+big": ["12345678901234567890", "12345678901234567890"],
    "+open": ["inf", "Infinity"],
    "+model": ["a", "a"],
    "+empty": ["", ""],
  } as const;
  const given = Object.entries(values).map(([key, [text]]) => `${key}=${text}`);
  await run(["-m", ...given], () => ({ loss: 1.5 }));
  const swept = Object.fromEntries(
    Object.entries(values).map(([key, [, value]]) => [key.replace("+", ""), value]),
  );
  await command(cwd, "collect", "s");
  const { jobs } = JSON.parse(readFileSync(join(cwd, "s/sweep.json"), "utf8"));
  expect(jobs[0].swept).toEqual(swept);
  const view = JSON.parse((await command(cwd, "status", "s", "--json")).stdout);
  expect(view.jobs[0].swept).toEqual(swept);
  const csv = readFileSync(join(cwd, "s/sweep.csv"), "utf8").split("\n");
  expect(csv[0]).toMatch(/^job,x,flag,list,map,text,none,big,open,model,empty,status,/);
  expect(csv[1]).toMatch(
    /^0,1\.5,true,"\[1,""a b""\]","\{""k"":\{""n"":null\}\}",1,,12345678901234567890,Infinity,a,,completed,/,
  );
});

test("the table of status fits the terminal, and is whole elsewhere", async () => {
  const { cwd, run } = program(CONFIG);
  const name = "n".repeat(90);
  await run(["-m", "x=1,2", `+name=${name},b`], () => {
    throw new Error(`boom ${"e".repeat(200)}`);
  });
  for (const stdoutWidth of [60, 80, 120]) {
    const { stdout } = await commandOn({ stdoutWidth }, cwd, "status", "s");
    const lines = stdout.split("\n").filter((line) => /^[|-]/.test(line));
    expect(lines).toHaveLength(7);
    expect(lines.map(({ length }) => length)).toEqual(lines.map(() => lines[0]?.length));
    expect(lines[0]?.length).toBeLessThanOrEqual(stdoutWidth);
    expect(lines[0]).toMatch(/\| Overrides +\| Status +\| Attempts \| Seconds \| Error +\|$/);
    expect(lines[2]).toContain("failed");
  }
  expect((await command(cwd, "status", "s")).stdout).toContain(`name=${name}`);
});

test("the seconds of a failed job are those of its record wherever they are told", async () => {
  const place = workplace();
  const sweep = await place.start(["-m", "x=1,2", "do=flaky", "seconds=0", "hydra/launcher=local"]);
  const { jobs } = JSON.parse(readFileSync(join(place.cwd, "s/sweep.json"), "utf8"));
  for (const { number, seconds, status } of jobs) {
    const told = new RegExp(`^#${number} .*?: ${status} (?:in|after) (.*?) \\(`, "m").exec(
      String(sweep.stderr),
    );
    expect(told?.[1]).toBe(durationText(seconds * 1000));
  }
  expect(jobs.map(({ status }: { readonly status: string }) => status)).toContain("failed");
});
