/** Runs a sweep, batch by batch. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { maskSecrets } from "../../engine/compose/secrets.ts";
import type { ConfigError } from "../../engine/values/errors.ts";
import { limitsOf } from "../../engine/values/limits.ts";
import { readYaml } from "../../engine/values/yaml/reader.ts";
import { writeYaml } from "../../engine/values/yaml/writer.ts";
import { writeFileAtomicSync } from "../../foundation/system/atomic-write.ts";
import { missingFrom, removeEmpty } from "../../foundation/system/files.ts";
import { andOthers, plural } from "../../foundation/text/plural.ts";
import { failedJob, isSettledJob, type JobResult } from "../job/job.ts";
import type { SweepJob } from "../job/plan-job.ts";
import { makeSweepDirectory } from "../job/run-directory.ts";
import type { FailureGate } from "../launch/failure-policy.ts";
import type { LaunchEvent, Launcher, Pruning } from "../launch/launcher.ts";
import { tookOf } from "../launch/scheduler.ts";
import type { ManifestJob } from "../record/manifest.ts";
import type { SweepRecord } from "../record/sweep-record.ts";
import type { OpenSweep } from "./open-sweep.ts";
import {
  type BatchChecks,
  type PlannedSweep,
  planChecked,
  refusalText,
  SWEEP_FILE,
} from "./plan-sweep.ts";
import { isWorse } from "./sweepers/objective.ts";
import type { Conclusion, JobOverrides, SweeperMessage } from "./sweepers/sweeper.ts";

export interface SweepRequest {
  readonly sweep: PlannedSweep;
  readonly launcher: Pick<Required<Launcher>, "launch"> & Pick<Launcher, "close">;
  readonly record: SweepRecord;
  readonly gate: FailureGate;
  /** Checks all jobs of a batch before the first starts; `false` after it has reported errors. */
  readonly check: OpenSweep["check"];
  readonly inspect: OpenSweep["inspect"];
  readonly pruning?: Pruning;
  /** Removes secrets from written texts. */
  readonly redact?: (text: string) => string;
  /** Called for each batch with the number of composed jobs, and the seconds that took. */
  readonly onPlanned?: (jobs: number, seconds: number) => void;
  /** Called with the jobs of a batch before the first of them starts. */
  readonly onBatch?: (jobs: readonly BatchJob[]) => void;
  /** Called with what the sweeper has to log. */
  readonly onMessages?: (messages: readonly SweeperMessage[]) => void;
  /** Called with each event as it happens. */
  readonly onEvent?: (event: LaunchEvent) => void;
}

/** A job of a batch; a job that is not to run again has its result. */
export interface BatchJob {
  readonly job: SweepJob;
  readonly result?: JobResult;
}

export interface SweepOutcome {
  /** The results of the jobs that ran, in order. */
  readonly results: readonly JobResult[];
  /** Jobs without an end: the policy stopped the sweep before them, or they were not due. */
  readonly unfinished: number;
  /** Whether jobs were refused before they started. */
  readonly refused: boolean;
  /** Whether unfinished jobs are left to a scheduler, with no launcher following them. */
  readonly goesOn: boolean;
  /** The sweeper's conclusion, which was also written to a file; undefined if there is none. */
  readonly conclusion?: Conclusion;
}

/**
 * Runs a sweep: writes its config to `multirun.yaml`, then batch by batch composes and checks every job before the
 * first of them starts, records the jobs to run, and launches them. A resumed sweep runs only the jobs that are due;
 * the results of the others come from its record. No batch follows one with a failed job, unless the launcher's policy
 * or the sweeper says otherwise.
 *
 * @throws ConfigError before a job of its batch has started
 */
export async function runSweep(request: SweepRequest): Promise<SweepOutcome> {
  const { launcher, sweep } = request;
  try {
    return await runBatches(request);
  } finally {
    // What a failed call has to say, too.
    tellMessages(request);
    launcher.close?.();
    sweep.sweeper.close?.();
  }
}

