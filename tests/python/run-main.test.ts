import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { commandPath } from "../e2e/command.ts";
import { until } from "../wait.ts";

const HYDRA = fileURLToPath(new URL("../fixtures/python-hydra", import.meta.url));
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const command = commandPath("hydraconf");

const ENV = { PATH: process.env["PATH"], PYTHONPATH: HYDRA, PYTHONDONTWRITEBYTECODE: "1" };

function hydraconf(cwd: string, ...argv: readonly string[]) {
  const { status, stderr, stdout } = spawnSync(process.execPath, [command, ...argv], {
    cwd,
    encoding: "utf8",
    env: ENV,
  });
  return { status, stderr, stdout };
}

/** A new folder with these files; those that begin with `#!` can be executed. */
function project(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-run-"));
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    if (text.startsWith("#!")) chmodSync(path, 0o755);
  }
  return folder;
}

const rows = (folder: string) =>
  JSON.parse(readFileSync(join(folder, "sweep.json"), "utf8")).jobs.map(
    (row: { status: string; result: unknown; error: string | null }) => [
      row.status,
      row.result,
      row.error,
    ],
  );

const TRAIN = `import hydra

@hydra.main(version_base="1.3", config_path="conf", config_name="train")
def main(cfg):
    print("job", cfg.num, "lr", cfg.lr)
    if cfg.lr > 0.15:
        raise ValueError("diverged")
    return {"loss": cfg.lr * 2, "bad": Scalar()}

class Scalar:  # of numpy or torch
    def item(self):
        return float("nan")

main()
`;

describe("without a config tree", () => {
  test("every key is free, and stands in the arguments", () => {
    const cwd = project();
    const ran = hydraconf(
      cwd,
      ...["run", "-m", "lr=0.1,0.2", "m.depth=3", "hydra.sweep.dir=out", "--"],
      ...["echo", "--rate=${lr}", "${m}", "\\${lr}", "${hydra:job.num}"],
    );
    expect(ran.stdout).toContain('--rate=0.1 {"depth":3} ${lr} 0\n');
    expect(ran.stdout).toContain('--rate=0.2 {"depth":3} ${lr} 1\n');
    expect(ran.status).toBe(0);
    expect(readFileSync(join(cwd, "out/1/.hydra/overrides.yaml"), "utf8")).toBe(
      "- lr=0.2\n- m.depth=3\n",
    );
  });

  test("a key that an argument names and nobody set is refused before the first job", () => {
    const cwd = project();
    const ran = hydraconf(cwd, "run", "-m", "lr=1,2", "--", "echo", "${lx}");
    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain("The argument '${lx}' of the program");
    expect(ran.stderr).toContain("Did you mean 'lr'?");
    expect(ran.stdout).not.toContain("lx");
    expect(ran.stderr).not.toContain("#0");
  });

  test.each([
    [["--flags"], ["echo", "x"], "x --lr 0.1 --m.d true"],
    [["--flags=m.d"], ["echo", "x"], "x --m.d true"],
    [["--env-prefix", "APP_"], ["sh", "-c", "echo $APP_LR $APP_M__D"], "0.1 true"],
    [[], ["cat", "{config}"], "lr: 0.1\nm:\n  d: true"],
    [
      ["--config-format", "json", "--pass", "file"],
      ["sh", "-c", "cat $HYDRACONF_CONFIG"],
      '"lr": 0.1',
    ],
  ])("%j passes the config", (flags, argv, expected) => {
    const ran = hydraconf(project(), "run", "lr=0.1", "m.d=true", ...flags, "--", ...argv);
    expect(ran.stdout).toContain(expected);
    expect(ran.status).toBe(0);
  });

  test("wrong keys of --flags name the flag with the right ones", () => {
    const cwd = project();
    const hintOf = (...flags: readonly string[]) => {
      const ran = hydraconf(cwd, "run", "lr=0.1", "m.d=true", ...flags, "--", "echo", "x");
      return /^ {2}Hint: (.*)$/m.exec(ran.stderr)?.[1] ?? ran.stdout.trim();
    };
    expect(hintOf("--flags=lr,m.dd")).toBe("use --flags=lr,m.d");
    expect(hintOf("--flags=lr,m.d")).toBe("x --lr 0.1 --m.d true");
    expect(hintOf("--flags", "lr,m.d")).toBe("the value of --flags follows an '=': --flags=lr,m.d");
  });

  test("a program below counts more than the default config, with a note", () => {
    const files = { "conf/config.yaml": "lr: 1\n", "ex/conf/train.yaml": "lr: 2\n" };
    const cwd = project({ ...files, "ex/train.py": TRAIN });
    const line = ["--", "echo", "lr=${lr}"];
    const ran = hydraconf(cwd, "run", ...line);
    expect(ran.stdout).toContain("lr=2");
    expect(ran.stderr).toContain(
      "the configs of ex/train.py are composed, not conf/config.yaml of this directory: -cp conf",
    );
    for (const [words, rate] of [
      [["-cp", "conf"], 1],
      [["--app", "ex/train.py"], 2],
    ] as const) {
      const named = hydraconf(cwd, "run", ...words, ...line);
      expect(named.stdout).toContain(`lr=${rate}`);
      expect(named.stderr).not.toContain("are composed, not");
    }
  });

  test("with --plain-flags, flags set keys", () => {
    const line = ["--lr", "0.2", "--m.d=3", "--", "echo", "${lr} ${m.d}", "--lr"];
    const ran = hydraconf(project(), "run", "--plain-flags", ...line);
    expect(ran.stdout).toContain("0.2 3 --lr\n");
    expect(ran.status).toBe(0);
    const refused = hydraconf(project(), "run", ...line);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain("unrecognized arguments: --lr");
    expect(refused.stderr).toContain("without dashes: lr=0.2 m.d=3, or add --plain-flags\n");
    const abbreviated = hydraconf(project(), "run", "--plain-fl", ...line);
    expect(abbreviated.stdout).toBe(ran.stdout);
  });

  test("with --plain-flags, a flag of a switch takes no value, and no flag takes --", () => {
    const cwd = project({ "conf/config.yaml": "fast: false\nlr: 1\n" });
    const ended = hydraconf(cwd, "run", "--plain-flags", "--lr", "--", "echo", "${lr}");
    expect([ended.status, ended.stderr]).toEqual([
      2,
      expect.stringContaining("argument --lr: expected one argument"),
    ]);
    const valued = hydraconf(cwd, "run", "--plain-flags", "--fast", "yes", "--", "echo", "${fast}");
    expect([valued.status, valued.stderr]).toEqual([
      2,
      expect.stringContaining("write --fast or --no-fast, or fast=yes"),
    ]);
  });

  test("--dry-run shows the command of every job and writes nothing", () => {
    const cwd = project();
    const ran = hydraconf(cwd, "run", "-m", "lr=1,2", "--dry-run", "--", "echo", "a ${lr}");
    expect(ran.stdout).toContain("#1 [--pass args: ${...} in its arguments]\n  echo 'a 2'");
    expect(readdirSync(cwd)).toEqual([]);
    const json = hydraconf(cwd, "run", "lr=1", "--dry-run", "--json", "--", "echo", "${lr}");
    expect(JSON.parse(json.stdout).jobs[0].plan.command).toEqual(["echo", "1"]);
  });
});

