/** A sweep of 1,000 jobs that do nothing, in this process: `npm run bench sweep` */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hydraMain } from "../src/app/index.ts";
import { least } from "./measure.ts";
import { createScore, ms } from "./score.ts";

const JOBS = 1000;
/** Milliseconds for each job beyond its task: composing, directory, saved files, record. */
const GOAL = 2;
/** Other programs make the file system's part of a job dearer: the quietest of so many sweeps counts. */
const ROUNDS = 4;

const CONFIG = "x: 1\nname: run-${x}\ndb:\n  host: a\n  port: 1\nhydra: {sweep: {dir: s}}\n";

export async function benchSweep(print: (line: string) => void): Promise<boolean> {
  const score = createScore(print);
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-bench-"));
  const rounds: Times[] = [];
  try {
    await sweep(folder, JOBS / 10);
    for (let round = 0; round < ROUNDS; round++) rounds.push(await sweep(folder, JOBS));
  } finally {
    // Not after each: ext4 looks for a new file's inode past all that were given up in the last seconds, so that the
    // next round's files would cost ten times as much.
    rmSync(folder, { recursive: true, force: true });
  }
  const cpu = least(rounds.map((times) => times.cpu)) / JOBS;
  const wall = least(rounds.map((times) => times.wall)) / JOBS;
  score.atMost(`a job of ${JOBS} in process`, cpu, GOAL, " ms", `${ms(wall)} of wall time`);
  return score.reached();
}

interface Times {
  /** Of this process, the system's work for it included. */
  readonly cpu: number;
  readonly wall: number;
}

/** Milliseconds that a sweep of so many jobs takes, in a directory of its own in the folder. */
async function sweep(folder: string, jobs: number): Promise<Times> {
  const cwd = mkdtempSync(join(folder, "sweep-"));
  mkdirSync(join(cwd, "conf"));
  writeFileSync(join(cwd, "conf/config.yaml"), CONFIG);
  let ran = 0;
  const began = performance.now();
  const started = process.cpuUsage();
  const code = await hydraMain(
    { name: "bench", base: cwd, configPath: "conf", configName: "config" },
    () => {
      ran++;
    },
    {
      argv: ["-m", `x=range(0,${jobs})`],
      env: process.env,
      cwd,
      now: new Date(),
      console: { stdout: () => {}, stderr: () => {} },
    },
  );
  const { user, system } = process.cpuUsage(started);
  const times = { cpu: (user + system) / 1000, wall: performance.now() - began };
  if (code !== 0 || ran !== jobs) throw new Error(`${ran} of ${jobs} jobs ran, exit code ${code}`);
  return times;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = (await benchSweep(console.log)) ? 0 : 1;
