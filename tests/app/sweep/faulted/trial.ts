/** One sweep that meets faults and is resumed, and what must hold of it. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hydraMain } from "../../../../src/app/cli/hydra-main.ts";
import { type JobState, readJobState } from "../../../../src/app/record/job-state.ts";
import {
  jobFile,
  jobLog,
  launcherFile,
  startedFile,
  sweepFolder,
} from "../../../../src/app/record/layout.ts";
import { isRecorded } from "../../../../src/app/record/sweep-record.ts";
import { DIRECTORY_CLAIM } from "../../../../src/foundation/system/process-claim.ts";
import { thisProcess } from "../../../../src/foundation/system/process-identity.ts";
import {
  type Fault,
  type FaultPlan,
  LAUNCHER,
  worker,
} from "../../../foundation/system/fault-at/plan.ts";
import { rewriteSealed } from "../../record/written.ts";
import { CONFIG, options, task } from "./program.ts";

export const JOBS = 12;
const NUMBERS = Array.from({ length: JOBS }, (_, number) => number);

/** The launcher and each worker. */
const ROLES = [LAUNCHER, ...NUMBERS.map(worker)];

/** A directory that is chosen by name: what is begun anew begins there. */
const SWEEP = ["-m", `x=range(0,${JOBS})`, "hydra.sweep.dir=faulty/s"];

export const SWEEPS: Readonly<Record<"basic" | "local", readonly string[]>> = {
  basic: SWEEP,
  local: [...SWEEP, "hydra/launcher=local", "hydra.launcher.n_jobs=2"],
};
export type How = keyof typeof SWEEPS;

/** How a sweep went on that met a fault. */
export const OUTCOMES = [
  "not reached",
  "completed all the same",
  "resumed",
  "resumed with --retry-failed",
  "begun anew",
] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Trial {
  readonly outcome: Outcome;
  /** What must not be, a line each. */
  readonly problems: readonly string[];
  /** Of the sweep's first part, by role. */
  readonly operations: (role: number) => readonly number[];
}

interface Run {
  readonly code: number;
  readonly printed: string;
}

/** Longer than any of it takes, on a machine that has more to do. */
const HANG_MS = 240_000;

/** @param script the program as a file */
export async function tryFaults(
  how: How,
  faults: readonly Fault[],
  {
    folder,
    plan,
    script,
  }: { readonly folder: string; readonly plan: FaultPlan; readonly script: string },
): Promise<Trial> {
  const place = openPlace(folder, script);
  const problems: string[] = [];
  const check = (holds: boolean, what: string) => {
    if (!holds) problems.push(what);
  };
  try {
    plan.arm(...faults);
    const first = await place.run(SWEEPS[how]);
    await workersGone();
    const failed = faults.flatMap(({ role }) => plan.failed(role) ?? []);
    const operations = ROLES.map(plan.operations);
    plan.arm();
    place.bury();
    check(!STACK.test(first.printed), `an uncoded error:\n${first.printed}`);
    for (const number of NUMBERS) {
      const log = place.log(number);
      check(!STACK.test(log), `an uncoded error of #${number}:\n${log}`);
    }
    const before = NUMBERS.map(place.state);
    const done = NUMBERS.filter((number) => before[number]?.status === "completed");
    if (first.code === 0) {
      check(done.length === JOBS, `exit code 0, and only ${done} are done`);
      for (const number of NUMBERS)
        check(
          place.isWhole(number, first.printed.replaceAll("at work", "")),
          `exit code 0, and files of #${number} are missing: ${first.printed}`,
        );
    }
    for (const number of done)
      check(place.executions("end", number) === 1, `#${number} is completed and did not end once`);
    const outcome =
      first.code === 0
        ? failed.length === 0
          ? "not reached"
          : "completed all the same"
        : await goOn(place, SWEEPS[how], check);
    const lines = place.table();
    check(lines.length === JOBS, `the table has ${lines.length} rows`);
    for (const number of NUMBERS) {
      const state = place.state(number);
      check(state?.status === "completed", `#${number} is ${state?.status}: ${first.printed}`);
      const ends = place.executions("end", number);
      check(ends === 1, `#${number} was done ${ends} times:\n${first.printed}${place.log(number)}`);
      const row = lines.find((one) => one.number === number);
      check(
        row?.status === "completed" && row.result?.square === number ** 2,
        `row of #${number}: ${JSON.stringify(row)}`,
      );
      if (done.includes(number))
        check(
          JSON.stringify(state) === JSON.stringify(before[number]),
          `the record of #${number} has changed`,
        );
    }
    const told = failed.length === 0 ? "nothing failed" : failed.join(", ");
    const of = faults.map(({ at, error, role }) => `${error} at ${at} of ${role}`).join(", ");
    return {
      outcome,
      problems: problems.map((one) => `${how}, ${of} (${told}): ${one}`),
      operations: (role) => operations[role] ?? [],
    };
  } finally {
    process.chdir("/");
    rmSync(place.cwd, { recursive: true, force: true });
  }
}

