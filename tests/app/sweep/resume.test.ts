import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readManifest } from "../../../src/app/record/manifest.ts";
import { until } from "../../wait.ts";
import { program } from "../cli/program.ts";
import { changeManifest } from "../record/written.ts";
import { workplace } from "./program/start.ts";

test.each([
  [["--accept-changes"], "argument --accept-changes: only allowed with --resume DIR"],
  [
    ["--resume", "s", "--retry-failed", "t"],
    "argument --retry-failed: it must name the same sweep",
  ],
  [
    ["--retry-failed", "s", "--cfg", "job"],
    "argument --cfg: not allowed with argument --retry-failed",
  ],
  [["--resume", "s", "--info"], "argument --info: not allowed with argument --resume"],
  [["--resume", "s", "x=3"], "'x=3' cannot be given here: a resumed sweep keeps its overrides"],
])("%j is a wrong command line", async (argv, message) => {
  const place = workplace();
  await place.start(["-m", "x=1"]);
  const { exitCode, stderr } = await place.start(argv);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`prog: error: ${message}`)]);
  expect(place.ran("begin")).toEqual([0]);
});

test("who asks for help beside a sweep to resume gets help, and nothing runs", async () => {
  const place = workplace();
  await place.start(["-m", "x=1", "do=flaky"]);
  const { exitCode, stdout } = await place.start(["--retry-failed", "s", "--help"]);
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining("== Config ==")]);
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

test.each([
  ["hydra/launcher=local", "kept"],
  ["hydra/launcher=joblib", "left behind"],
])(
  "where no option of hydra/launcher was chosen, the class counts, and with %s its settings are %s",
  async (choice, settings) => {
    const files = {
      "conf/config.yaml": `defaults: [{override hydra/launcher: local}, _self_]\n${CONFIG}`,
    };
    const { cwd, run } = program(files);
    const folder = join(cwd, "s/.sweep");
    await run(["-m", "x=1", "hydra/launcher=basic"]);
    changeManifest(folder, (manifest) => {
      const argv = ["-m", "x=1", "+hydra.launcher.resources.gpu=[7,7]"];
      manifest["launcher_choice"] = null;
      manifest["launcher"] = "hydraconf.LocalLauncher";
      manifest["program"] = { ...readManifest(folder).program, argv };
    });
    const { exitCode, stderr } = await run(["--resume", "s", choice]);
    const isKept = stderr.includes("a list without repetitions");
    expect([exitCode, isKept]).toEqual(settings === "kept" ? [1, true] : [0, false]);
  },
);

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

test("a sweep of many batches writes each job once: others are added behind it", async () => {
  const { cwd, run } = program({ "conf/config.yaml": CONFIG });
  const folder = join(cwd, "s/.sweep");
  const seen: string[] = [];
  await run(["-m", "x=1,2,3", "hydra.sweeper.max_batch_size=1"], () => {
    const [list = ""] = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
    const text = readFileSync(join(folder, list), "utf8");
    expect(text.startsWith(seen.at(-1) ?? "")).toBe(true);
    expect(readManifest(folder).jobs).toHaveLength(seen.push(text));
  });
  expect(seen.map((text) => text.split("\n").length - 1)).toEqual([1, 2, 3]);
});

test("what only a later batch shows to be a secret is masked in what was written before", async () => {
  const files = {
    "conf/config.yaml": "defaults: [db: open, _self_]\nx: 1\nhydra: {sweep: {dir: s}}\n",
    "conf/db/open.yaml": "password: null\n",
    "conf/db/closed.yaml": "password: sesame-sesame\n",
  };
  const password = { type: ["string", "null"], writeOnly: true };
  const schema = { properties: { db: { properties: { password } } } };
  const { cwd, run } = program(files, { schema });
  const argv = ["-m", "+name=sesame-sesame", "db=open,closed", "hydra.sweeper.max_batch_size=1"];
  expect((await run(argv)).exitCode).toBe(0);
  const folder = join(cwd, "s/.sweep");
  expect(readManifest(folder).holds_secrets).toBe(true);
  for (const name of readdirSync(folder).filter((one) => one.startsWith("manifest")))
    expect(readFileSync(join(folder, name), "utf8")).not.toContain("sesame");
});

test("that is so before the batch runs, also where another secret was known from the start", async () => {
  const files = {
    "conf/config.yaml": "defaults: [db: open, _self_]\nhydra: {sweep: {dir: s}}\n",
    "conf/db/open.yaml": "password: null\ntoken: null\n",
    "conf/db/closed.yaml": "password: sesame-sesame\ntoken: null\n",
  };
  const secret = { type: ["string", "null"], writeOnly: true };
  const schema = { properties: { db: { properties: { password: secret, token: secret } } } };
  const { cwd, run } = program(files, { schema });
  const folder = join(cwd, "s/.sweep");
  const known: boolean[] = [];
  const names = ["+name=sesame-sesame", "db.token=opaque-opaque"];
  await run(["-m", ...names, "db=open,closed", "hydra.sweeper.max_batch_size=1"], () => {
    const texts = readdirSync(folder).filter((name) => name.startsWith("manifest"));
    const text = texts.map((name) => readFileSync(join(folder, name), "utf8")).join();
    expect(text).not.toContain("opaque");
    known.push(text.includes("sesame"));
  });
  expect(known).toEqual([true, false]);
});

const CONFIG = "x: 1\nhydra: {sweep: {dir: s, subdir: '${hydra:job.num}'}}\n";
