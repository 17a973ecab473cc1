import { liveWorkers } from "../../worker/left-behind.ts";
import type { SweepJob } from "../launcher.ts";

/** The jobs of a batch that have not ended and do not run, in the order in which they start. */
export interface JobQueue {
  first(): SweepJob | undefined;
  /** Takes the first one out: it starts. */
  shift(): void;
  /** Puts one back that is to start again, before all others. */
  putBack(job: SweepJob): void;
  /** How often a job was started here. */
  starts(job: SweepJob): number;
}

/** Jobs that workers of an earlier launcher still run come first: these have their slots. */
export function createQueue(batch: readonly SweepJob[], folder: string): JobQueue {
  const left = new Set(liveWorkers(folder, batch).map(({ number }) => number));
  const jobs = batch.toSorted((a, b) => Number(left.has(b.number)) - Number(left.has(a.number)));
  const starts = new Map<SweepJob, number>();
  return {
    first: () => jobs[0],
    shift() {
      const job = jobs.shift();
      if (job !== undefined) starts.set(job, (starts.get(job) ?? 0) + 1);
    },
    putBack: (job) => void jobs.unshift(job),
    starts: (job) => starts.get(job) ?? 0,
  };
}
