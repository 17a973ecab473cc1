import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exitCode, type Job } from "../../../src/app/job/job.ts";
import { readJobState } from "../../../src/app/record/job-state.ts";
import { program } from "../cli/program.ts";

const CONFIG = {
  "conf/config.yaml": "x: 1\ny: a\nhydra:\n  sweep:\n    dir: s\n    subdir: ${hydra:job.num}\n",
};

describe("-m", () => {
  test("runs one job after the other, each in its directory, and records the sweep", async () => {
    const { run, cwd } = program(CONFIG);
    const jobs: Job[] = [];
    const { exitCode: code, stdout } = await run(["-m", "x=1,2", "y=b"], (config, job) => {
      jobs.push(job);
      job.log.info(`x is ${config.get("x")}`);
    });
    expect(code).toBe(0);
    expect(
      jobs.map(({ number, outputDir, overrides }) => ({ number, outputDir, overrides })),
    ).toEqual(
      [0, 1].map((number) => ({
        number,
        outputDir: join(cwd, `s/${number}`),
        overrides: [`x=${number + 1}`, "y=b"],
      })),
    );
    expect(stdout).toMatch(
      /\[HYDRA\] Launching 2 jobs locally\n.*\t#0 : x=1 y=b\n.*x is 1\n.*\t#1/,
    );
    expect(readFileSync(join(cwd, "s/1/prog.log"), "utf8")).toMatch(/x is 2\n$/);
    expect(readdirSync(join(cwd, "s")).sort()).toEqual([".sweep", "0", "1", "multirun.yaml"]);
    const record = readFileSync(join(cwd, "s/multirun.yaml"), "utf8");
    expect(record).toContain("    - x=1,2\n    - y=b\n");
    expect(record.endsWith("\nx: 1\n'y': b\n")).toBe(true);
  });

  test("an absolute hydra.sweep.subdir or hydra.output_subdir stands for itself, as in Hydra", async () => {
    const { run, cwd } = program(CONFIG);
    const away = [
      `hydra.sweep.subdir=${cwd}/far/\${x}`,
      `hydra.output_subdir=${cwd}/notes/\${hydra.job.num}`,
    ];
    const directories: string[] = [];
    const { exitCode: code } = await run(["-m", "x=1,2", ...away], (_config, job) => {
      directories.push(job.outputDir);
    });
    expect([code, directories]).toEqual([0, [join(cwd, "far/1"), join(cwd, "far/2")]]);
    expect(readdirSync(join(cwd, "s")).sort()).toEqual([".sweep", "multirun.yaml"]);
    expect(readFileSync(join(cwd, "notes/1/overrides.yaml"), "utf8")).toBe("- x=2\n");
  });

  test("a log of Hydra's that disables existing loggers disables those of its launcher and sweeper", async () => {
    const { run } = program(CONFIG);
    const logs = ["hydra.hydra_logging.disable_existing_loggers=true", "hydra.verbose=true"];
    const { exitCode: code, stdout } = await run(["-m", "x=1,2", ...logs]);
    expect([code, stdout.includes("Hydra 1.3.5"), /Launching|Validated/.test(stdout)]).toEqual([
      0,
      true,
      false,
    ]);
  });

  test("a log file of mode w holds all that a batch says before a job has a log of its own", async () => {
    const { run, cwd } = program(CONFIG);
    const logs = ["hydra/hydra_logging=hydra_debug", "hydra/job_logging=disabled"];
    const { exitCode: code } = await run(["-m", "x=1,2", ...logs]);
    const text = readFileSync(join(cwd, "hydra-prog.log"), "utf8");
    // The job's log disables the launcher's logger, so Hydra tells of the first job alone.
    expect([code, text.replaceAll(/^.* - /gm, "")]).toEqual([
      0,
      "Launching 2 jobs locally\n\t#0 : x=1\n",
    ]);
  });

  // Hydra's sweepers look groups up in the search path that a program starts with.
  test("glob knows the options of the added directory, and none of hydra.searchpath", async () => {
    const { run } = program({
      "conf/config.yaml": `${CONFIG["conf/config.yaml"]}  searchpath: [file://more]\n`,
      "conf/g/a.yaml": "v: 1\n",
      "added/g/b.yaml": "v: 2\n",
      "more/g/c.yaml": "v: 3\n",
    });
    const values: unknown[] = [];
    const argv = ["-m", "-cd", "added", "+g=glob(*)"];
    const { exitCode: code } = await run(argv, (config) => {
      values.push(config.get("g.v"));
    });
    expect([code, values]).toEqual([0, [1, 2]]);
  });

  test.each([
    [
      ["-m", "+exp=glob(**)"],
      ["-m", "+exp=glob(**)", "--dry-run"],
    ],
    [["-m", "+exp=glob([a*,b*],exclude=c)"]],
  ])("a glob over a group that has only groups inside names them: %j", async (...lines) => {
    const { run } = program({
      ...CONFIG,
      "conf/exp/a/one.yaml": "v: 1\n",
      "conf/exp/b/two.yaml": "v: 2\n",
    });
    for (const argv of lines) {
      const { exitCode: code, stderr } = await run(argv);
      const [, override = ""] = argv;
      expect([code, stderr.match(/^note: .*$/gm)]).toEqual([
        0,
        [
          `note: ${override} selects nothing: exp has no options of its own, only the groups a, b; to select from one: ${override.replace("exp", "exp/a")}`,
        ],
      ]);
    }
  });

  test.each([
    [["+exp=glob(x*)"], "'+exp=glob(x*)' selects none of b"],
    [["+none=glob(*)"], "'+none=glob(*)' gives no values"],
    [["x=range(1,0)"], "'x=range(1,0)' gives no values"],
    [["x=range(1,0)", "y=1,2"], "'x=range(1,0)' gives no values"],
    [["+exp/a=glob(*)"], undefined],
    [["x=range(3,0,-1)"], undefined],
    [["x=range(1,0)", "x=range(0,1)"], undefined],
    [["x=range(1,1.5,1)"], undefined],
  ])("a sweep without jobs says which override has no values: %j", async (overrides, expected) => {
    const { cwd, run } = program({
      ...CONFIG,
      "conf/exp/a/one.yaml": "",
      "conf/exp/b.yaml": "",
    });
    let jobs = 0;
    const { exitCode: code, stderr } = await run(["-m", ...overrides], () => {
      jobs++;
    });
    const notes = expected === undefined ? null : [`note: the sweep has no jobs: ${expected}`];
    expect([code, stderr.match(/^note: .*$/gm), jobs === 0]).toEqual([
      0,
      notes,
      expected !== undefined,
    ]);
    expect(existsSync(join(cwd, "s/multirun.yaml"))).toBe(true);
  });

  test.each([
    [
      ["-m", "hydra/sweeper=tpe"],
      "nothing is searched: no override has several values, as in 'x=choice(1,2)'",
    ],
    [["-m", "hydra/sweeper=tpe", "x=choice(1,2)"], undefined],
    [["-m"], undefined],
    [
      ["hydra/sweeper=tpe"],
      "hydra/sweeper=tpe has no effect on a single job: --multirun (-m) starts a sweep",
    ],
    [["hydra.sweeper.max_batch_size=2"], undefined],
  ])("a search without a space says what is missing: %j", async (argv, expected) => {
    const { run } = program({ "conf/config.yaml": "x: 1\nhydra: {sweep: {dir: s}}\n" });
    const { exitCode: code, stderr } = await run(argv, () => 1);
    const notes = expected === undefined ? null : [`note: ${expected}`];
    expect([code, stderr.match(/^note: .*$/gm)]).toEqual([0, notes]);
  });

  test.each([
    ["name: a\nlist: [1]\n1: 5\na b: 6\nopt: {lr: 0.25}\n", "opt.lr=choice(0.25,0.5)"],
    ["tag: v1\nversion: 1.2.3\nshare: 50%\nsize: 128\n", "size=choice(128,256)"],
    ["name: a\n", undefined],
  ])("a search without a space is shown a number of the config: %j", async (yaml, example) => {
    const { run } = program({ "conf/config.yaml": `${yaml}hydra: {sweep: {dir: s}}\n` });
    const { stderr } = await run(["-m", "hydra/sweeper=tpe"], () => 1);
    expect(stderr).toMatch(/^note: nothing is searched: no override has several values/m);
    expect(/, as in '(.*)'$/m.exec(stderr)?.[1]).toBe(example);
  });

  test("a list in hydra.sweeper.params is one value and no sweep, as in Hydra", async () => {
    const params = "  sweeper:\n    params:\n      x: [1, a b]\n      y: b,c\n";
    const { run } = program({ "conf/config.yaml": `${CONFIG["conf/config.yaml"]}${params}` });
    const values: unknown[] = [];
    const { exitCode: code } = await run(["-m"], (config) => {
      values.push(config.toObject());
    });
    const x = [1, "a b"];
    expect([code, values]).toEqual([
      0,
      [
        { x, y: "b" },
        { x, y: "c" },
      ],
    ]);
  });

  test("a failing job does not stop the others; the first is shown, then a table of all", async () => {
    const { run } = program(CONFIG);
    const ran: unknown[] = [];
    const { exitCode: code, stderr } = await run(["-m", "x=1,2,3"], (config) => {
      ran.push(config.get("x"));
      if (config.get("x") !== 2) throw new Error(`boom ${config.get("x")}`);
    });
    expect([code, ran]).toEqual([1, [1, 2, 3]]);
    expect(stderr).toContain("Error executing job with overrides: ['x=1']\nError: boom 1\n");
    expect(stderr).toMatch(
      /complete stack trace\.\n2 of 3 jobs failed:\nJob .*\n#0 +x=1 +boom 1 +s\/0\n#2 +x=3 +boom 3 +s\/2\n$/,
    );
    expect(stderr.match(/Error executing/g)).toHaveLength(1);
  });

  test("one failed job is shown as Hydra shows it, and no more", async () => {
    const { run } = program(CONFIG);
    const { stderr } = await run(["-m", "x=1,2"], (config) => {
      if (config.get("x") === 2) throw new Error("boom");
    });
    expect(stderr).toMatch(/^Error executing job with overrides: \['x=2'\]\nError: boom\n/);
    expect(stderr).toMatch(/HYDRA_FULL_ERROR=1 for a complete stack trace\.\n$/);
  });

  test("no batch follows one with a failed job", async () => {
    const { run, cwd } = program(CONFIG);
    await run(["-m", "x=1,2,3", "hydra.sweeper.max_batch_size=2"], () => {
      throw new Error("boom");
    });
    expect(existsSync(join(cwd, "s/1"))).toBe(true);
    expect(existsSync(join(cwd, "s/2"))).toBe(false);
  });

  test("ends with the code of the first job that has one", async () => {
    const { run } = program(CONFIG);
    const outcome = await run(["-m", "x=0,3,4"], (config) => exitCode(Number(config.get("x"))));
    expect(outcome.exitCode).toBe(3);
  });

  test("tells why a job ended with its code, where its task does, in a line without secrets", async () => {
    const { run, cwd } = program(CONFIG);
    const outcome = await run(["-m", "x=3,4,5"], (config) => {
      if (config.get("x") === 5) throw new Error();
      return config.get("x") === 3
        ? exitCode(3, { reason: "prog crashed\n  in line 7" })
        : exitCode(4, { reason: "" });
    });
    expect(outcome.stderr).toMatch(/^#0 +x=3 +prog crashed +\S+$/m);
    expect(outcome.stderr).toMatch(/^#1 +x=4 +exit code 4 +\S+$/m);
    expect(outcome.stderr).toMatch(/^#2 +x=5 +exit code 1 +\S+$/m);
    const record = readJobState(join(cwd, "s/.sweep"), 0);
    expect(record?.attempts.at(-1)?.error).toBe("prog crashed");
  });

  test("a task that ends with the code of a signal has failed by itself, and the sweep goes on", async () => {
    const { run, cwd } = program(CONFIG);
    const outcome = await run(["-m", "x=1,2"], () => exitCode(130));
    expect(outcome.exitCode).toBe(1);
    for (const number of [0, 1])
      expect(readJobState(join(cwd, "s/.sweep"), number)).toMatchObject({
        status: "failed",
        attempts: [{ ended_by: { by: "itself" }, exit_code: 130, error: "exit code 130" }],
      });
  });

  test.each([
    [
      "fails",
      1,
      { status: "stopped", attempts: [{ ended_by: { by: "launcher", signal: "SIGTERM" } }] },
    ],
    ["ends well", 0, { status: "completed", attempts: [{ ended_by: { by: "itself" } }] }],
  ])(
    "a task that handles the signal to its sweep and then %s ends the sweep or goes on",
    async (_, code, expected) => {
      const { run, cwd } = program(CONFIG);
      const outcome = await run(["-m", "x=1,2"], () => {
        const onSignal = () => {};
        process.on("SIGTERM", onSignal);
        process.emit("SIGTERM", "SIGTERM");
        process.off("SIGTERM", onSignal);
        return exitCode(code);
      });
      expect(readJobState(join(cwd, "s/.sweep"), 0)).toMatchObject(expected);
      expect([outcome.exitCode, existsSync(join(cwd, "s/1"))]).toEqual(
        code === 0 ? [0, true] : [143, false],
      );
    },
  );

  test("a job that does not compose stops its batch before the first job", async () => {
    const { run, cwd } = program({ ...CONFIG, "conf/g/a.yaml": "v: 1\n" });
    const outcome = await run(["-m", "+g=a,nope"], () => expect.unreachable());
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain("Could not find 'g/nope'");
    expect(readdirSync(join(cwd, "s"))).toEqual(["multirun.yaml"]);
  });

  test("all jobs are checked against the schema before the first starts", async () => {
    const schema = { properties: { x: { type: "integer", maximum: 2 } } };
    const { run, cwd } = program(CONFIG, { schema });
    const outcome = await run(["-m", "x=1,3,4"], () => expect.unreachable());
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain("Job #1 (x=3):\n");
    expect(outcome.stderr).toContain("Job #2 (x=4):\n");
    expect(outcome.stderr).not.toContain("Job #0");
    expect(readdirSync(join(cwd, "s"))).toEqual(["multirun.yaml"]);
  });

  test("another sweep's directory is left alone where results must not mix", async () => {
    const { run, cwd } = program(CONFIG, { resultFiles: ["report.md"] });
    await run(["-m", "x=1"]);
    await run(["-m", "x=2"]);
    expect(readFileSync(join(cwd, "s/0/.hydra/overrides.yaml"), "utf8")).toBe("- x=1\n");
    expect(readFileSync(join(cwd, "s-2/0/.hydra/overrides.yaml"), "utf8")).toBe("- x=2\n");
  });

  test("jobs whose results would mix are refused before the first starts", async () => {
    const { run, cwd } = program(CONFIG, { resultFiles: ["report.md"] });
    const shared = await run(["-m", "x=1,2", "hydra.sweep.subdir=same"], () =>
      expect.unreachable(),
    );
    expect(shared.exitCode).toBe(1);
    expect(shared.stderr).toContain("Jobs #0 and #1 would share the directory");
    mkdirSync(join(cwd, "t/1"), { recursive: true });
    writeFileSync(join(cwd, "t/1/report.md"), "");
    const taken = await run(["-m", "x=1,2", "hydra.sweep.dir=t"], () => expect.unreachable());
    expect(taken.stderr).toContain("holds the results of another run: report.md");
    expect(taken.stderr).toContain("Hint: choose another directory with hydra.sweep.dir=DIR");
    const another = await run(["-m", "x=1,2", "hydra.sweep.dir=u"], () => undefined);
    expect(another.exitCode).toBe(0);
    expect(existsSync(join(cwd, "t/0"))).toBe(false);
  });

  test("what goes wrong before a task fails its job only", async () => {
    const { run, cwd } = program(CONFIG);
    mkdirSync(join(cwd, "s"));
    writeFileSync(join(cwd, "s/0"), "in the way");
    const ran: unknown[] = [];
    const { exitCode: code, stderr } = await run(["-m", "x=1,2"], (config) => {
      ran.push(config.get("x"));
    });
    expect([code, ran]).toEqual([1, [2]]);
    expect(stderr).toContain("a file of that name exists");
  });

  test("a sweep job works in its environment and its directory", async () => {
    const { run, cwd } = program(CONFIG);
    const seen: unknown[] = [];
    await run(
      ["-m", "x=1,2", "hydra.job.chdir=true", "+hydra.job.env_set.HC_X=n${hydra.job.num}"],
      () => {
        seen.push([process.cwd(), process.env["HC_X"]]);
      },
    );
    expect(seen).toEqual([
      [join(cwd, "s/0"), "n0"],
      [join(cwd, "s/1"), "n1"],
    ]);
  });

  test("one time for all jobs, and a sweep of one config that no job changes", async () => {
    const { run, cwd } = program({ "conf/config.yaml": "x: 1\nt: ${now:%S.%f}\n" });
    const times = new Set<unknown>();
    await run(["-m", "x=1,2,3"], (config) => void times.add(config.get("t")));
    expect(times.size).toBe(1);
    expect(readdirSync(join(cwd, "multirun/2026-01-02/03-04-05"))).toContain("multirun.yaml");
  });
});

describe("what decides between a run and a sweep", () => {
  const swept = async (argv: readonly string[], config = CONFIG["conf/config.yaml"]) => {
    const { run, cwd } = program({ "conf/config.yaml": config });
    const outcome = await run(argv);
    return { ...outcome, swept: existsSync(join(cwd, "s/multirun.yaml")) };
  };

  test("the flag, hydra.mode as an override or in the config", async () => {
    expect(await swept(["x=1"])).toMatchObject({ swept: false, exitCode: 0 });
    expect(await swept(["-m"])).toMatchObject({ swept: true, stderr: "" });
    expect(await swept(["hydra.mode=MULTIRUN", "x=1,2"])).toMatchObject({ swept: true });
    const config = "x: 1\nhydra:\n  mode: MULTIRUN\n  sweep:\n    dir: s\n";
    expect(await swept(["x=1,2"], config)).toMatchObject({ swept: true });
  });

  test("the flag wins over hydra.mode=RUN, with a warning", async () => {
    const { stderr, swept: was } = await swept(["-m", "hydra.mode=RUN"]);
    expect(was).toBe(true);
    expect(stderr).toContain("overriding with `hydra.mode=MULTIRUN`");
  });

  test.each([
    ["hydra.mode=MULTIRUN as an override", ["hydra.mode=MULTIRUN"], "x: 1\n"],
    ["hydra.mode of the config", [], "x: 1\nhydra:\n  mode: MULTIRUN\n"],
  ])("%s decides also where Hydra's own configuration is swept over", async (_, argv, config) => {
    const { exitCode: code, stderr } = await swept([...argv, "hydra.job.name=a,b"], config);
    expect(code).toBe(1);
    expect(stderr).toContain("Sweeping over Hydra's configuration is not supported");
  });

  test("warnings are printed before a sweep over Hydra's own configuration is refused", async () => {
    const { stderr } = await swept(["-m", "hydra.mode=RUN", "hydra.job.name=a,b"]);
    expect(stderr).toMatch(/overriding with `hydra.mode=MULTIRUN`.*\nSweeping over Hydra's/);
    const { run } = program({
      "conf/config.yaml": "defaults:\n  - db: pg\nx: 1\n",
      "conf/db/pg.yaml": "",
    });
    for (const argv of [["hydra.job.name=a,b"], ["-m", "hydra.job.name=a,b"]])
      expect((await run(argv)).stderr).toContain("Defaults list is missing `_self_`");
  });

  test("a launcher or sweeper that is not there is refused before anything is made", async () => {
    for (const override of ["hydra/launcher=rq", "hydra/sweeper=ax"]) {
      const { exitCode: code, stderr, swept: was } = await swept(["-m", override]);
      expect([code, was]).toEqual([1, false]);
      expect(stderr).toContain("cannot be used here");
      expect(stderr).toContain("Hint: ");
    }
  });

  test.each([
    ["hydra.launcher=local", "hydra/launcher=local"],
    ["hydra.sweeper=basic", "hydra/sweeper=basic"],
  ])("%s: an option that was chosen with the dot of a key", async (override, meant) => {
    const { exitCode: code, stderr, swept: was } = await swept(["-m", override]);
    expect([code, was]).toEqual([1, false]);
    expect(stderr).toContain(`Hint: choose an option of a config group with a slash: ${meant}\n`);
  });

  test.each([
    ["hydra.sweeper.params=${x}", "+l=[1]", "x=${l}", "list is not a subclass of Dict[str, str]"],
    ["hydra.sweeper=${x}", "x=[1]", "does not have a `_target_` field"],
    ["hydra.launcher=${x}", "x=abc", "does not have a `_target_` field"],
    ["hydra.launcher=${x}", "x=null", "Hydra launcher is not configured"],
    ["hydra.verbose=${x}", "x=[1]", "hydra.verbose must be"],
  ])("%s, %s: what an interpolation makes of a sweep's settings", async (...row) => {
    const { exitCode: code, stderr, swept: was } = await swept(["-m", ...row.slice(0, -1)]);
    expect([code, was]).toEqual([1, false]);
    expect(stderr).toContain(row.at(-1));
  });

  test.each([
    ["+hydra.launcher.n_jobs=4", "BasicLauncher has no setting 'n_jobs'"],
    [
      "+hydra.launcher.n_jobs=4",
      "call to target 'hydra._internal.core_plugins.basic_launcher.Basic",
    ],
    ["+hydra.sweeper.n_trials=4", "BasicSweeper has no setting 'n_trials'"],
    ["+hydra.sweeper.param={x:[1]}", "Did you mean 'params'?"],
    ["+hydra.launcher.max_retry=1", "Did you mean 'max_retries'?", "hydra/launcher=local"],
    ["+hydra.launcher.nope=1", "JoblibLauncher has no setting 'nope'", "hydra/launcher=joblib"],
    ["+hydra.launcher.nope=1", "SlurmLauncher has no setting", "hydra/launcher=submitit_slurm"],
    ["+hydra.sweeper.trials=4", "Did you mean 'n_trials'?", "hydra/sweeper=optuna"],
  ])("%s: a setting that nothing would follow is refused", async (override, says, ...choice) => {
    const { exitCode: code, stderr, swept: was } = await swept(["-m", ...choice, override]);
    expect([code, was]).toEqual([1, false]);
    expect(stderr).toContain(says);
  });
});

describe("jobs whose compositions are not kept", () => {
  // What the overrides say is more than the compositions of several jobs may take.
  const big = `+big=${"a".repeat(600_000)}`;

  test("run, and are resumed, as others", async () => {
    const app = program({ "conf/config.yaml": "x: 0\ny: ${x}\n" });
    const args = ["-m", "x=1,2,3", big, "hydra.sweep.dir=out"];
    const seen: unknown[] = [];
    const run = (argv: readonly string[], fails: boolean) =>
      app.run(argv, (config, { number }) => {
        seen.push([number, config.get("y")]);
        if (fails && number === 1) throw new Error("told");
      });
    expect((await run(args, true)).exitCode).toBe(1);
    expect(seen).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
    ]);
    seen.length = 0;
    const { exitCode, stderr } = await run(["--retry-failed", "out"], false);
    expect([exitCode, stderr, seen]).toEqual([0, "", [[1, 2]]]);
  });

  test("share no directory, wherever they stand in the batch", async () => {
    const app = program({ "conf/config.yaml": "x: 0\n" }, { resultFiles: ["result"] });
    const args = ["-m", "x=1,2,3", big, "hydra.sweep.dir=out", "hydra.sweep.subdir=same"];
    for (const more of [[], ["--dry-run"]])
      expect((await app.run([...args, ...more])).stderr).toContain("would share the directory");
  });
});
