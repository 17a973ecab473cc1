/**
 * `node RUNNER HOW PROGRAM SHARD SHARDS STEP`, under `fault-at.cc`: counts the operations of a sweep and tries every STEP-th of its faults; of
 * these, the share that is this process's. Prints what came of it as JSON.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Fault,
  faultsOf,
  LAUNCHER,
  openPlan,
  worker,
} from "../../../foundation/system/fault-at/plan.ts";
import { type How, JOBS, OUTCOMES, type Outcome, tryFaults } from "./trial.ts";

export interface FaultedSweeps {
  /** File operations of a sweep that meets no fault: of its launcher, and of each worker. */
  readonly operations: { readonly launcher: number; readonly worker: number };
  /** Faults that were armed. */
  readonly faults: number;
  /** How sweeps went on. */
  readonly outcomes: Readonly<Record<Outcome, number>>;
  readonly problems: readonly string[];
}

const [how = "basic", script = "", shard = "0", shards = "1", step = "1"] = process.argv.slice(2);
const plan = openPlan(process.env);
const folder = mkdtempSync(join(tmpdir(), "faulted-"));
const attempt = (faults: readonly Fault[]) =>
  tryFaults(how as How, faults, { folder, plan, script });

process.on("uncaughtException", (error) => {
  console.error(`not caught: ${error.stack}`);
  process.exit(70);
});

const NUMBERS = Array.from({ length: JOBS }, (_, number) => number);

void main();

async function main(): Promise<void> {
  const whole = await attempt([]);
  if (whole.problems.length > 0) throw new Error(`without a fault: ${whole.problems.join("\n")}`);
  const ofLauncher = whole.operations(LAUNCHER);
  const ofWorkers = NUMBERS.map((number) => whole.operations(worker(number)));
  const ofWorker = ofWorkers.reduce((most, one) => (one.length > most.length ? one : most), []);

  const isEach = how === "basic" || process.env["HYDRACONF_PROPERTY_FACTOR"] !== undefined;
  const one = isEach ? faultsOf(LAUNCHER, ofLauncher) : rotated(faultsOf(LAUNCHER, ofLauncher));
  const sets = [...one.map((fault) => [fault]), ...together(faultsOf(LAUNCHER, ofWorker))];
  const tried = sets
    .filter((_, index) => index % Number(step) === 0)
    .filter((_, index) => index % Number(shards) === Number(shard));

  const outcomes = Object.fromEntries(OUTCOMES.map((one) => [one, 0])) as Record<Outcome, number>;
  const problems: string[] = [];
  for (const faults of tried) {
    const trial = await attempt(faults);
    outcomes[trial.outcome]++;
    problems.push(...trial.problems);
  }
  rmSync(folder, { recursive: true, force: true });
  const result: FaultedSweeps = {
    operations: { launcher: ofLauncher.length, worker: ofWorker.length },
    faults: tried.reduce((sum, { length }) => sum + length, 0),
    outcomes,
    problems,
  };
  console.log(JSON.stringify(result));
}

/**
 * One for each operation, and another for the next one: a sweep with workers takes seconds, and what a launcher does for a job it does for
 * twelve.
 */
function rotated(faults: readonly Fault[]): readonly Fault[] {
  const last = faults.at(-1)?.at ?? 0;
  return Array.from({ length: last }, (_, index) => {
    const possible = faults.filter(({ at }) => at === index + 1);
    return possible[index % possible.length];
  }).filter((fault) => fault !== undefined);
}

/** Workers do not know of each other: each meets a fault of its own in one sweep, and all faults in as many sweeps as there are. */
const together = (faults: readonly Fault[]): readonly (readonly Fault[])[] =>
  faults.map((_, sweep) =>
    NUMBERS.flatMap((number) => {
      const fault = faults[(sweep + number * 17) % faults.length];
      return fault === undefined ? [] : [{ ...fault, role: worker(number) }];
    }),
  );
