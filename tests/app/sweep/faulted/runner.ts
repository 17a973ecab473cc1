/**
 * `node RUNNER HOW PROGRAM SHARD SHARDS STEP`, under `fault-at.cc`: counts the operations of a sweep and tries every STEP-th of its faults; of
 * these, the share that is this process's. Prints what came of it as JSON.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Fault, faultsOf, LAUNCHER, openPlan, worker } from "../../../system/fault-at/plan.ts";
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

  /** Workers do not know of each other: each meets a fault of its own in one sweep, and all of them in as many sweeps as there are. */
  const workerFaults = faultsOf(0, ofWorker);
  const together = workerFaults.map((_, sweep): readonly Fault[] =>
    NUMBERS.flatMap((number) => {
      const fault = workerFaults[(sweep + number * 17) % workerFaults.length];
      return fault === undefined ? [] : [{ ...fault, role: worker(number) }];
    }),
  );
  const sets = [...faultsOf(LAUNCHER, ofLauncher).map((fault) => [fault]), ...together];
  const tried = sets
    .filter((_, index) => index % Number(step) === 0)
    .filter((_, index) => index % Number(shards) === Number(shard));

  const outcomes = Object.fromEntries(OUTCOMES.map((one) => [one, 0])) as Record<Outcome, number>;
  const problems: string[] = [];
  for (const faults of tried) {
    if (process.env["SHOW"]) console.error(JSON.stringify(faults));
    const trial = await attempt(faults);
    if (process.env["SHOW"]) console.error(trial.outcome, trial.problems.join("\n"));
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
