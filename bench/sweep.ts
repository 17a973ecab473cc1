/** A sweep of 1,000 jobs that do nothing, in this process, beside a script that prints and writes what it leaves; one of a command, beside GNU parallel; and one of a program of Python's Hydra, beside Hydra's own: `npm run bench sweep` */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hydraMain } from "../src/app/cli/hydra-main.ts";
import { commandPath } from "../tests/e2e/command.ts";
import { least, measure } from "./measure.ts";
import { spentBy } from "./processes.ts";
import { createScore, ms, type Score } from "./score.ts";
import { leaveTraces, readTraces } from "./sweep-traces.ts";

const JOBS = 1000;
/** Other programs share caches and memory with both: the quietest of so many counts. The first warm up the compiler. */
const ROUNDS = 10;
/** It takes 1.45 to 1.6. */
const GOAL = 1.5;

const CONFIG = "x: 1\nname: run-${x}\ndb:\n  host: a\n  port: 1\nhydra: {sweep: {dir: s}}\n";

/** Files in memory: a disk, and who else writes to it, are no part of what is measured. */
const MEMORY = "/dev/shm";

export async function benchSweep(print: (line: string) => void): Promise<boolean> {
  const score = createScore(print);
  const isInMemory = existsSync(MEMORY);
  const folder = mkdtempSync(join(isInMemory ? MEMORY : tmpdir(), "hydraconf-bench-"));
  const sweeps: number[] = [];
  const scripts: number[] = [];
  try {
    const traces = readTraces(join(await sweepIn(folder), "s"), JOBS);
    const runs = [
      async () => sweeps.push(await cpuTimeOf(() => sweepIn(folder))),
      async () =>
        scripts.push(
          await cpuTimeOf(() => leaveTraces(mkdtempSync(join(folder, "script-")), traces)),
        ),
    ];
    for (let round = 0; round < ROUNDS; round++)
      for (const run of round % 2 === 0 ? runs : runs.toReversed()) await run();
  } finally {
    // Not after each: ext4 looks for a new file's inode past all that were given up in the last seconds, so that the
    // next round's files would cost ten times as much.
    rmSync(folder, { recursive: true, force: true });
  }
  const sweep = least(sweeps);
  const script = least(scripts);
  const detail = `${ms(sweep / JOBS)} a job, the script ${ms(script / JOBS)}`;
  const what = `a sweep of ${JOBS} jobs beside a script`;
  // On a disk both are mostly its work: the ratio is small whatever ours takes, and a limit would hold of itself.
  if (isInMemory) score.atMost(what, sweep / script, GOAL, "x", detail);
  else
    score.unjudged(
      what,
      sweep / script,
      "x",
      `no limit: without ${MEMORY} it says little; ${detail}`,
    );
  benchPrograms(score);
  benchHydra(score);
  return score.reached();
}

const PROGRAMS = 200;
/** It takes 2.1 to 2.4 beside other programs, 3.2 on a quiet machine; before processes were used again, 16. */
const PROGRAMS_GOAL = 2.5;
const PLANNED = 1000;
const PLANNING_GOAL_MS = 1000;

/** A sweep of a trivial command beside GNU parallel on as many slots, and the planning of a larger one. */
function benchPrograms(score: Score): void {
  const run = (count: number, ...options: readonly string[]) => [
    ...[process.execPath, commandPath("hydraconf"), "run", "-m", `x=range(0,${count})`],
    ...["hydra/launcher=local", "hydra.launcher.n_jobs=2", ...options, "--", "true", "${x}"],
  ];
  const planning = inNewFolder(tmpdir(), (cwd) =>
    least([1, 2, 3].map(() => spentBy(run(PLANNED, "--dry-run"), cwd).cpuMs)),
  );
  const what = `start, and plan of ${PLANNED} jobs of a command`;
  score.atMost(what, planning, PLANNING_GOAL_MS, "ms", "of CPU");
  const ratio = `${PROGRAMS} jobs of a command beside GNU parallel`;
  if (spawnSync("parallel", ["--version"]).status !== 0) {
    const why = "SKIPPED: GNU parallel is not here (Debian: parallel)";
    score.unjudged(ratio, Number.NaN, "x", why);
    return;
  }
  const numbers = Array.from({ length: PROGRAMS }, (_, number) => String(number));
  const parallel = ["parallel", "-j2", "true", "{}", ":::", ...numbers];
  const beside = (parent: string) =>
    inNewFolder(parent, (cwd) => {
      const rounds = [1, 2, 3].map(() => [
        spentBy(run(PROGRAMS), cwd).cpuMs,
        spentBy(parallel, cwd).cpuMs,
      ]);
      const ours = least(rounds.map(([first = Number.NaN]) => first));
      const theirs = least(rounds.map(([, second = Number.NaN]) => second));
      const detail = `${ms(ours / PROGRAMS)} a job, parallel ${ms(theirs / PROGRAMS)}`;
      return { value: ours / theirs, detail };
    });
  const onDisk = beside(tmpdir());
  if (!existsSync(MEMORY)) {
    score.atMost(ratio, onDisk.value, PROGRAMS_GOAL, "x", onDisk.detail);
    return;
  }
  const inMemory = beside(MEMORY);
  score.atMost(ratio, inMemory.value, PROGRAMS_GOAL, "x", inMemory.detail);
  // parallel leaves nothing; a job here has a directory and a record, each made safe against a crash of the machine.
  score.unjudged("  with results on a disk", onDisk.value, "x", onDisk.detail);
}

