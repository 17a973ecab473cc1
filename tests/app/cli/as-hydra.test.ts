import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { program } from "./program.ts";

const FILES = {
  "conf/config.yaml": "defaults:\n  - db: a\n  - _self_\nx: 1\n",
  "conf/db/a.yaml": "n: a\n",
  "conf/db/b.yaml": "n: b\n",
};

const run = (argv: readonly string[], env: Record<string, string> = {}) =>
  program(FILES).run(argv, undefined, env);

describe("--info", () => {
  test.each(["defaults", "defaults-tree"])(
    "%s composes no values: nothing is wrong with an override of one",
    async (topic) => {
      const { exitCode, stdout, stderr } = await run(["--info", topic, "nope=1", "x=1,2", "db=b"]);
      expect([exitCode, stderr]).toEqual([0, ""]);
      expect(stdout).toMatch(/db(\/|: )b/);
    },
  );

  test("defaults-tree names _self_ below the group that its config was named from", async () => {
    const { run: runNested } = program({
      "conf/config.yaml": "defaults:\n  - model: small\n  - _self_\n",
      "conf/model/small.yaml": "defaults:\n  - base\n  - loss: mse\n  - /device: cpu\n  - _self_\n",
      "conf/model/base.yaml": "defaults:\n  - layers: one\n",
      "conf/model/layers/one.yaml": "n: 1\n",
      "conf/model/loss/mse.yaml": "defaults:\n  - plain\n",
      "conf/model/loss/plain.yaml": "n: 1\n",
      "conf/device/cpu.yaml": "defaults:\n  - plain\n",
      "conf/device/plain.yaml": "n: 1\n",
    });
    const { stdout } = await runNested(["--info", "defaults-tree"]);
    expect(stdout.slice(stdout.indexOf("  config:"))).toBe(
      [
        "  config:",
        "    model: small:",
        "      model/base:",
        "        model/layers: one",
        "        model/_self_",
        "      model/loss: mse:",
        "        model/loss/plain",
        "        model/_self_",
        "      device@model.device: cpu:",
        "        device/plain",
        "        model/_self_",
        "      _self_",
        "    _self_",
        "",
      ].join("\n"),
    );
  });

  test("gives programs the groups, what was chosen of them by the key of the override, and the defaults list", async () => {
    const { run: runPlaced } = program({
      ...FILES,
      "conf/config.yaml": "defaults:\n  - db: a\n  - db@other: a\n  - _self_\nx: 1\n",
    });
    const { exitCode, stdout } = await runPlaced(["--info", "--json", "db=b"]);
    expect(exitCode).toBe(0);
    const facts = JSON.parse(stdout);
    expect(Object.keys(facts)).toEqual(["version", "dialect", "groups", "defaults", "searchpath"]);
    expect(facts.groups).toContainEqual({
      name: "db",
      options: ["a", "b"],
      chosen: { db: "b", "db@other": "a" },
    });
    expect(facts.defaults.slice(-3)).toEqual([
      { config_path: "db/b", package: "db", is_self: false, parent: "config" },
      { config_path: "db/a", package: "other", is_self: false, parent: "config" },
      { config_path: "config", package: "", is_self: true, parent: "<root>" },
    ]);
    expect(facts.searchpath[1]).toMatchObject({ provider: "main" });
    const some = JSON.parse((await runPlaced(["--info", "defaults", "--json"])).stdout);
    expect(Object.keys(some)).toEqual(["version", "dialect", "groups", "defaults"]);
    const refused = await runPlaced(["--info", "plugins", "--json"]);
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining("--info plugins cannot be printed as JSON"),
    ]);
  });

  test("searchpath composes: its title stands before what is wrong", async () => {
    const { exitCode, stdout, stderr } = await run(["--info", "searchpath", "x=1,2"]);
    expect([exitCode, stdout]).toEqual([1, "\nConfig search path\n******************\n"]);
    expect(stderr).toContain("Ambiguous value for argument 'x=1,2'");
  });

  test("plugins are listed whatever the primary config and the overrides are, also where aliases are read from it", async () => {
    const { run: runBroken } = program({ "conf/config.yaml": "a: [\n" }, { versionBase: "1.4" });
    const listed = await runBroken(["--info", "plugins", "a=="]);
    expect([listed.exitCode, listed.stdout]).toEqual([
      0,
      expect.stringMatching(/^Installed Hydra Plugins\n/),
    ]);
    const { exitCode, stdout } = await runBroken(["--info", "all"]);
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining("Installed Hydra Plugins\n")]);
    const searched = await runBroken(["--info", "searchpath"]);
    expect([searched.exitCode, searched.stdout]).toEqual([
      1,
      "\nConfig search path\n******************\n",
    ]);
  });

  test("a primary directory that is not there matters where something is composed", async () => {
    const { run: runNowhere } = program({}, { configPath: "nowhere" });
    expect((await runNowhere(["--info", "config"])).stderr).toContain("config directory not found");
    const { stderr } = await runNowhere(["--info", "defaults"]);
    expect(stderr).toContain("Cannot find primary config 'config'");
    // It is looked at before the overrides are read.
    expect((await runNowhere(["a=["])).stderr).toContain("config directory not found");
  });
});

