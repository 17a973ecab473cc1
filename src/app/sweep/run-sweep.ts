import { join } from "node:path";
import { writeFileAtomicSync } from "../../atomic-write.ts";
import { maskSecrets } from "../../compose/secrets.ts";
import { writeYaml } from "../../values/writer.ts";
import { type JobResult, wasStopped } from "../job/job.ts";
import type { Launcher, SweepJob } from "../launchers/launcher.ts";
import { type PlannedSweep, SWEEP_FILE } from "./plan-sweep.ts";

export interface SweepRequest {
  readonly sweep: PlannedSweep;
  readonly launcher: Launcher;
  /** Looks at all jobs of a batch before the first starts; `false` after telling what is wrong. */
  readonly check: (jobs: readonly SweepJob[]) => Promise<boolean>;
}

export interface SweepOutcome {
  /** Of the jobs that ran, in order. */
  readonly results: readonly JobResult[];
  /** Whether jobs were refused before they started. */
  readonly refused: boolean;
}

/**
 * Runs a sweep: notes its config in `multirun.yaml`, then batch by batch composes and checks every
 * job before the first of them starts, and launches them. A failed job does not stop its batch; no
 * batch follows it. A job that a signal stopped ends the sweep.
 *
 * @throws ConfigError before a job of its batch has started
 */
export async function runSweep({ check, launcher, sweep }: SweepRequest): Promise<SweepOutcome> {
  const { directory, master, planBatch, sweeper } = sweep;
  writeFileAtomicSync(join(directory, SWEEP_FILE), writeYaml(maskSecrets(master.root, master)));
  const results: JobResult[] = [];
  for (let batch = sweeper.ask(); batch !== undefined; batch = sweeper.ask()) {
    const jobs = planBatch(batch, results.length);
    if (!(await check(jobs))) return { results, refused: true };
    const ended = await launch(jobs, launcher);
    results.push(...ended);
    if (ended.some((result) => result.status === "failed" || wasStopped(result))) break;
    sweeper.tell(ended);
  }
  return { results, refused: false };
}

/** The results in the order of the jobs, whichever ends first. */
async function launch(
  jobs: readonly SweepJob[],
  launcher: Launcher,
): Promise<readonly JobResult[]> {
  const results = new Map<SweepJob, JobResult>();
  for await (const event of launcher.launch(jobs))
    if (event.kind === "ended") results.set(event.job, event.result);
  return jobs.flatMap((job) => results.get(job) ?? []);
}
