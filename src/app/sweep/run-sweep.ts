import { join } from "node:path";
import { writeFileAtomicSync } from "../../atomic-write.ts";
import { maskSecrets } from "../../compose/secrets.ts";
import { writeYaml } from "../../values/writer.ts";
import type { JobResult } from "../job/job.ts";
import type { LaunchEvent, Launcher, SweepJob } from "../launchers/launcher.ts";
import type { FailureGate } from "./failure-policy.ts";
import { type PlannedSweep, SWEEP_FILE } from "./plan-sweep.ts";
import type { SweepRecord } from "./record/sweep-record.ts";

export interface SweepRequest {
  readonly sweep: PlannedSweep;
  readonly launcher: Launcher;
  readonly record: SweepRecord;
  readonly gate: FailureGate;
  /** Looks at all jobs of a batch before the first starts; `false` after telling what is wrong. */
  readonly check: (jobs: readonly SweepJob[]) => Promise<boolean>;
  /** Is told what happens, as it happens. */
  readonly onEvent?: (event: LaunchEvent) => void;
}

export interface SweepOutcome {
  /** Of the jobs that ran, in order. */
  readonly results: readonly JobResult[];
  /** Whether jobs were refused before they started. */
  readonly refused: boolean;
}

/**
 * Runs a sweep: notes its config in `multirun.yaml`, then batch by batch composes and checks every
 * job before the first of them starts, records what is going to run, and launches it. Of a resumed
 * sweep only what is due runs; the results of the others come from its record.
 *
 * @throws ConfigError before a job of its batch has started
 */
export async function runSweep(request: SweepRequest): Promise<SweepOutcome> {
  const { check, gate, record, sweep } = request;
  const { directory, master, planBatch, sweeper } = sweep;
  writeFileAtomicSync(join(directory, SWEEP_FILE), writeYaml(maskSecrets(master.root, master)));
  const results: JobResult[] = [];
  let planned = 0;
  for (let batch = sweeper.ask(); batch !== undefined; batch = sweeper.ask()) {
    const jobs = planBatch(batch, planned);
    planned += jobs.length;
    const due = record.due(jobs);
    if (!(await check(due))) return { results, refused: true };
    record.admit(jobs);
    // A batch of nothing is launched: Hydra's launchers say so.
    const isDone = due.length === 0 && jobs.length > 0;
    const fresh = isDone ? new Map<SweepJob, JobResult>() : await launch(due, request);
    const ended = jobs.flatMap((job) => fresh.get(job) ?? record.resultOf(job) ?? []);
    results.push(...ended);
    if (!gate.mayFollow()) break;
    sweeper.tell(ended);
  }
  return { results, refused: false };
}

/** The results by job, whichever ends first. */
async function launch(
  jobs: readonly SweepJob[],
  { gate, launcher, onEvent }: SweepRequest,
): Promise<ReadonlyMap<SweepJob, JobResult>> {
  const results = new Map<SweepJob, JobResult>();
  for await (const event of launcher.launch(jobs)) {
    if (event.kind === "ended") {
      results.set(event.job, event.result);
      gate.count(event.result);
    }
    onEvent?.(event);
  }
  return results;
}