describe("warnings", () => {
  const UNAVAILABLE = "provider=hydra.searchpath in command-line, path=nope is not available.";

  test.each([
    ["where the composition fails", ["hydra.searchpath=[pkg://nope]", "nope=1"], 1],
    ["with --help", ["--help", "hydra.searchpath=[pkg://nope]"], 0],
    ["once for all jobs of a sweep", ["-m", "hydra.searchpath=[pkg://nope]", "x=1,2"], 0],
  ])("are told %s", async (_, argv, code) => {
    const { exitCode, stderr } = await run(argv);
    expect(exitCode).toBe(code);
    expect(stderr.split(UNAVAILABLE)).toHaveLength(2);
  });

  test("of a missing _self_ are told where a config is missing, too", async () => {
    const { run: runWithout } = program({
      "conf/config.yaml": "defaults:\n  - nope\nx: 1\n",
    });
    const { stderr } = await runWithout([]);
    expect(stderr).toContain("Defaults list is missing `_self_`");
    expect(stderr).toContain("Could not load 'nope'");
  });

  test("of schemas of the store are told up to the config that does not fit", async () => {
    const { run: runStored } = program(
      {
        "conf/config.yaml": "defaults:\n  - db: mysql\n  - _self_\n  - web: https\ndb: [1]\n",
        "conf/db/mysql.yaml": "port: 1\n",
        "conf/web/https.yaml": "tls: 1\n",
      },
      {
        store: new Map([
          ["db/mysql", { value: { port: 3306 } }],
          ["web/https", { value: { tls: {} } }],
        ]),
      },
    );
    const { exitCode, stderr } = await runStored(["--cfg", "job"]);
    expect(exitCode).toBe(1);
    expect(stderr.split("'db/mysql' is validated against ConfigStore schema")).toHaveLength(2);
    expect(stderr).not.toContain("web/https");
    expect(stderr).toContain("In 'config': ConfigTypeError raised while composing config:");
  });

  test("of version_base 1.1 are told whatever is asked for, of the directory when a job changes it", async () => {
    const { run: runOld } = program(FILES, { versionBase: "1.1" });
    const [shown, ran, kept] = [
      await runOld(["--version"]),
      await runOld([]),
      await runOld(["hydra.job.chdir=false"]),
    ];
    for (const { stderr } of [shown, ran, kept])
      expect(stderr).toContain('version_base="1.1" selects');
    expect([shown, ran, kept].map(({ stderr }) => stderr.includes("no longer change"))).toEqual([
      false,
      true,
      false,
    ]);
  });
});