/** The results of a batch in its order, with those of trials that could not be composed. */
export function withRefused(
  batch: readonly JobOverrides[],
  results: readonly (JobResult | undefined)[],
  refused: ReadonlyMap<number, ConfigError>,
): readonly (JobResult | undefined)[] {
  if (refused.size === 0) return results;
  const left = results.values();
  return batch.map((overrides, index) => {
    const error = refused.get(index);
    return error === undefined ? left.next().value : failedJob({ outputDir: "", overrides }, error);
  });
}

function tellRefused(
  batch: readonly JobOverrides[],
  refused: ReadonlyMap<number, ConfigError>,
  { onMessages }: SweepRequest,
): void {
  const messages = [...refused].map(([index, error]) => ({
    logger: "hydraconf.sweep",
    level: "warning" as const,
    text: refusalText(batch[index] ?? [], error),
  }));
  if (messages.length > 0) onMessages?.(messages);
}

/** A resumed search may lose its best trial: it ran again, or is judged anew, or there are fewer trials now. */
function tellIfWorse(
  { best, file }: Conclusion,
  { onMessages, sweep: { directory } }: SweepRequest,
): void {
  const path = join(directory, file);
  if (best === undefined || !existsSync(path)) return;
  const earlier = readYaml(readFileSync(path, "utf8"), { name: path });
  if (earlier.kind !== "map" || !isWorse(best.value, earlier, best.direction)) return;
  const old = `${file}.before`;
  writeFileAtomicSync(join(directory, old), readFileSync(path, "utf8"));
  const text = `The best trial is worse than that of the earlier ${file}, which is kept as ${old}`;
  onMessages?.([{ logger: "hydraconf.sweep", level: "warning", text }]);
}

/** Logs what the sweeper has to say, after each call of it. */
function tellMessages({ onMessages, sweep: { sweeper } }: SweepRequest): void {
  const messages = sweeper.takeMessages?.() ?? [];
  if (messages.length > 0) onMessages?.(messages);
}

async function runBatches(request: SweepRequest): Promise<SweepOutcome> {
  const { gate, record, redact = (text: string) => text, sweep } = request;
  const { directory, master, sweeper } = sweep;
  const { dialect } = master;
  const made = record.isResumed ? [] : missingFrom(directory);
  beginSweep(sweep, record);
  const results: JobResult[] = [];
  let planned = 0;
  let wasCutShort = false;
  let goesOn = false;
  /** The first error of a trial that could not be composed. */
  let refusal: ConfigError | undefined;
  const ask = (): readonly JobOverrides[] | undefined => {
    const asked = sweeper.ask();
    tellMessages(request);
    return asked;
  };
  for (let batch = ask(); batch !== undefined; batch = ask()) {
    const { due, isFit, jobs, refused, seconds } = await planChecked(batch, planned, {
      ...request,
      ...(planned === 0 && firstChecks(request, made)),
    });
    tellRefused(batch, refused, request);
    [refusal] = [...(refusal === undefined ? refused.values() : [refusal])];
    request.onPlanned?.(jobs.length, seconds);
    planned += jobs.length;
    if (!isFit) return { results, unfinished: 0, refused: true, goesOn };
    record.admit(jobs, sweeper.mayAskForMore());
    const recorded = withResults(jobs, due, record);
    request.pruning?.note(
      recorded.flatMap(({ job, result }) => (result === undefined ? [] : [job])),
    );
    request.onBatch?.(recorded);
    // An empty batch is launched, too: Hydra's launchers log it.
    const isDone = due.length === 0 && (jobs.length > 0 || refused.size > 0);
    const fresh = isDone ? NOTHING : await launch(due, request);
    goesOn = fresh.goesOn;
    const ofJobs = jobs.map((job) => fresh.results.get(job) ?? record.resultOf(job));
    for (const result of ofJobs) if (result !== undefined) results.push(result);
    const ended = withRefused(batch, ofJobs, refused);
    const mayGoOn = sweeper.judgesFailures === true ? gate.mayStart() : gate.mayFollow();
    if (!mayGoOn) {
      wasCutShort = true;
      break;
    }
    sweeper.tell(ended);
    tellMessages(request);
  }
  // A sweep without a batch is recorded, too.
  if (planned === 0) record.admit([], false);
  tellLeftOut(record.conclude(!wasCutShort), request);
  const conclusion = sweeper.conclude?.();
  tellMessages(request);
  const outcome = { results, unfinished: planned - results.length, refused: false, goesOn };
  // Too many of them ended the sweep, or no other trial has a score.
  if (
    refusal !== undefined &&
    conclusion?.toleratesFailures !== true &&
    results.every(isSettledJob)
  )
    throw refusal;
  if (conclusion === undefined) return outcome;
  const { content, file, toleratesFailures } = conclusion;
  tellIfWorse(conclusion, request);
  writeFileAtomicSync(
    join(directory, file),
    redact(writeYaml(content, { dialect, limits: limitsOf(process.env) })),
  );
  const tolerates = toleratesFailures && !wasCutShort;
  return { ...outcome, conclusion: { ...conclusion, toleratesFailures: tolerates } };
}

