import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readManifest } from "../../../src/app/record/manifest.ts";
import { until } from "../../wait.ts";
import { workplace } from "../sweep/program/start.ts";
import { program } from "./program.ts";

const FILES = {
  "conf/config.yaml": "defaults:\n  - _self_\n  - db: my\n",
  "conf/db/my.yaml": "# @package _group_\nport: 1\n",
};
const CHOOSES = { choosesDialect: true, whenBare: "show" } as const;
const NOTE =
  "note: in 'db/my', '# @package _group_' is a package of that name: _group_ stands for the config's group " +
  "only in Hydra 1.1 (version_base, --version-base)\n";

test("--version-base chooses how a tree is read; a keyword that is none any more gets a note", async () => {
  const { run } = program(FILES, CHOOSES);
  const legacy = await run(["--version-base", "1.1"]);
  expect(legacy.stdout).toBe("db:\n  port: 1\n");
  expect(legacy.stderr).toContain("Hydra 1.1 compatibility behavior");
  expect(legacy.stderr).toContain("deprecated keyword in package header");
  for (const argv of [[], ["--version-base=1.3"], ["--version-base", "1.2"]]) {
    const { stderr, stdout } = await run(argv);
    expect([stdout, stderr]).toEqual(["_group_:\n  port: 1\n", NOTE]);
  }
});

test("a program behaves as the version that it declares, and takes no flag for it", async () => {
  const { run } = program(FILES, { versionBase: "1.1", whenBare: "show" });
  expect((await run([])).stdout).toBe("db:\n  port: 1\n");
  const { exitCode, stderr } = await run(["--version-base", "1.3"]);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--version-base")]);
});

test("another value is a wrong command line", async () => {
  const { run } = program(FILES, CHOOSES);
  const { exitCode, stderr } = await run(["--version-base", "1.0"]);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(
    /: error: argument --version-base: invalid choice: '1\.0' \(choose from '1\.1', '1\.2', '1\.3', '1\.4'\)\n$/,
  );
});

test("--version, --hydra-help and --info fit the dialect", async () => {
  const { run } = program(FILES, CHOOSES);
  const version = async (base: string) => (await run(["--version-base", base, "--version"])).stdout;
  expect(await version("1.1")).toMatch(
    /\(hydraconf \S+, Hydra 1\.3\.5 with version_base 1\.1\)\n$/,
  );
  expect(await version("1.3")).toMatch(/, Hydra 1\.3\.5\)\n$/);
  expect((await run(["--hydra-help"])).stdout).toContain("--version-base");
  const info = await run(["--version-base", "1.1", "--info", "defaults"]);
  expect(info.stdout).toMatch(/\| db\/my +\| db +\|/);
});

test("in 1.1 a program that names no directory has its configs beside it", async () => {
  const { run } = program(
    { "config.yaml": "a: 1\n" },
    { versionBase: "1.1", whenBare: "show", configPath: undefined as never },
  );
  expect((await run([])).stdout).toBe("a: 1\n");
});

test("a completed line is read in the dialect that it names", async () => {
  const { run } = program({ ...FILES, "conf/db/old.yml": "port: 2\n" }, CHOOSES);
  const offered = async (base: string) =>
    (await run(["-sc", "query=fish", "--", "--version-base", base, "db="])).stdout;
  expect(await offered("1.1")).toContain("old");
  expect(await offered("1.3")).not.toContain("old");
});

test("in 1.4 dashes end no flags before an override, and all behind one", async () => {
  const { run } = program({ "conf/config.yaml": "x: 1\n" }, { dialect: "1.4", whenBare: "show" });
  expect((await run(["--", "--cfg", "job", "x=2"])).stdout).toBe("x: 2\n");
  const { exitCode, stderr } = await run(["x=2", "--", "--cfg", "job"]);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("'--cfg'")]);
});

test("a sweep, its workers and what resumes it behave alike", async () => {
  const place = workplace(`x: 1
do: ok
seconds: 0
hydra:
  sweep: {dir: s, subdir: "\${hydra:job.num}"}
defaults:
  - _self_
  - hydra/launcher: local
`);
  const argv = ["-m", "--version-base", "1.1", "x=1,2", "do=flaky"];
  const first = await place.start(argv);
  expect(first.stderr).toContain("Invalid overriding of hydra/launcher");
  expect(readManifest(place.folder).dialect).toBe("1.1");
  await place.start(["--retry-failed", "s"]);
  const again = await place.start(["--retry-failed", "s"]);
  expect(again.exitCode, String(again.stderr)).toBe(0);
  for (const job of ["0", "1"]) {
    const saved = readFileSync(join(place.cwd, "s", job, ".hydra/hydra.yaml"), "utf8");
    expect(saved).toContain("version_base: '1.1'\n");
    expect(saved).toContain("hydra/launcher: local\n");
  }
  const other = await place.start(["--resume", "s", "--version-base", "1.3"]);
  expect([other.exitCode, other.stderr]).toEqual([
    2,
    expect.stringContaining("argument --version-base: not allowed with argument --resume"),
  ]);
});

const TELLING = `x: 1
do: hold
seconds: 0
hydra:
  run: {dir: r}
  sweep: {dir: s, subdir: "\${hydra:job.num}"}
  callbacks: {tell: {_target_: prog.TellEnds}}
`;

test.each([
  ["1.4", [], ["job ends failed 130", "run ends failed"]],
  // Hydra tells of no end of the sweep, and the other job does not start.
  ["1.4", ["-m", "x=1,2"], ["job ends failed 130"]],
  ["1.3", [], []],
  ["1.3", ["-m", "x=1,2"], []],
] as const)("in %s Ctrl-C tells callbacks of the ends, %j", async (dialect, argv, told) => {
  const place = workplace(TELLING);
  const running = place.start(["--version-base", dialect, ...argv]);
  await until(() => place.lines("ran.txt").length > 0);
  running.kill("SIGINT");
  const { signal, stderr } = await running;
  expect([signal, stderr]).toEqual(["SIGINT", ""]);
  expect(place.lines("ran.txt").slice(1)).toEqual(told);
});

test("what listens to Ctrl-C itself ends in its own way", async () => {
  const place = workplace(`${TELLING}`.replace("do: hold", "do: interruptible"));
  const running = place.start(["--version-base", "1.4"]);
  await until(() => place.lines("ran.txt").length > 0);
  running.kill("SIGINT");
  expect((await running).exitCode).toBe(0);
  expect(place.lines("ran.txt").slice(1)).toEqual(["job ends completed 0", "run ends completed"]);
});

test.each([
  ["config.yml", ", or name it with its ending in Hydra 1.1 (--version-base 1.1)"],
  ["config.json", ""],
])("where the primary config is %s, its error says so", async (file, more) => {
  const { run } = program({ [`conf/${file}`]: "{}\n", "conf/db/my.yaml": "port: 1\n" }, CHOOSES);
  const { exitCode, stderr } = await run([]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    `conf/${file} is there, but configs are .yaml files: rename it${more}\n`,
  );
});

test("an option that only a Python program has is said to be one, with what can be done", async () => {
  const files = {
    "conf/config.yaml": "defaults:\n  - db: base_mysql\n  - _self_\n",
    "conf/db/pg.yaml": "port: 1\n",
  };
  const { stderr } = await program(files, CHOOSES).run([]);
  expect(stderr).toContain("Could not find 'db/base_mysql'");
  expect(stderr).toContain("a Python program may register it in its ConfigStore: read that with");
});
