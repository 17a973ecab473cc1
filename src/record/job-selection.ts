/** Which jobs of a recorded sweep run again when it goes on. */

import { existsSync } from "node:fs";
import type { JobResult } from "../job/job.ts";
import type { SweepJob } from "../job/plan-job.ts";
import type { Resumption } from "../job/process/invocation.ts";
import { ConfigError } from "../values/errors.ts";
import {
  hasEnded,
  hasFailed,
  type JobState,
  readJobState,
  timesEnded,
  writeJobState,
} from "./job-state.ts";
import { jobLog } from "./layout.ts";
import { resultOf } from "./recorded-job.ts";

export interface JobSelection {
  /** Whether a job may have another config than it was recorded with. */
  readonly acceptChanges: boolean;
  /** Whether a job that was recorded, with the state given, is to run. */
  isDue(job: SweepJob, state: JobState | undefined): boolean;
  /**
   * Whether results that a search was told at first are others now, or mean another thing: then its jobs may be others, too.
   * @param admitted the jobs of this call so far
   */
  mayAskForOthers(admitted: readonly { readonly number: number }[]): boolean;
  /** Records a job as failed that is completed, where the sweeper takes it for that: what is completed never runs. */
  markUseless(job: SweepJob): void;
}

export interface JobSelectionRequest {
  /** The absolute path of the `.sweep` folder. */
  readonly folder: string;
  readonly resumption: Resumption;
  readonly isSearch: boolean;
  /** Why a job has failed that is completed, as the sweeper sees it; undefined for others. */
  readonly problemOf?: (result: JobResult) => string | undefined;
  /** How often a job that failed starts again. */
  readonly retries: number;
}

export function selectJobs(request: JobSelectionRequest): JobSelection {
  const { folder, isSearch, problemOf, resumption, retries } = request;

  /** Of a job that is to run again although it is completed: why. */
  const uselessOf = (job: SweepJob): string | undefined => {
    if (!resumption.failed || problemOf === undefined) return undefined;
    const result = recordedResult(folder, job);
    return result && problemOf(result);
  };

  return {
    acceptChanges: resumption.acceptChanges,
    isDue(job, state) {
      if (!hasEnded(state)) return resumption.missing;
      if (!hasFailed(state)) return uselessOf(job) !== undefined;
      // An earlier launcher came to its own end before it could start the job again.
      const mayStartAgain = timesEnded(state) <= retries;
      return resumption.failed || (resumption.missing && mayStartAgain);
    },
    mayAskForOthers(admitted) {
      if (!isSearch) return false;
      if (resumption.failed || resumption.judgesAnew === true) return true;
      return admitted.some(
        ({ number }) => (readJobState(folder, number)?.attempts.length ?? 0) > 1,
      );
    },
    markUseless(job) {
      const error = uselessOf(job);
      const state = error === undefined ? undefined : readJobState(folder, job.number);
      const last = state?.attempts.at(-1);
      if (error === undefined || state === undefined || last === undefined) return;
      const attempts = [...state.attempts.slice(0, -1), { ...last, error }];
      writeJobState(folder, { ...state, status: "failed", attempts }, { durable: true });
    },
  };
}

/** What became of a job, from its record; undefined before its end. */
export function recordedResult(folder: string, job: SweepJob): JobResult | undefined {
  const log = jobLog(folder, job.number);
  const result = resultOf(folder, job, (message) => new ConfigError({ code: "app.job", message }));
  return result && existsSync(log) ? { ...result, log } : result;
}
