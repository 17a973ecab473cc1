import type { ResolveContext } from "../../values/interpolation/context.ts";
import type { MapNode } from "../../values/node.ts";
import type { JobResult } from "../job/job.ts";
import type { PlannedJob } from "../job/plan-job.ts";
import type { Logging } from "../logging/logging.ts";

/** A job of a sweep: planned, and with a number. */
export type SweepJob = PlannedJob & { readonly number: number };

/**
 * What happens to the jobs of a batch, as it happens. Every job that started ends; after one that a
 * signal stopped, no other starts.
 */
export type LaunchEvent =
  | { readonly kind: "started"; readonly job: SweepJob }
  | { readonly kind: "ended"; readonly job: SweepJob; readonly result: JobResult };

/** Runs the jobs of a batch somewhere. */
export interface Launcher {
  launch(batch: readonly SweepJob[]): AsyncIterable<LaunchEvent>;
}

export interface LauncherRequest {
  /** The tree that the sweep starts from; `hydra.launcher` in it holds the launcher's settings. */
  readonly root: MapNode;
  readonly context: ResolveContext;
  readonly logging: Logging;
  /** Logs to where Hydra's own messages go again, after a job has logged to its own place. */
  readonly logAsHydra: () => void;
  /** Runs a job in this process; a failure is in the result. */
  readonly runHere: (job: SweepJob) => Promise<JobResult>;
}

/** A launcher that configs can choose. A kind is data: what opens launchers only iterates. */
export interface LauncherKind {
  /** The classes that `hydra.launcher._target_` may name for it. */
  readonly targets: readonly string[];
  /** @throws ConfigError for settings that it cannot follow */
  readonly open: (request: LauncherRequest) => Launcher;
}
