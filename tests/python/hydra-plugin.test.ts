// Our launchers, sweepers and keys in the files of a project of Python's Hydra.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { STANDARD_PLUGINS } from "../../src/app/plugins/standard-plugins.ts";
import { DEFAULT_DIALECT } from "../../src/engine/values/dialect.ts";
import { hydraPluginFiles, optionsOfJobs, optionsOfWheel } from "../../src/python/hydra-plugin.ts";
import { commandPath } from "../e2e/command.ts";

const STAND_IN = fileURLToPath(new URL("../fixtures/python-hydra", import.meta.url));
/** Where the real Hydra and OmegaConf are, if Python does not find them anyway. */
const REAL = process.env["HYDRACONF_HYDRA"] ?? process.env["PYTHONPATH"] ?? "";
const PATH = process.env["PATH"];
const hasHydra =
  spawnSync("python3", ["-c", "import hydra._internal.config_loader_impl, omegaconf"], {
    env: { PATH, PYTHONPATH: REAL },
  }).status === 0;
if (!hasHydra)
  console.warn("SKIPPED Python's own Hydra: not installed; HYDRACONF_HYDRA may name its folder");

const TRAIN = `import hydra

@hydra.main(version_base="1.3", config_path="conf", config_name="train")
def main(cfg):
    print("lr", cfg.lr)
    return cfg.lr * 2

if __name__ == "__main__":
    main()
`;

const FILES = {
  "train.py": TRAIN,
  "conf/train.yaml": "defaults: [_self_, {experiment: null}]\nlr: 0.1\n",
  "conf/experiment/ours.yaml": `# @package _global_
defaults:
  - override /hydra/launcher: local
  - override /hydra/sweeper: random
hydra:
  launcher: {n_jobs: 2}
  sweeper: {n_trials: 3, seed: 1, params: {lr: "range(0,9)"}}
`,
  "conf/experiment/left_out.yaml": `# @package _global_
hydra: {sweeper: {exclude: [{lr: 2}], params: {lr: "1,2,3"}}}
`,
  "conf/experiment/optuna.yaml": `# @package _global_
defaults: [{override /hydra/sweeper: optuna}, {override /hydra/launcher: submitit_slurm}]
hydra: {sweeper: {objective: loss}}
`,
  "conf/experiment/colors.yaml":
    "# @package _global_\ndefaults: [{override /hydra/job_logging: colorlog}]\n",
};

function project(files: Readonly<Record<string, string>> = FILES): string {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-plugin-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

interface Surroundings {
  readonly cwd: string;
  /** The folders where Python looks first. */
  readonly python: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

function run(file: string, argv: readonly string[], { cwd, env, python }: Surroundings) {
  const { status, stderr, stdout } = spawnSync(file, argv, {
    cwd,
    encoding: "utf8",
    env: { PATH, PYTHONDONTWRITEBYTECODE: "1", PYTHONPATH: python.join(delimiter), ...env },
  });
  return { status, stderr, stdout };
}

const hydraconf = (argv: readonly string[], surroundings: Surroundings) =>
  run(process.execPath, [commandPath("hydraconf"), ...argv], surroundings);

const jobsOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, "sweep.json"), "utf8")).jobs;

