import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../../wait.ts";
import { workplace } from "./program/start.ts";

test.each([
  [["--accept-changes"], "argument --accept-changes: it goes with --resume DIR"],
  [
    ["--resume", "s", "--retry-failed", "t"],
    "argument --retry-failed: it must name the same sweep",
  ],
  [["--resume", "s", "x=3"], "'x=3' cannot be given here: a sweep goes on with the overrides"],
])("%j is a wrong command line", async (argv, message) => {
  const place = workplace();
  await place.start(["-m", "x=1"]);
  const { exitCode, stderr } = await place.start(argv);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`prog: error: ${message}`)]);
  expect(place.ran("begin")).toEqual([0]);
});

test("with another launcher than it began with, a sweep leaves the settings of that one behind", async () => {
  const place = workplace();
  const began = [
    "hydra/launcher=local",
    "hydra.launcher.n_jobs=1",
    "+hydra.launcher.resources.gpu=[7]",
  ];
  const first = await place.start(["-m", "x=1", "do=flaky", "seconds=0", ...began, "--", "a"]);
  expect(first.exitCode).toBe(1);
  const again = await place.start(["--retry-failed", "s", "hydra/launcher=local"]);
  expect(place.lines("ran.txt").at(-1)).toMatch(/^begin 0 \d+ 7 /);
  expect(again.exitCode).toBe(1);
  const other = await place.start(["--retry-failed", "s", "hydra/launcher=basic"]);
  expect([other.exitCode, other.stderr]).toEqual([0, ""]);
  expect(place.lines("ran.txt").at(-1)).toMatch(/^end 0 \d+ - /);
  expect(place.state(0)).toMatchObject({ return_value: { rest: ["a"] } });
});

test("so it does where the config chose the launcher, and keeps them for that one", async () => {
  const config = `defaults:
  - override hydra/launcher: local
  - _self_
x: 1
do: ok
seconds: 0
hydra: {sweep: {dir: s, subdir: "\${hydra:job.num}"}}
`;
  const place = workplace(config);
  const gpu = "+hydra.launcher.resources.gpu=[7]";
  expect((await place.start(["-m", "x=1", "do=flaky", gpu])).exitCode).toBe(1);
  await place.start(["--retry-failed", "s", "hydra/launcher=local"]);
  expect(place.ran("begin")).toEqual([0, 0]);
  expect(place.lines("ran.txt").at(-1)).toMatch(/^begin 0 \d+ 7 /);
  const basic = await place.start(["--retry-failed", "s", "hydra/launcher=basic"]);
  expect([basic.exitCode, basic.stderr]).toEqual([0, ""]);
  expect(place.lines("ran.txt").at(-1)).toMatch(/^end 0 \d+ - /);
});

test("a sweep that runs is named, with what to do about it", async () => {
  const place = workplace();
  const running = place.start(["-m", "x=1", "do=hold"]);
  await until(() => place.ran("begin").length === 1);
  const { exitCode, stderr } = await place.start(["--resume", "s"]);
  const directory = join(place.cwd, "s");
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining(`The sweep in '${directory}' is being run by process ${running.pid}`),
  ]);
  expect(stderr).toContain(`'hydraconf sweep wait ${directory}' waits for it`);
  place.release();
  expect((await running).exitCode).toBe(0);
});

test("a sweep that is not there is named as it was looked for", async () => {
  const place = workplace();
  const none = mkdtempSync(join(tmpdir(), "hydraconf-none-"));
  const { exitCode, stderr } = await place.start(["--resume", none]);
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining(`There is no sweep in '${none}'`),
  ]);
});