const HYDRA_JOBS = 12;
/** It takes 1.1 to 1.25; with an interpreter for each job, 3.7. */
const HYDRA_GOAL = 1.2;
const HYDRA_ROUNDS = 7;
const HYDRA_PROGRAM = `import hydra

@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    print(cfg.x)

if __name__ == "__main__":
    main()
`;

/** A sweep of a trivial program of Python's Hydra beside that program's own `-m`. */
function benchHydra(score: Score): void {
  const what = `${HYDRA_JOBS} jobs of a program of Python's Hydra beside its own -m`;
  const env = { PYTHONPATH: process.env["HYDRACONF_HYDRA"] ?? process.env["PYTHONPATH"] ?? "" };
  const python = ["python3", "/usr/bin/python3"].find(
    (one) =>
      spawnSync(one, ["-c", "import hydra"], { env: { ...process.env, ...env } }).status === 0,
  );
  if (python === undefined) {
    const why = "SKIPPED: Hydra is not here (pip install hydra-core; HYDRACONF_HYDRA=FOLDER)";
    score.unjudged(what, Number.NaN, "x", why);
    return;
  }
  const program = [python, "app.py"];
  const jobs = `x=range(0,${HYDRA_JOBS})`;
  const run = [process.execPath, commandPath("hydraconf"), "run", "-m", jobs, "--", ...program];
  inNewFolder(existsSync(MEMORY) ? MEMORY : tmpdir(), (cwd) => {
    mkdirSync(join(cwd, "conf"));
    writeFileSync(join(cwd, "conf/config.yaml"), "x: 1\n");
    writeFileSync(join(cwd, "app.py"), HYDRA_PROGRAM);
    const spent = (argv: readonly string[]) => spentBy(argv, cwd, env).cpuMs;
    const { ours, theirs } = measure(
      { ours: () => spent(run), theirs: () => spent([...program, "-m", jobs]) },
      HYDRA_ROUNDS,
      (one) => one(),
    );
    const detail = `${ms(ours / HYDRA_JOBS)} a job, Hydra ${ms(theirs / HYDRA_JOBS)}`;
    score.atMost(what, ours / theirs, HYDRA_GOAL, "x", detail);
  });
}

function inNewFolder<T>(parent: string, use: (folder: string) => T): T {
  const folder = mkdtempSync(join(parent, "hydraconf-bench-"));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Milliseconds of CPU that a call takes, the system's work for it included. */
async function cpuTimeOf(run: () => unknown): Promise<number> {
  const started = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
}

/**
 * Runs a sweep in a new directory of the folder.
 *
 * @returns that directory; the sweep is in `s`
 */
async function sweepIn(folder: string): Promise<string> {
  const cwd = mkdtempSync(join(folder, "sweep-"));
  mkdirSync(join(cwd, "conf"));
  writeFileSync(join(cwd, "conf/config.yaml"), CONFIG);
  let ran = 0;
  const code = await hydraMain(
    { name: "bench", base: cwd, configPath: "conf", configName: "config" },
    () => {
      ran++;
    },
    {
      argv: ["-m", `x=range(0,${JOBS})`],
      env: process.env,
      cwd,
      now: new Date(),
      console: { stdout: () => {}, stderr: () => {} },
    },
  );
  if (code !== 0 || ran !== JOBS) throw new Error(`${ran} of ${JOBS} jobs ran, exit code ${code}`);
  return cwd;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = (await benchSweep(console.log)) ? 0 : 1;