describe("jobs of run, with a Hydra that has none of our options", () => {
  const surroundings = (env: Readonly<Record<string, string>>): Surroundings => ({
    cwd: project(),
    python: [STAND_IN],
    env,
  });
  const SWEEP = ["run", "-m", "lr=1,2", "hydra.sweep.dir=out"];
  const PROGRAM = ["--", "python3", "train.py"];

  test.each(["1.3", "1.4"])(
    "find the launchers and sweepers that its files name, as Hydra %s",
    (hydra) => {
      const here = surroundings({
        STAND_IN_OPTIONS: "hydra/launcher/local hydra/sweeper/optuna",
        STAND_IN_HYDRA: hydra,
      });
      const ran = hydraconf([...SWEEP, ...PROGRAM], here);
      expect([ran.status, ran.stderr]).toEqual([
        0,
        expect.stringContaining("2 of 2 jobs completed"),
      ]);
      expect(ran.stdout).toContain(
        "LocalLauncherConf(_target_='hydraconf.LocalLauncher', n_jobs=-1, timeout_min=None",
      );
      expect(ran.stdout).toContain("defaults=[{'sampler': 'tpe'}]");
      expect(jobsOf(join(here.cwd, "out")).map((job: { result: number }) => job.result)).toEqual([
        2, 4,
      ]);
    },
  );

  test.each([
    [
      { STAND_IN_OPTIONS: "hydra/job_logging/colorlog" },
      "no package hydra-colorlog, of which 'hydra/job_logging/colorlog' is",
      "-m pip install hydra-colorlog; or choose another option of hydra/job_logging",
    ],
    [
      { STAND_IN_LOGGING: '{"formatters": {"c": {"()": "no_such_package.Formatter"}}}' },
      "has no module 'no_such_package', which hydra.job_logging.formatters.c.() names",
      "or choose another option of hydra/job_logging",
    ],
    [
      { STAND_IN_OPTIONS: "db/other" },
      "refuses the config of job #0 (and those of 1 other job): In 'hydra/config': Could not find 'db/other'",
      "python3 train.py --cfg job lr=1\n",
    ],
  ])(
    "what it lacks is said once, before the first job, and by --dry-run: %j",
    (env, message, hint) => {
      const here = surroundings(env);
      for (const more of [[], ["--dry-run"]]) {
        const ran = hydraconf([...SWEEP, ...more, ...PROGRAM], here);
        expect(ran.status).toBe(1);
        expect(ran.stderr).toContain(message);
        expect(ran.stderr).toContain(hint);
        expect(ran.stderr.trim().split("\n")).toHaveLength(2);
        expect(existsSync(join(here.cwd, "out/0"))).toBe(false);
      }
    },
  );

  test("find them also where its callbacks are told of the sweep", () => {
    const here = surroundings({ STAND_IN_OPTIONS: "hydra/launcher/local" });
    writeFileSync(
      join(here.cwd, "mine.py"),
      `class Mine:
    def on_multirun_start(self, config): print("begun", flush=True)
    def on_multirun_end(self, config): print("ended", flush=True)
`,
    );
    const ran = hydraconf([...SWEEP, "+hydra.callbacks.mine._target_=mine.Mine", ...PROGRAM], here);
    expect([ran.status, ran.stdout]).toEqual([0, expect.stringMatching(/begun\n[\s\S]*ended\n/)]);
  });

  test("the example of the documentation is a search of 20 jobs", () => {
    const page = readFileSync(new URL("../../docs/run.md", import.meta.url), "utf8");
    const [, text = ""] = /search\.yaml`:\s+```yaml\n([\s\S]*?)```/.exec(page) ?? [];
    const cwd = project({
      "train.py": TRAIN,
      "conf/train.yaml": "defaults: [_self_, {experiment: null}]\nlr: 1\nmodel: small\n",
      "conf/experiment/search.yaml": text,
    });
    const argv = ["run", "-m", "experiment=search", "--dry-run", "--json", ...PROGRAM];
    const { jobs } = JSON.parse(hydraconf(argv, { cwd, python: [STAND_IN] }).stdout);
    expect(jobs).toHaveLength(20);
    expect(jobs[0].plan.command).toContain("experiment=search");
  });

  test("of a sweep, each job is asked about", () => {
    const here = surroundings({});
    const ran = hydraconf(["run", "-m", "lr=1,bad", "hydra.sweep.dir=out", ...PROGRAM], here);
    expect(ran.stderr).toContain("of job #1: Error merging override lr=bad");
    expect(existsSync(join(here.cwd, "out/0"))).toBe(false);
  });

  test("a module that is not here refuses a sweep, and is a note of --dry-run", () => {
    const here = {
      ...surroundings({}),
      cwd: project({ ...FILES, "train.py": `import absent_one\n${TRAIN}` }),
    };
    const ran = hydraconf([...SWEEP, ...PROGRAM], here);
    const why = "ModuleNotFoundError: No module named 'absent_one' (train.py:1)";
    expect([ran.status, ran.stderr]).toEqual([1, expect.stringContaining(why)]);
    const shown = hydraconf([...SWEEP, "--dry-run", ...PROGRAM], here);
    expect([shown.status, shown.stderr]).toEqual([0, expect.stringContaining(`note: The program`)]);
    expect(shown.stdout).toContain("2 jobs would run");
    // Nothing is left of it, but what was there.
    mkdirSync(join(here.cwd, "kept"));
    for (const directory of ["new/out", "kept/out"])
      expect(hydraconf([...SWEEP, `hydra.sweep.dir=${directory}`, ...PROGRAM], here).status).toBe(
        1,
      );
    expect(existsSync(join(here.cwd, "new"))).toBe(false);
    expect(readdirSync(join(here.cwd, "kept"))).toEqual([]);
  });

  test.skipIf(hasHydra)("a Hydra that is not here is named by its package", () => {
    const here = surroundings({});
    const ran = hydraconf([...SWEEP, ...PROGRAM], { ...here, python: [] });
    expect(ran.stderr).toContain("No module named 'hydra'");
    expect(ran.stderr).toContain("Hint: install hydra-core for the Python");
  });
});

describe.skipIf(!hasHydra)("Python's own Hydra", () => {
  /** A folder with the plugin as the wheel has it. */
  function wheel(options = optionsOfWheel): string {
    return project(hydraPluginFiles(options(STANDARD_PLUGINS, DEFAULT_DIALECT)));
  }
  const plain = [REAL];
  const train = (argv: readonly string[], python: readonly string[], cwd = project()) =>
    run("python3", ["train.py", ...argv], { cwd, python });

  test("runs the jobs of a sweep whose launcher, sweeper and keys stand in files", () => {
    const cwd = project();
    const python = plain;
    const found = hydraconf(
      ["run", "-m", "experiment=ours", "hydra.sweep.dir=ours", "--", "python3", "train.py"],
      { cwd, python },
    );
    expect([found.status, found.stderr]).toEqual([
      0,
      expect.stringContaining("3 of 3 jobs completed"),
    ]);
    expect(readFileSync(join(cwd, "ours/0/.hydra/hydra.yaml"), "utf8")).toContain("  n_jobs: 2\n");
    const left = hydraconf(
      ["run", "-m", "experiment=left_out", "hydra.sweep.dir=left", "--", "python3", "train.py"],
      { cwd, python },
    );
    expect(left.stderr).toContain("2 of 2 jobs completed");
    expect(left.stdout).toMatch(/lr 1\n(.*\n)*lr 3\n/);
  });

  test("composes alone, with the plugin of the wheel, and names the command that runs the sweep", () => {
    const python = [wheel(), REAL];
    for (const [experiment, what] of [
      ["ours", "hydra/sweeper=random"],
      ["left_out", "hydra.sweeper.exclude"],
    ]) {
      const argv = [`experiment=${experiment}`];
      expect(train(argv, plain).status).toBe(1);
      expect(train(argv, python)).toMatchObject({ status: 0, stdout: "lr 0.1\n" });
      const swept = train([...argv, "-m"], python);
      expect([swept.status, swept.stdout]).toEqual([1, ""]);
      expect(swept.stderr).toContain(
        `${what} is of hydraconf, which runs this sweep:\n\n  hydraconf run -- python3 train.py experiment=${experiment} -m\n`,
      );
      const [, command = ""] = /^ {2}hydraconf (.*)$/m.exec(swept.stderr) ?? [];
      const ran = hydraconf(command.split(" "), { cwd: project(), python: plain });
      expect([ran.status, ran.stderr]).toEqual([
        0,
        expect.stringMatching(/\d of \d jobs completed/),
      ]);
    }
  });

  test("with the wheel, dumps and saved configs of a project without our options are the same", () => {
    const files = {
      ...FILES,
      // What an option of ours has as its name, a project may have itself.
      "conf/hydra/launcher/local.yaml":
        "_target_: hydra._internal.core_plugins.basic_launcher.BasicLauncher\n",
      "conf/hydra/sweeper/random.yaml": "defaults: [basic]\nmax_batch_size: 2\n",
    };
    const cwd = project(files);
    const own = [wheel(), REAL];
    const overrides = ["hydra/launcher=local", "hydra/sweeper=random"];
    for (const argv of [
      ["--cfg", "all"],
      ["--cfg", "all", ...overrides],
      ["--cfg", "hydra", "--resolve", "hydra.run.dir=a", "hydra.sweep.dir=b", ...overrides],
      ["--info", "defaults"],
      ["--cfg", "job", "hydra/launcher=absent"],
      ["--cfg", "job", "hydra.sweeper.typo=1"],
      ["hydra.sweeper.max_batch_size=a"],
      ["--help"],
    ])
      expect(train(argv, own, cwd)).toEqual(train(argv, plain, cwd));
    const saved = ["plain", "own"].map((name) => {
      const argv = ["-m", "lr=1,2", `hydra.sweep.dir=${name}`, ...overrides];
      expect(train(argv, name === "own" ? own : plain, cwd).status).toBe(0);
      return [
        "multirun.yaml",
        ...["config", "hydra", "overrides"].map((one) => `0/.hydra/${one}.yaml`),
      ].map((file) => readFileSync(join(cwd, name, file), "utf8").replaceAll(name, "DIR"));
    });
    expect(saved[1]).toEqual(saved[0]);
  });

  test("composes each option as hydraconf does", () => {
    const python = [wheel(optionsOfJobs), REAL];
    const cwd = project();
    const { entries } = optionsOfJobs(STANDARD_PLUGINS, DEFAULT_DIALECT);
    for (const path of Object.keys(entries)) {
      const [, group = "", name, option] = path.split("/");
      const overrides =
        option === undefined
          ? [`hydra/${group}=${name}`]
          : ["hydra/sweeper=optuna", `hydra/sweeper/${name}=${option}`];
      const flags = ["--cfg", "hydra", "-p", `hydra.${group}`];
      const ours = hydraconf([...flags, ...overrides], { cwd, python }).stdout;
      expect([path, train([...overrides, ...flags], python, cwd).stdout]).toEqual([path, ours]);
    }
  });
});