describe("results", () => {
  const PROGRAM = `#!/bin/sh
echo '{"step": 1, "loss": 0.5}' >> "$HYDRACONF_METRICS"
printf '%s' "$1" > "$HYDRACONF_RESULT"
echo "what went wrong" >&2
exit $2
`;

  const HOSTILE = `#!/bin/sh
printf '%s' '{"loss\\u001b]0;owned\\u0007": "\\u001b[2J\\u009b1A", "note": "a\\u0007\\nb"}' > "$HYDRACONF_RESULT"
`;

  test("whose names and values are shown, not obeyed, in the table of the sweep", () => {
    const cwd = project({ "hostile.sh": HOSTILE });
    const { status, stdout } = hydraconf(
      cwd,
      ...[
        "run",
        "-m",
        "x=1,2",
        "hydra.sweep.dir=out",
        "hydra/launcher=local",
        "--",
        "./hostile.sh",
      ],
    );
    expect(status).toBe(0);
    expect(stdout).toContain("loss\\u{1b}]0;owned\\u{7}");
    expect(stdout).toContain("\\u{1b}[2J\\u{9b}1A");
    expect(stdout.replaceAll(/[\n\t]/g, "")).not.toMatch(/\p{Cc}/u);
  });

  test("on a terminal, where only the table itself moves the cursor", () => {
    const cwd = project({ "hostile.sh": `${HOSTILE}printf 'no\\033[2J\\007' >&2; exit 3\n` });
    const program = fileURLToPath(new URL("../fixtures/programs/in_terminal.py", import.meta.url));
    const { stdout } = spawnSync(
      "python3",
      [
        ...[
          program,
          "never",
          process.execPath,
          command,
          "run",
          "-m",
          "x=1,2",
          "hydra.sweep.dir=out",
        ],
        ...["hydra/launcher=local", "--", "./hostile.sh"],
      ],
      { cwd, encoding: "utf8", env: { ...ENV, TERM: "xterm" } },
    );
    expect(stdout).toContain("0 of 2 jobs completed, 2 failed");
    expect(stdout).toContain("no\\u{7}");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what the table of a sweep uses
    const rest = stdout.replaceAll(/\u001b\[(?:[\d;]*m|\d+A|[JK])|[\r\n\t]/g, "");
    expect(rest).not.toMatch(/\p{Cc}/u);
  });

  test("a result file, a failure with its last words, and a result that is no JSON", () => {
    const cwd = project({ prog: PROGRAM });
    const ran = hydraconf(
      cwd,
      ...["run", "-m", "r='0.5','{\"a\": [NaN, -Infinity]}','x'", "c=0,4", "hydra.sweep.dir=out"],
      ...["hydra/launcher=local", "hydra.launcher.n_jobs=2", "--", "./prog", "${r}", "${c}"],
    );
    expect(rows(join(cwd, "out"))).toEqual([
      ["completed", 0.5, null],
      ["failed", 0.5, "what went wrong"],
      ["completed", { a: ["NaN", "-Infinity"] }, null],
      ["failed", { a: ["NaN", "-Infinity"] }, "what went wrong"],
      ["failed", null, expect.stringContaining("the result that the program wrote is no JSON")],
      ["failed", null, "what went wrong"],
    ]);
    expect(ran.status).toBe(4);
    expect(ran.stderr).toContain("--retry-failed out");
    const log = readFileSync(join(cwd, "out/.sweep/jobs/4.log"), "utf8");
    expect(log).toContain("a result is one JSON value");
    expect(readFileSync(join(cwd, "out/0/metrics.jsonl"), "utf8")).toContain('"loss": 0.5');
  });

  test("the last line of the output, where that is asked for", () => {
    const cwd = project();
    hydraconf(
      cwd,
      ...["run", "-m", "x=1,2", "hydra.sweep.dir=out", "--result", "stdout", "--"],
      ...["sh", "-c", "echo hello; echo '{\"y\": ${x}}'"],
    );
    expect(rows(join(cwd, "out"))).toEqual([
      ["completed", { y: 1 }, null],
      ["completed", { y: 2 }, null],
    ]);
  });

  test("a search minimizes what a program returns", () => {
    const cwd = project();
    const ran = hydraconf(
      cwd,
      ...["run", "-m", "x=1,2,3", "hydra/sweeper=random", "hydra.sweeper.n_trials=3"],
      ...["hydra.sweeper.seed=1", "hydra.sweep.dir=out", "--result=stdout", "--", "echo", "${x}"],
    );
    expect(ran.status).toBe(0);
    expect(readFileSync(join(cwd, "out/optimization_results.yaml"), "utf8")).toContain(
      "best_value: 1",
    );
  });

  test("a search whose jobs fail reports failed jobs, and no missing objective", () => {
    const cwd = project();
    const ran = hydraconf(
      cwd,
      ...["run", "-m", "x=1,2", "hydra/sweeper=random", "hydra.sweeper.n_trials=2"],
      ...[
        "hydra.sweeper.seed=1",
        "hydra.sweep.dir=out",
        "--",
        "sh",
        "-c",
        "echo no ${x} >&2; exit 3",
      ],
    );
    expect(ran.status).toBe(3);
    expect(ran.stderr).not.toContain("not a finite number");
    expect(ran.stderr).not.toContain("objective");
    expect(rows(join(cwd, "out"))).toContainEqual(["failed", null, "no 1"]);
  });

  test("an end by a signal of its own is a failure, and not the end of the sweep", () => {
    const cwd = project();
    const script = [
      "if [ ${x} = 1 ]; then kill -SEGV $$; fi; if [ ${x} = 2 ]; then exit 137; fi",
      "if [ ${x} = 3 ]; then echo 'a.c:3: main: Assertion `0` failed.' >&2; kill -ABRT $$; fi",
      "if [ ${x} = 4 ]; then echo 'FATAL ERROR: JavaScript heap out of memory' >&2; kill -ABRT $$; fi",
    ].join("\n");
    hydraconf(cwd, "run", "-m", "x=1,2,3,4,5", "hydra.sweep.dir=out", "--", "sh", "-c", script);
    expect(rows(join(cwd, "out"))).toEqual([
      ["failed", null, "sh was ended by SIGSEGV"],
      ["failed", null, "sh ended with exit code 137"],
      ["failed", null, "sh was ended by SIGABRT: a.c:3: main: Assertion `0` failed."],
      [
        "failed",
        null,
        "sh was ended by SIGABRT: out of memory; NODE_OPTIONS=--max-old-space-size=MB gives each job more",
      ],
      ["completed", null, null],
    ]);
  });

  test("a single run says which signal ended its program", () => {
    const killed = hydraconf(project(), "run", "--", "sh", "-c", "kill -9 $$");
    expect(killed).toMatchObject({
      status: 1,
      stderr: "sh was ended by SIGKILL: it was killed from outside\n",
    });
    const crashed = hydraconf(project(), "run", "--", "sh", "-c", "kill -SEGV $$");
    expect(crashed).toMatchObject({ status: 1, stderr: "sh was ended by SIGSEGV\n" });
  });

  test("a process that runs a program takes it along when it is killed: the job will run again", async () => {
    const cwd = project();
    const script = "echo $$ > pid; kill -KILL $PPID; sleep 1; echo > late";
    const argv = ["hydra.sweep.dir=out", "hydra/launcher=local", "--", "sh", "-c", script];
    expect(hydraconf(cwd, "run", "-m", "x=1", ...argv).status).toBe(1);
    expect(rows(join(cwd, "out"))).toEqual([["stopped", null, "killed by SIGKILL"]]);
    const pid = readFileSync(join(cwd, "pid"), "utf8").trim();
    await until(() => !existsSync(`/proc/${pid}`));
    expect(existsSync(join(cwd, "late"))).toBe(false);
  });
});

describe("a program of Python's Hydra", () => {
  const files = {
    "train.py": TRAIN,
    "conf/train.yaml": "defaults: [{db: a}, _self_]\nlr: 0.1\n",
    "conf/db/a.yaml": "host: a\n",
  };

  test("gets its job's overrides, number and directory, and tells its result and its exception", () => {
    const damage = `import atexit, os, sys
if "lr=0.05" in sys.argv:
    atexit.register(lambda: open(os.environ["HYDRACONF_JOB_REPORT"], "w").write("{"))
`;
    const cwd = project({ ...files, "train.py": `${TRAIN}${damage}` });
    const ran = hydraconf(
      cwd,
      ...["run", "-m", "lr=0.1,0.2,0.05", "hydra.sweep.dir=out", "--", "python3", "train.py"],
    );
    expect(ran.stdout).toContain("job 0 lr 0.1\n");
    expect(ran.stdout).toContain("job 1 lr 0.2\n");
    expect(rows(join(cwd, "out"))).toEqual([
      ["completed", { loss: 0.2, bad: "NaN" }, null],
      ["failed", null, "ValueError: diverged (train.py:7)"],
      [
        "failed",
        null,
        expect.stringMatching(/^the result that the task returned cannot be read: /),
      ],
    ]);
    expect(readFileSync(join(cwd, "out/1/.hydra/overrides.yaml"), "utf8")).toBe("- lr=0.2\n");
    expect(ran.stderr).toMatch(/#1 .*ValueError: diverged \(train\.py:7\)/);
  });

  test("gives its types to plain flags", () => {
    const cwd = project({
      ...files,
      "conf/train.yaml": "defaults: [{db: a}, _self_]\nlr: 0.1\nnote: x\nfast: false\n",
    });
    const ran = hydraconf(
      cwd,
      ...["run", "--plain-flags", "--note", "1,2", "--fast", "--db=a", "--lr", "1,2", "-m"],
      ...["--dry-run", "--json", "--", "python3", "train.py"],
    );
    const { jobs } = JSON.parse(ran.stdout);
    expect(jobs.map(({ overrides }: { overrides: readonly string[] }) => overrides)).toEqual([
      ["note='1,2'", "fast=True", "db=a", "lr=1"],
      ["note='1,2'", "fast=True", "db=a", "lr=2"],
    ]);
  });

  test("may have its overrides and its -m behind its name", () => {
    const cwd = project(files);
    const ran = hydraconf(
      cwd,
      ...["run", "hydra.sweep.dir=out", "--dry-run", "--json", "--"],
      ...["python3", "train.py", "-m", "lr=1,2", "+x=3"],
    );
    const { jobs, mode } = JSON.parse(ran.stdout);
    expect(mode).toBe("multirun");
    expect(jobs[1].overrides).toEqual(["lr=2", "+x=3"]);
    expect(jobs[1].plan.command.slice(0, 4)).toEqual(["python3", "train.py", "lr=2", "+x=3"]);
    expect(jobs[1].plan.command).toContain(`hydra.run.dir=${join(cwd, "out/1")}`);
  });

  test("is refused with an override that does not exist in its tree", () => {
    const ran = hydraconf(project(files), "run", "lx=1", "--", "python3", "train.py");
    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain("Could not override 'lx'");
  });

  const OWN_CALLBACKS = {
    ...files,
    "mine.py": `class Mine:
    def __getattr__(self, name):
        def told(config, **more):
            with open("told", "a") as file:
                file.write("%s\\n" % name)
        return told
`,
  };
  const MINE = "+hydra.callbacks.mine._target_=mine.Mine";

  test("its own callbacks are told of jobs in their processes, and once of the sweep", () => {
    const cwd = project(OWN_CALLBACKS);
    const argv = ["hydra.sweep.dir=out", "hydra.run.dir=one", MINE, "--", "python3", "train.py"];
    const swept = hydraconf(cwd, "run", "-m", "lr=0.1,0.01", ...argv);
    expect([swept.status, readFileSync(join(cwd, "told"), "utf8").split("\n")]).toEqual([
      0,
      ["on_multirun_start", "on_job_end", "on_job_end", "on_multirun_end", ""],
    ]);
    writeFileSync(join(cwd, "told"), "");
    hydraconf(cwd, "run", "lr=0.1", ...argv);
    expect(readFileSync(join(cwd, "told"), "utf8")).toBe("on_run_start\non_job_end\non_run_end\n");
  });

  test("of a sweep with a failed job its callbacks are not told the end, as in Hydra", () => {
    const cwd = project(OWN_CALLBACKS);
    const argv = ["hydra.sweep.dir=out", MINE, "--", "python3", "train.py"];
    expect(hydraconf(cwd, "run", "-m", "lr=0.1,0.2", ...argv).status).toBe(1);
    expect(readFileSync(join(cwd, "told"), "utf8")).not.toContain("multirun_end");
  });

  test("a program that cannot begin its sweep gets a warning, and its jobs run", () => {
    const cwd = project({
      ...OWN_CALLBACKS,
      "train.py": `import sys
if "--multirun" in sys.argv:
    raise SystemExit(3)
${TRAIN}`,
    });
    const argv = ["hydra.sweep.dir=out", MINE, "--", "python3", "train.py"];
    const ran = hydraconf(cwd, "run", "-m", "lr=0.1", ...argv);
    expect(ran.stderr).toContain("the callbacks of the program are not notified of the sweep");
    expect(ran.status).toBe(0);
  });

  test("log handlers and resolvers that only it has are left to it", () => {
    const handlers = (log: string): string =>
      `  ${log}:\n    handlers: {rich: {class: rich.logging.RichHandler}}\n    root: {handlers: [rich]}\n`;
    const cwd = project({
      ...files,
      "conf/train.yaml": `lr: 0.1\ntwice: \${mine:\${lr}}\nhydra:\n${handlers("job_logging")}${handlers("hydra_logging")}`,
    });
    const argv = ["hydra.sweep.dir=out", "hydra.run.dir=one", "--", "python3", "train.py"];
    const swept = hydraconf(cwd, "run", "-m", "lr=0.1,0.01", ...argv);
    expect(swept.stdout).toContain("[HYDRA] Launching 2 jobs locally");
    expect(rows(join(cwd, "out"))).toEqual([
      ["completed", { loss: 0.2, bad: "NaN" }, null],
      ["completed", { loss: 0.02, bad: "NaN" }, null],
    ]);
    expect(hydraconf(cwd, "run", "lr=0.1", ...argv.slice(1)).status).toBe(0);
  });

  test("a sweep that is killed goes on, and runs no job twice", async () => {
    const cwd = project({
      "train.py": TRAIN.replace(
        "    print(",
        '    open("ran", "a").write("%s\\n" % cfg.lr)\n    import time; time.sleep(0.4)\n    print(',
      ),
      "conf/train.yaml": "lr: 0.1\n",
    });
    const argv = [
      "run",
      "-m",
      "lr=0.01,0.02,0.03,0.04",
      "hydra.sweep.dir=out",
      "hydra/launcher=local",
    ];
    const child = spawn(
      process.execPath,
      [command, ...argv, "hydra.launcher.n_jobs=1", "--", "python3", "train.py"],
      { cwd, env: ENV, stdio: "ignore", detached: true },
    );
    const done = () => (existsSync(join(cwd, "ran")) ? readFileSync(join(cwd, "ran"), "utf8") : "");
    while (done().split("\n").length < 3) await new Promise((next) => setTimeout(next, 20));
    process.kill(-(child.pid ?? 0), "SIGKILL");
    const resumed = hydraconf(cwd, "run", "--resume", "out");
    expect(resumed.status).toBe(0);
    expect(rows(join(cwd, "out")).map(([status]: [string]) => status)).toEqual(
      Array.from({ length: 4 }, () => "completed"),
    );
    // The worker of the job that ran at the kill has gone on.
    expect(done().trim().split("\n").toSorted()).toEqual(["0.01", "0.02", "0.03", "0.04"]);
  }, 60_000);
});

describe("a launcher named in a single run", () => {
  const FLAKY = `#!/bin/sh
echo "try with $1"
cat .hydra/config.yaml >> ../seen
test -e ../tried && printf '0.5' > "$HYDRACONF_RESULT" && exit 0
touch ../tried
echo "no luck" >&2
exit 3
`;
  const LOCAL = ["hydra/launcher=local", "hydra.run.dir=runs/a"];

  test("runs the job, in the run's directory and with its config", () => {
    const cwd = project({ prog: FLAKY });
    const argv = ["lr=0.1", "hydra.job.chdir=true", "--", join(cwd, "prog"), "${lr}"];
    const ran = hydraconf(cwd, "run", ...LOCAL, "hydra.launcher.max_retries=1", ...argv);
    expect(ran.stdout).toContain("try with 0.1\n");
    expect(ran.stderr).toMatch(/starts again: no luck\n/);
    expect(ran.status).toBe(0);
    expect(readdirSync(join(cwd, "runs")).toSorted()).toEqual(["a", "seen", "tried"]);
    const files = readdirSync(join(cwd, "runs/a"));
    expect(files.filter((name) => /^(multirun|sweep)\./.test(name))).toEqual([]);
    expect(readFileSync(join(cwd, "runs/a/.hydra/hydra.yaml"), "utf8")).toMatch(/\bmode: RUN$/m);
    const { jobs } = JSON.parse(hydraconf(cwd, "sweep", "status", "--json", "runs/a").stdout);
    expect(jobs).toMatchObject([{ status: "completed", attempts: 2 }]);
  }, 30_000);

  test("gives a program of Hydra what a run gives it", () => {
    const seen =
      'import os, sys\nprint(sorted(sys.argv[1:]), os.environ.get("HYDRACONF_JOB_NUMBER"))\n';
    const cwd = project({ "train.py": `${seen}${TRAIN}`, "conf/train.yaml": "lr: 0.1\nnum: 7\n" });
    const program = ["--", "python3", "train.py"];
    const launched = hydraconf(cwd, "run", ...LOCAL, "lr=0.05", ...program);
    const plain = hydraconf(cwd, "run", "hydra.run.dir=runs/a", "lr=0.05", ...program);
    expect([launched.status, plain.status]).toEqual([0, 0]);
    const told = /\[HYDRA\] Launching 1 job in 1 process\n.*\[HYDRA\] \t#0 : lr=0.05\n/;
    const temporary = /\/tmp\/[\w/-]+/g;
    expect(
      launched.stdout
        .replace(told, "told\n")
        .replaceAll(/\[20.*?\]/g, "")
        .replaceAll(temporary, "T"),
    ).toBe(`told\n${plain.stdout.replaceAll(temporary, "T")}`);
  }, 30_000);

  test("its failure has the exit code, and --retry-failed runs the job again", () => {
    const cwd = project({ prog: FLAKY });
    const argv = ["lr=0.1", "hydra.job.chdir=true", "--", join(cwd, "prog"), "${lr}"];
    const ran = hydraconf(cwd, "run", ...LOCAL, ...argv);
    expect(ran.stderr).toContain("no luck");
    expect(ran.stderr).toMatch(/ run --retry-failed runs\/a$/m);
    expect(ran.status).toBe(3);
    const again = hydraconf(cwd, "run", "--retry-failed", "runs/a");
    expect(again.stdout).toContain("try with 0.1\n");
    expect(again.status).toBe(0);
    expect(hydraconf(cwd, "run", "--resume", "runs/a", "hydra/launcher=basic").status).toBe(0);
  }, 30_000);

  test("is shown by --dry-run, and keeps runs apart", () => {
    const cwd = project({ "runs/a/multirun.yaml": "" });
    const dry = hydraconf(cwd, "run", ...LOCAL, "lr=1", "--dry-run", "--", "echo", "${lr}");
    expect(dry.stdout).toContain("One job would run in ");
    expect(dry.stdout).toContain("hydra/launcher=local");
    const json = hydraconf(cwd, "run", ...LOCAL, "--dry-run", "--json", "--", "echo");
    expect(JSON.parse(json.stdout)).toMatchObject({ mode: "run", launcher: "local" });
    const ran = hydraconf(cwd, "run", ...LOCAL, "lr=1", "--", "echo", "${lr}");
    expect(ran.stderr).toContain("holds the results of another run: multirun.yaml");
    expect(ran.status).toBe(1);
    expect(readdirSync(join(cwd, "runs/a"))).toEqual(["multirun.yaml"]);
  }, 30_000);

  test("may be left to itself with --detach", () => {
    const cwd = project();
    const ran = hydraconf(cwd, "run", ...LOCAL, "--detach", "--", "sh", "-c", "echo done > here");
    expect(ran.stdout).toMatch(/ sweep wait \S+runs\/a /);
    expect(ran.status).toBe(0);
    expect(hydraconf(cwd, "sweep", "wait", "runs/a").status).toBe(0);
    expect(readFileSync(join(cwd, "here"), "utf8")).toBe("done\n");
    expect(existsSync(join(cwd, "runs/a/multirun.yaml"))).toBe(false);
  }, 30_000);

  test("one that only files name is for sweeps, as in Hydra", () => {
    const cwd = project({ "conf/config.yaml": "defaults:\n  - override hydra/launcher: local\n" });
    const ran = hydraconf(cwd, "run", "hydra.run.dir=out", "--", "echo", "here");
    expect(ran.stdout).toBe("here\n");
    expect(existsSync(join(cwd, "out/.sweep"))).toBe(false);
    const set = hydraconf(cwd, "run", "hydra.run.dir=set", "hydra.launcher.n_jobs=1", "--", "echo");
    expect(set.status).toBe(0);
    expect(existsSync(join(cwd, "set/.sweep"))).toBe(true);
  }, 30_000);
});

describe("a program of hydraMain", () => {
  const PROGRAM = `import { exitCode, hydraMain } from "hydraconf";
await hydraMain({ configPath: "conf", configName: "config" }, async (config) => {
  const x: unknown = config.get("x");
  if (x === 3) throw new Error("diverged");
  return x === 4 ? exitCode(3, { returnValue: { loss: 4 }, reason: "no data for today" }) : { loss: Number(x) * 2, bad: Number.NaN };
});
`;
  const hydraMainProject = (): string => {
    const cwd = project({
      "conf/config.yaml": "x: 1\n",
      "package.json": '{ "type": "module" }',
      "prog.mjs": PROGRAM.replace(": unknown", ""),
      "prog.ts": PROGRAM,
    });
    mkdirSync(join(cwd, "node_modules/.bin"), { recursive: true });
    symlinkSync(ROOT, join(cwd, "node_modules/hydraconf"));
    symlinkSync(join(ROOT, "node_modules/.bin/tsx"), join(cwd, "node_modules/.bin/tsx"));
    return cwd;
  };

  test.each([
    ["node", "prog.mjs"],
    ["npx", "tsx", "prog.ts"],
  ])("tells what its task returned: %s %s %s", (...program) => {
    const cwd = hydraMainProject();
    hydraconf(cwd, "run", "-m", "x=1,3,4", "hydra.sweep.dir=out", "--", ...program);
    expect(rows(join(cwd, "out"))).toEqual([
      ["completed", { loss: 2, bad: "NaN" }, null],
      ["failed", null, expect.stringMatching(/^Error: diverged \(prog\.m?[jt]s:\d+\)$/)],
      ["failed", { loss: 4 }, "no data for today"],
    ]);
  });

  test("can be searched", () => {
    const cwd = hydraMainProject();
    const sweep = ["-m", "x=interval(5,6)", "hydra.sweep.dir=out", "hydra/sweeper=random"];
    const search = ["n_trials=3", "objective=loss", "seed=1"].map((one) => `hydra.sweeper.${one}`);
    const ran = hydraconf(cwd, "run", ...sweep, ...search, "--", "node", "prog.mjs");
    expect([ran.status, ran.stdout]).toEqual([0, expect.stringContaining("Best of 3 trials: x=")]);
  });

  test("another program that it starts tells nothing", () => {
    const cwd = hydraMainProject();
    writeFileSync(
      join(cwd, "outer.mjs"),
      `import { hydraMain } from "hydraconf";
import { execFileSync } from "node:child_process";
await hydraMain({ configPath: "conf", configName: "config" }, async () => {
  execFileSync(process.execPath, ["prog.mjs", "hydra.run.dir=inner"]);
});
`,
    );
    hydraconf(cwd, "run", "-m", "x=1", "hydra.sweep.dir=out", "--", "node", "outer.mjs");
    expect(rows(join(cwd, "out"))).toEqual([["completed", null, null]]);
  });
});

describe("refusals", () => {
  test.each([
    [["run"], "no program: put -- and its command line"],
    [["run", "lr=1", "--"], "no program follows '--'"],
    [
      ["run", "--pass", "env", "--flags", "--", "ls"],
      "argument --flags: not allowed with --pass env",
    ],
    [
      ["-m", "lr=1,2", "--", "python3", "train.py"],
      "to run a program: hydraconf run -m lr=1,2 -- python3 train.py",
    ],
    [["run", "-m", "./prog"], "-- ./prog"],
  ])("%j", (argv, expected) => {
    const ran = hydraconf(project(), ...argv);
    expect(ran.status).toBe(2);
    expect(ran.stderr).toContain(expected);
  });

  test.each([["-m", "lr=1,2", "--", "true"], ["-m"]])("a misspelt run: %j", (...argv) => {
    const ran = hydraconf(project(), "rnu", ...argv);
    expect(ran.status).toBe(2);
    expect(ran.stderr).toContain("did you mean run?");
  });

  test.each([
    ["no-such-program", "The program 'no-such-program' was not found on PATH"],
    ["./data.txt", "'./data.txt' is not executable"],
    ["data.txt", "for the file here, write ./data.txt"],
  ])("a program that is not there: %s", (program, expected) => {
    const cwd = project({ "data.txt": "" });
    for (const flags of [[], ["-m", "lr=1,2"]]) {
      const ran = hydraconf(cwd, "run", ...flags, "--", program);
      expect([ran.status, ran.stderr]).toEqual([1, expect.stringContaining(expected)]);
      expect(readdirSync(cwd)).toEqual(["data.txt"]);
    }
  });

  test.each([
    [["python3", "trainn.py"], "The script 'trainn.py' was not found\n  Did you mean 'train.py'?"],
    [["python3", "-u", "src/evl.py", "x=1"], "Did you mean 'src/eval.py'?"],
    [["uv", "run", "trainn.py"], "Did you mean 'train.py'?"],
    [["torchrun", "--nproc-per-node", "2", "trainn.py"], "Did you mean 'train.py'?"],
    [["node", "other.mjs"], "The script 'other.mjs' was not found"],
  ])("a script that is not there, before the first job: %j", (argv, expected) => {
    const cwd = project({ "train.py": TRAIN, "src/eval.py": TRAIN });
    for (const flags of [["-m", "lr=1,2"], ["-m", "lr=1,2", "--dry-run"], []]) {
      const ran = hydraconf(cwd, "run", ...flags, "--", ...argv);
      expect([ran.status, ran.stdout, ran.stderr]).toEqual([
        1,
        "",
        expect.stringContaining(expected),
      ]);
    }
    expect(readdirSync(cwd).sort()).toEqual(["src", "train.py"]);
  });

  test("a script that is not there, above the directory, before the first job", () => {
    const cwd = project({ "train.py": TRAIN, "sub/x.txt": "" });
    for (const flags of [["-m", "lr=1,2"], ["-m", "lr=1,2", "--dry-run"], []]) {
      const ran = hydraconf(join(cwd, "sub"), "run", ...flags, "--", "python3", "../trian.py");
      expect([ran.status, ran.stdout]).toEqual([1, ""]);
      expect(ran.stderr).toContain(
        "The script '../trian.py' was not found\n  Did you mean '../train.py'?",
      );
    }
    expect(readdirSync(join(cwd, "sub"))).toEqual(["x.txt"]);
  });

  test("a script that a job finds from its own directory", () => {
    const cwd = project({ "sub/train.py": "print('found')\n" });
    const argv = ["hydra.run.dir=out", "hydra.job.chdir=true", "--", "python3", "../train.py"];
    const ran = hydraconf(join(cwd, "sub"), "run", ...argv);
    expect([ran.status, ran.stdout]).toEqual([0, expect.stringContaining("found")]);
  });

  test.each([
    [["sh", "-c", "echo $0", "absent.py"], "absent.py"],
    [["echo", "absent.py"], "absent.py"],
    [["python3", "-c", "import sys; print(sys.argv[1])", "absent.py"], "absent.py"],
    [["python3", "${name}.py"], "printed"],
  ])("a word that is not its script may name no file: %j", (argv, printed) => {
    const cwd = project({ "given.py": "print('printed')\n" });
    const ran = hydraconf(cwd, "run", "name=given", "--", ...argv);
    expect([ran.status, ran.stdout]).toEqual([0, expect.stringContaining(printed)]);
  });

  test.each([[[]], [["-cn", "train"]]])(
    "a program with a syntax error, before the first job: %j",
    (flags) => {
      const cwd = project({
        "conf/train.yaml": "lr: 1\n",
        "train.py": TRAIN.replace("def main(cfg):", "def main(cfg:"),
      });
      const ran = hydraconf(cwd, "run", "-m", "lr=1,2", ...flags, "--", "python3", "train.py");
      expect([ran.status, ran.stdout]).toEqual([1, ""]);
      expect(ran.stderr).toMatch(/train\.py has a syntax error: .*\n --> .*train\.py:4:/);
      expect(readdirSync(cwd).sort()).toEqual(["conf", "train.py"]);
    },
  );

  test("a program whose config only its ConfigStore has", () => {
    const source =
      'import hydra\n@hydra.main(config_name="config", version_base=None)\ndef f(cfg): pass\n';
    const ran = hydraconf(project({ "app.py": source }), "--cfg", "job");
    expect(ran.stderr).toContain("'hydraconf python sync' reads what a Python program registers");
  });

  test("a conf directory whose config was not named", () => {
    const ran = hydraconf(project({ "conf/train.yaml": "lr: 1\n" }), "run", "--", "true");
    expect(ran.stderr).toContain("name the primary config: -cn train");
  });
});

describe("a project whose ConfigStore was synced", () => {
  const store = (): string => {
    const act = { kind: "enum", name: "Act", members: ["RELU", "GELU"], values: ["r", "g"] };
    const node = {
      t: { kind: "any" },
      m: [
        ["lr", { t: { kind: "any" }, v: 0.5 }],
        ["act", { t: act, v: "RELU" }],
      ],
    };
    return project({
      "main.py": `import hydra\n@hydra.main(version_base="1.3", config_path="conf", config_name="config")\ndef main(cfg): pass\n`,
      "conf/config.yaml": "defaults: [optimizer: adam, _self_]\n",
      ".hydraconf/python-store.json": JSON.stringify({
        version: 1,
        modules: [],
        sources: {},
        classes: {},
        entries: { "optimizer/adam": { package: null, node } },
      }),
    });
  };
  test.each([
    [["--cfg", "job"], "lr: 0.5"],
    [["-cp", "conf"], "lr: 0.5"],
    [["-cp", "conf", "--app", "main.py"], "lr: 0.5"],
    [["schema", "--types", "-o", "-"], "lr: number"],
    [["schema", "--app", "main.py"], '"optimizer"'],
    [["schema", "-cp", "conf", "--types", "-o", "-"], "lr: number"],
    [["run", "--", "sh", "-c", "echo ${optimizer.lr}"], "0.5"],
    [["run", "-cp", "conf", "--", "sh", "-c", "echo ${optimizer.lr}"], "0.5"],
  ])("composes with it: %j", (argv, printed) => {
    const ran = hydraconf(store(), ...argv);
    expect(ran.stderr).toBe("");
    expect(ran.stdout).toContain(printed);
  });

  test("completion and help list the members of an enum, each once", () => {
    const cwd = store();
    const completed = hydraconf(cwd, "-sc", "query=fish", "--", "optimizer.act=");
    const texts = completed.stdout.split("\n").flatMap((line) => line.split("\t")[0] || []);
    expect(texts).toEqual(["optimizer.act=RELU", "optimizer.act=GELU"]);
    expect(hydraconf(cwd, "--help", "optimizer.act").stdout).toMatch(/allowed +RELU, GELU\n/);
  });
});