/** The checks of the first batch: where the program cannot be started at all, nothing is left of the sweep. */
function firstChecks(
  { check, inspect, sweep: { directory } }: SweepRequest,
  made: readonly string[],
): BatchChecks {
  const orUndone = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (made.includes(directory)) {
        rmSync(join(directory, SWEEP_FILE), { force: true });
        removeEmpty(made);
      }
      throw error;
    }
  };
  return {
    check: (jobs, owners) => orUndone(check(jobs, owners)),
    inspect: () => orUndone(inspect()),
  };
}

/** Results that no longer count: a resumed sweep asks for fewer jobs than it had, or has another space. */
function tellLeftOut(left: readonly ManifestJob[], { onMessages }: SweepRequest): void {
  const [first, ...others] = left;
  if (first === undefined) return;
  const job = `#${first.number} ${first.task_overrides.join(" ")}`;
  const text = `${plural(left.length, "job")} of this sweep ${others.length === 0 ? "is not one" : "are none"} of those that the sweeper asks for now: ${others.length === 0 ? "its result does" : "their results do"} not count: ${job}${andOthers(others.length)}`;
  onMessages?.([{ logger: "hydraconf.sweep", level: "warning", text }]);
}

/**
 * Makes the directory of a sweep, with Hydra's record of it.
 *
 * @throws ConfigError `app.run_directory`
 */
export function beginSweep(
  { directory, master, mode }: PlannedSweep,
  record: Pick<SweepRecord, "isResumed" | "mode">,
): void {
  makeSweepDirectory(directory, record);
  if (mode === "run") return;
  writeFileAtomicSync(
    join(directory, SWEEP_FILE),
    writeYaml(maskSecrets(master.root, master), {
      dialect: master.dialect,
      limits: limitsOf(process.env),
    }),
  );
}

function withResults(
  jobs: readonly SweepJob[],
  due: readonly SweepJob[],
  record: SweepRecord,
): readonly BatchJob[] {
  const toRun = new Set(due);
  return jobs.map((job) => {
    const result = toRun.has(job) ? undefined : record.resultOf(job);
    return result === undefined ? { job } : { job, result };
  });
}

/** What a launcher did with a batch. */
interface Launched {
  /** By job, in the order of their ends. */
  readonly results: ReadonlyMap<SweepJob, JobResult>;
  /** Whether a scheduler goes on with the others. */
  readonly goesOn: boolean;
}

const NOTHING: Launched = { results: new Map(), goesOn: false };

async function launch(
  jobs: readonly SweepJob[],
  { gate, launcher, onEvent, pruning, record }: SweepRequest,
): Promise<Launched> {
  const results = new Map<SweepJob, JobResult>();
  // A job that did not start in this call has the time of an earlier one in its record.
  const begun = new Set<SweepJob>();
  let goesOn = false;
  for await (const event of launcher.launch(jobs)) {
    if (event.kind === "stopped") {
      gate.stop(event.signal);
      goesOn = event.goesOn === true;
    }
    if (event.kind === "started") begun.add(event.job);
    if (event.kind === "ended") {
      results.set(event.job, event.result);
      gate.count(event.result);
      // It may have been too short to be looked at while it ran.
      pruning?.note([event.job]);
    }
    // The starts and ends of processes are seen later than their jobs record them.
    const isOfRecord = event.kind === "ended" && begun.has(event.job);
    onEvent?.(isOfRecord ? { ...tookOf(record.folder, event.job), ...event } : event);
  }
  return { results, goesOn };
}