/** As a user would: resumes, and runs what has failed again; or begins anew where nothing was recorded. */
async function goOn(
  place: ReturnType<typeof openPlace>,
  argv: readonly string[],
  check: (holds: boolean, what: string) => void,
): Promise<Outcome> {
  if (!isRecorded(place.sweep)) {
    const anew = await place.run(argv);
    check(anew.code === 0, `begun anew, it ends with ${anew.code}: ${anew.printed}`);
    return "begun anew";
  }
  const resumed = await place.run(["--resume", "faulty/s"]);
  place.bury();
  if (resumed.code === 0) return "resumed";
  check(
    NUMBERS.some((one) => place.state(one)?.status === "failed"),
    `--resume: ${resumed.printed}`,
  );
  const again = await place.run(["--retry-failed", "faulty/s"]);
  check(again.code === 0, `--retry-failed ends with ${again.code}: ${again.printed}`);
  return "resumed with --retry-failed";
}

const OWN_BIRTH = JSON.stringify(thisProcess().birth);

const LOGGED = /at work|--- Logging error ---/;

/** A line of a stack: an error that is none of ours, or of the system's. */
const STACK = /^\s+at .+:\d+:\d+\)?$/m;

interface Row {
  readonly number: number;
  readonly status: string;
  readonly result?: { readonly square?: number };
}

function openPlace(folder: string, script: string) {
  const cwd = mkdtempSync(join(folder, "t-"));
  for (const name of ["conf", "faulty"]) mkdirSync(join(cwd, name));
  writeFileSync(join(cwd, "conf/config.yaml"), CONFIG);
  const sweep = join(cwd, "faulty/s");
  const record = sweepFolder(sweep);
  const text = (file: string): string => (existsSync(file) ? readFileSync(file, "utf8") : "");
  return {
    cwd,
    sweep,
    /** Makes what a run in this process has left behind that of a dead one. */
    bury(): void {
      const claims = [
        launcherFile(record),
        ...NUMBERS.map((one) => join(sweep, String(one), DIRECTORY_CLAIM)),
      ];
      const running = NUMBERS.filter((one) => readJobState(record, one)?.status === "running");
      const asDead = (content: string) => content.replaceAll(OWN_BIRTH, '"dead"');
      for (const file of claims) if (existsSync(file)) writeFileSync(file, asDead(text(file)));
      for (const one of running)
        for (const file of [jobFile(record, one), startedFile(record, one)])
          rewriteSealed(file, asDead);
    },
    run(argv: readonly string[]): Promise<Run> {
      const run = within(cwd, script, argv);
      const late = sleep(HANG_MS, undefined, { ref: false }).then((): never => {
        throw new Error(`it hangs: ${argv.join(" ")} in ${cwd}`);
      });
      return Promise.race([run, late]);
    },
    state: (number: number): JobState | undefined => readJobState(record, number),
    log: (number: number): string => text(jobLog(record, number)),
    /** Whether a job has left all that it is to leave in its directory. */
    isWhole(number: number, told: string): boolean {
      const directory = join(sweep, String(number));
      const saved = ["config", "hydra", "overrides"].map((name) => `.hydra/${name}.yaml`);
      return (
        saved.every((name) => text(join(directory, name)) !== "") &&
        // A line that cannot be logged is told, as in Python.
        `${text(join(directory, "prog.log"))}${told}${text(jobLog(record, number))}`.search(
          LOGGED,
        ) >= 0
      );
    },
    executions: (what: string, number: number): number =>
      text(join(cwd, "executions"))
        .split("\n")
        .filter((line) => line === `${what} ${number}`).length,
    table(): readonly Row[] {
      const file = [sweep, record].map((one) => join(one, "sweep.json")).find(existsSync);
      return file === undefined
        ? []
        : (JSON.parse(readFileSync(file, "utf8")) as { jobs: Row[] }).jobs;
    },
  };
}

async function within(cwd: string, script: string, argv: readonly string[]): Promise<Run> {
  process.chdir(cwd);
  let printed = "";
  const print = (text: string) => {
    printed += text;
  };
  const code = await hydraMain(options(cwd), task, {
    argv,
    script,
    command: [process.execPath, script],
    env: process.env,
    cwd,
    console: { stdout: print, stderr: print },
    now: new Date(),
  });
  return { code, printed };
}

/** A launcher that has failed leaves workers, which run to their end. */
async function workersGone(): Promise<void> {
  while (process.getActiveResourcesInfo().includes("ProcessWrap")) await sleep(5);
}
