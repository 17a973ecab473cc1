import type { ProcessOutcome, StopRequests } from "../machine/process.ts";
import type { Progress } from "../progress.ts";
import type { Timeline } from "../timeline.ts";
import type { Workload } from "../workload/workload.ts";

/** Runs a workload and brings back what was seen. One object per tool, in a file of its own. */
export interface Collector {
  readonly name: "recorder" | "nsys" | "ncu";
  collect(workload: Workload, context: CollectContext): Promise<Collection>;
}

export interface CollectContext {
  /** The collector's folder in the run directory; exists. */
  readonly directory: string;
  readonly interrupt: StopRequests;
  readonly progress: Progress;
}

/** What was collected, also from a workload that failed: measured data is never thrown away. */
export interface Collection {
  readonly collector: Collector["name"];
  readonly timeline: Timeline;
  readonly outcome: ProcessOutcome;
  readonly notes: readonly string[];
}