describe("what is not there", () => {
  test("a log config that was deleted is refused before the task", async () => {
    const { exitCode, stderr } = await run(["~hydra/job_logging"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Missing mandatory value: hydra.job_logging");
  });

  test("the directory of a log file", async () => {
    const { exitCode, stderr } = await run(["hydra.job.name=a/b"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Unable to configure handler 'file'");
  });

  test("the job's name, where nothing asks for it", async () => {
    const argv = ["hydra.job.name=${x}", "x=???", "hydra.run.dir=o"];
    expect((await run([...argv, "hydra/job_logging=stdout"])).exitCode).toBe(0);
    const { exitCode, stderr } = await run(argv);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Missing mandatory value: x");
  });

  test("--config-dir, before flags that exclude each other", async () => {
    expect((await run(["--cfg", "job", "-m", "-cd", "nope"])).stderr).toContain(
      "Additional config directory",
    );
  });

  test("the job's config, where env_set and chdir are read: env_set when the files are there", async () => {
    const { cwd, run: runIt } = program(FILES);
    const { exitCode, stderr } = await runIt(["hydra.run.dir=o", "+hydra.job.env_set.A=${x}"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Interpolation key 'x' not found");
    expect(existsSync(join(cwd, "o/.hydra/hydra.yaml"))).toBe(true);
  });

  test.each([
    "+hydra.job.env_set.A",
    "hydra.job.chdir",
    "hydra.output_subdir",
    "hydra.verbose",
    "hydra.sweep.dir",
  ])("%s that is missing", async (key) => {
    const sweep = key === "hydra.sweep.dir" ? ["-m"] : [];
    const { exitCode, stderr } = await run([...sweep, `${key}=???`]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`Missing mandatory value: ${key.replace("+", "")}`);
  });
});

test("a wrong log config ends a sweep at its first job, which fails no job", async () => {
  const { cwd, run: runIt } = program(FILES);
  const { exitCode, stderr } = await runIt([
    "-m",
    "hydra.sweep.dir=s",
    "hydra.job_logging.root.level=NOPE",
    "x=1,2",
  ]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("Unable to configure root logger: Unknown level: 'NOPE'");
  expect(stderr).not.toContain("Error executing job");
  expect(existsSync(join(cwd, "s/1"))).toBe(false);
});

test("a key of declared values is refused with the name of their type", async () => {
  expect((await run(["hydra.run.chdir=o"])).stderr).toContain("Key 'chdir' not in 'RunDir'");
  expect((await run(["~hydra.run"])).stderr).toContain(
    "HydraConf (DictConfig) does not support deletion",
  );
  expect((await run(["hydra.job.env_copy=x"])).stderr).toContain(
    "Invalid value assigned: str is not a ListConfig, list or tuple.",
  );
});

test("nothing is added below a declared value that is null", async () => {
  const { exitCode, stderr } = await run(["+hydra.sweeper.params.x='1,2'"]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("'hydra.sweeper.params' is null");
});

test("a shortened flag of Hydra's means it, whatever flags there are beside", async () => {
  expect(await run(["--cfg", "job", "--res"])).toMatchObject({ exitCode: 0 });
  expect((await run(["--re=1"])).exitCode).toBe(2);
  // Hydra takes it for no choice at all.
  expect((await run(["-c--"])).exitCode).toBe(2);
  expect((await run(["--cfg", "it's"])).stderr).toContain(`invalid choice: "it's"`);
});

describe("--cfg", () => {
  test("-p . is everything", async () => {
    const { stdout } = await run(["--cfg", "job", "-p", "."]);
    expect(stdout).toBe("# @package .\ndb:\n  'n': a\nx: 1\n");
    expect((await run(["--cfg", "job", "-p", "..x"])).stderr).toContain("resolving key '..x'");
  });

  test("names the package before what cannot be resolved", async () => {
    const argv = ["--cfg", "job", "-p", "db", "--resolve", "db.n=${nope}"];
    const { exitCode, stdout } = await run(argv);
    expect([exitCode, stdout]).toEqual([1, "# @package db\n"]);
  });

  test("job --resolve follows ${hydra:...} into what refers to the rest of the hydra node, which Hydra has removed", async () => {
    const { run } = program({
      "conf/config.yaml":
        "out: ${hydra:run.dir}\nhydra: {run: {dir: 'o/${hydra.job.name}'}, job: {name: j}}\n",
    });
    const { stdout, exitCode } = await run(["--cfg", "job", "--resolve"]);
    expect([exitCode, stdout]).toEqual([0, "out: o/j\n"]);
  });

  test("--resolve of a help is strict, of --cfg it is not", async () => {
    const argv = ["--resolve", "x=???", "+z=${x}"];
    expect((await run(["--cfg", "job", ...argv])).stdout).toContain("z: ???");
    const { exitCode, stderr } = await run(["--help", ...argv]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Missing mandatory value: x");
  });
});

describe("--config-path", () => {
  test.each(["file://conf", "structured://", "nope://conf"])("%s is a directory", async (path) => {
    const { exitCode, stderr } = await run(["-cp", path]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Primary config directory not found");
  });

  test("names no config", async () => {
    const { exitCode, stderr } = await run(["-cp", "conf/config.yaml", "--help"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Using config_path to specify the config name is not supported");
  });
});

describe("an override", () => {
  test("may give a member of an enum by its value", async () => {
    expect((await run(["--cfg", "hydra", "-p", "hydra.mode", "hydra.mode=2"])).stdout).toBe(
      "RunMode.MULTIRUN\n",
    );
  });

  test("of a declared null by an empty map changes nothing", async () => {
    const argv = ["--cfg", "hydra", "-p", "hydra.sweeper", "hydra.sweeper.params={}"];
    expect((await run(argv)).stdout).toContain("params: null");
  });

  test("of the search path is no sweep", async () => {
    const { exitCode, stderr } = await run(["--info", "defaults", "hydra.searchpath=a,b"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("hydra.searchpath must be a list of strings");
  });
});

test("a sweep that the config gives in hydra.overrides.task is logged without it", async () => {
  const { run } = program({
    "conf/config.yaml": "a: 0\nhydra: {overrides: {task: ['a=1,2']}}\n",
  });
  const { stdout } = await run(["-m", "hydra.sweep.dir=out"]);
  expect(stdout).toContain("\t#0 : a=1\n");
  expect(stdout).toContain("\t#1 : a=2\n");
});

test("a sweep of no batches is none, and recorded", async () => {
  const { cwd, run: runIt } = program(FILES);
  const argv = ["-m", "hydra.sweep.dir=s", "hydra.sweeper.max_batch_size=1", "x=range(0)"];
  expect(await runIt(argv)).toMatchObject({
    exitCode: 0,
    stdout: "",
    stderr: "note: the sweep has no jobs: 'x=range(0)' gives no values\n",
  });
  expect(existsSync(join(cwd, "s/multirun.yaml"))).toBe(true);
});

describe("Hydra's log at DEBUG", () => {
  const DEBUG = /^\[[-\d]+ [:,\d]+\]\[HYDRA\] /gm;

  test("shows what --info all does, before anything runs", async () => {
    const { run: runIt } = program(FILES);
    const { stdout: info } = await runIt(["--info", "all"]);
    const { stdout } = await runIt(["hydra.run.dir=o", "hydra.verbose=hydra"]);
    expect(stdout.replace(DEBUG, "")).toBe(info);
    expect(stdout.match(DEBUG)?.length).toBeGreaterThan(40);
  });

  test("also where the directory of the run cannot be told", async () => {
    const { exitCode, stdout } = await run(["hydra.verbose=true", "hydra.run.dir=${nope}"]);
    expect([exitCode, stdout.includes("Defaults Tree")]).toEqual([1, true]);
  });

  test("stands before a help, which refuses a wrong log config", async () => {
    const { stdout } = await run(["--help", "hydra.verbose=true"]);
    expect(stdout).toMatch(/Defaults Tree[\s\S]*prog is powered by Hydra/);
    const { stdout: own } = await run(["--hydra-help", "hydra.verbose=true"]);
    expect(own).toContain("Defaults Tree");
    expect(own).not.toContain("db: a\n");
    const wrong = await run(["--help", "hydra.hydra_logging.root.level=NOPE"]);
    expect([wrong.exitCode, wrong.stdout]).toEqual([1, ""]);
  });

  test("says of a batch how long it took to compose it", async () => {
    const argv = ["-m", "hydra.sweep.dir=s", "hydra.verbose=true", "x=1,2"];
    const { stdout } = await run([...argv, "hydra.sweeper.max_batch_size=1"]);
    const said = stdout.match(
      /\[HYDRA\] Validated configs of 1 jobs in [\d.]+ seconds, [\d.]+ \/ second\)/g,
    );
    expect(said).toHaveLength(2);
  });

  test("is silent without being asked, and for the job's logger", async () => {
    for (const verbose of ["false", "prog"])
      expect((await run(["hydra.run.dir=o", `hydra.verbose=${verbose}`])).stdout).toBe("");
  });
});

test("hydra.searchpath of a primary config that is named with a slash is not found", async () => {
  const { run: runIt } = program({
    "conf/config.yaml": "defaults: [x]\nhydra: {searchpath: ['file://more']}\n",
    "more/x.yaml": "n: 1\n",
  });
  expect((await runIt(["--cfg", "job"])).exitCode).toBe(0);
  expect((await runIt(["--cfg", "job", "-cn", "/config"])).stderr).toContain("Could not load 'x'");
});

describe("--info searchpath", () => {
  const { run: runIt } = program({ "conf/config.yaml": "x: a\n", "more/x.yaml": "" });
  const info = (path: string) =>
    runIt(["--info", "searchpath", `hydra.searchpath=["file://${path}"]`]);

  test("shows where interpolated paths lead", async () => {
    expect((await info("${oc.env:NOPE,more}")).stdout).toMatch(/command-line \| file:\/\/more +\|/);
  });

  test("a path finds nothing of the program's config", async () => {
    const { exitCode, stderr, stdout } = await info("${x}");
    expect(exitCode).toBe(1);
    expect(stdout).toContain("Config search path\n");
    expect(stderr).toContain("Interpolation key 'x' not found");
  });
});

test("pkg:// finds Python packages beside the program, wherever it runs, and those of PYTHONPATH", async () => {
  const { cwd, run } = program({
    "conf/config.yaml": "defaults: [{db: own}, _self_]\nhydra: {searchpath: ['pkg://more.conf']}\n",
    "conf/db/own.yaml": "from: own\n",
    "more/conf/__init__.py": "",
    "more/conf/db/beside.yaml": "from: beside\n",
    "lib/team/__init__.py": "",
    "lib/team/db/shared.yaml": "from: shared\n",
  });
  const elsewhere = program({ "conf/config.yaml": "" }, { base: cwd });
  for (const { run: from } of [{ run }, elsewhere])
    expect((await from(["--cfg", "job", "db=beside"])).stdout).toBe("db:\n  from: beside\n");
  const shared = await run(
    ["--cfg", "job", "hydra.searchpath=[pkg://team]", "db=shared"],
    undefined,
    { PYTHONPATH: join(cwd, "lib") },
  );
  expect(shared).toMatchObject({ exitCode: 0, stdout: "db:\n  from: shared\n", stderr: "" });
});
