import type { Config } from "../../compose/index.ts";
import type { Job, JobResult } from "../job/job.ts";

/** What the methods of a callback are told. */
export interface CallbackEvents {
  /** The config of a run or of a sweep was composed; not for the single jobs of a sweep. */
  readonly onComposeConfig: ComposedEvent;
  readonly onRunStart: ComposedEvent;
  readonly onRunEnd: ComposedEvent & { readonly result: JobResult };
  readonly onMultirunStart: ComposedEvent;
  /** `results` are those of the jobs that ran, in order. */
  readonly onMultirunEnd: ComposedEvent & { readonly results: readonly JobResult[] };
  /** Called around each job, in its environment and, with `hydra.job.chdir`, in its directory. */
  readonly onJobStart: JobEvent;
  readonly onJobEnd: JobEvent & { readonly result: JobResult };
}

/** A composed run or sweep. */
export interface ComposedEvent {
  /** The whole config, with its `hydra` node. */
  readonly config: Config;
  readonly configName: string | null;
  readonly overrides: readonly string[];
}

/** A single job, and the config it was composed to. */
export interface JobEvent {
  readonly config: Config;
  readonly job: Job;
}

/**
 * Is told what a program does, at the points where Hydra tells its callbacks. Methods may be async:
 * each is waited for. What one throws is reported as a warning and stops nothing.
 *
 * A config lists callbacks as `hydra.callbacks.NAME`, with a `_target_` that the program registered
 * (`hydraMain({ targets })`) and gives one of these.
 *
 * @see https://hydra.cc/docs/1.3/experimental/callbacks/
 */
export type Callback = {
  readonly [Name in keyof CallbackEvents]?: (event: CallbackEvents[Name]) => unknown;
};
