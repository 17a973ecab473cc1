/** Submits the jobs of a batch to Slurm, and follows them. */
import { resolve } from "node:path";
import { ConfigError, isConfigError } from "../../../engine/values/errors.ts";
import { getOrCreate } from "../../../foundation/system/get-or-create.ts";
import { andOthers, plural } from "../../../foundation/text/plural.ts";
import { failedJob, type JobResult } from "../../job/job.ts";
import type { SweepJob } from "../../job/plan-job.ts";
import { loggedOverrides } from "../../launch/job-overrides.ts";
import type { LaunchEvent, LauncherRequest } from "../../launch/launcher.ts";
import { followJobs, type SweepBackend } from "../../launch/scheduler.ts";
import { nextCommand, typedCommand } from "../../record/next-commands.ts";
import { liveWorkers } from "../../record/orphans.ts";
import type { SweepRecord } from "../../record/sweep-record.ts";
import { createSlurm, type SlurmClient } from "./client.ts";
import { logFolder } from "./job-logs.ts";
import { readSlurmSettings, type SlurmSettings } from "./slurm-settings.ts";
import { adoptSubmissions, slurmSweep } from "./slurm-sweep.ts";
import { readSubmissions, tasksOf } from "./submissions.ts";
import { type JobGroup, passOnShares, submitJobs } from "./submit.ts";

/** submitit's name, which log configs may use. */
const LOGGER = "hydra_plugins.hydra_submitit_launcher.submitit_launcher";

/**
 * Submits the jobs of a batch, except those that Slurm still has from an earlier launcher of the same sweep.
 *
 * @param signal ends the wait for a Slurm that accepts no jobs for now
 */
export async function submitToSlurm(
  batch: readonly SweepJob[],
  written: SlurmSettings,
  request: LauncherRequest,
  signal?: AbortSignal,
): Promise<SweepBackend> {
  const { invocation, record } = request.internals;
  const { folder } = record;
  const facts = record.facts();
  const client = createSlurm(request.env);
  const sweep = slurmSweep(folder, client);
  const log = request.logger(LOGGER);
  await adoptSubmissions(folder, client);
  const live = await liveJobs(batch, request, sweep);
  refuseRunning(batch, record, typedCommand(invocation)?.hydraconf);
  const due = batch.filter(({ number }) => !live.has(number));
  if (due.length > 0) {
    const settings = placed(written, facts.cwd);
    const groups = resourceGroups(due, settings, facts.cwd);
    const retry = { say: request.say, ...(signal && { signal }) };
    const { trust } = invocation;
    const submission = { client, settings, facts, folder, groups, retry };
    const arrays = await submitJobs({ ...submission, ...(trust !== undefined && { trust }) });
    log.info(`Submitted ${plural(due.length, "job")} to Slurm: ${arrays.join(", ")}`);
    for (const job of due) log.info(`\t#${job.number} : ${loggedOverrides(job)}`);
  }
  if (live.size > 0) log.info(`Slurm already has ${plural(live.size, "job")} of this sweep`);
  return sweep;
}

/** Groups jobs with equal resource requests, which can share an array. In the order of their first jobs. */
function resourceGroups(
  jobs: readonly SweepJob[],
  ofSweep: SlurmSettings,
  cwd: string,
): readonly JobGroup[] {
  const groups = new Map<SweepJob["launcher"], number[]>();
  for (const { launcher, number } of jobs) getOrCreate(groups, launcher, () => []).push(number);
  return [...groups].map(([settings, numbers]) => ({
    numbers,
    settings:
      settings === undefined
        ? ofSweep
        : placed(readSlurmSettings(settings, ofSweep.submitit_folder), cwd),
  }));
}

/** Relative directories start from the directory where the sweep began. */
const placed = (settings: SlurmSettings, cwd: string): SlurmSettings => ({
  ...settings,
  submitit_folder: resolve(cwd, settings.submitit_folder),
});

/**
 * Submits the jobs of a batch and follows them to their ends. Ctrl-C stops following, never the jobs: as with submitit,
 * they belong to Slurm.
 */
export async function* launchOnSlurm(
  batch: readonly SweepJob[],
  written: SlurmSettings,
  request: LauncherRequest,
): AsyncGenerator<LaunchEvent, void> {
  const { cwd } = request.internals.record.facts();
  const settings = placed(written, cwd);
  const sweep = await submitToSlurm(batch, settings, request);
  const resultOf = (job: SweepJob) => resultWithLog(job, settings, request);
  const shares = shareLimit(batch, settings.array_parallelism, request);
  for await (const event of followJobs(batch, sweep, request, { scheduler: "Slurm", resultOf })) {
    if (event.kind === "ended") await shares.passOn(event.job.number);
    yield event;
  }
}

/** While a process follows the jobs, lets the remaining arrays use the part of the limit that others no longer need. */
export function shareLimit(
  batch: readonly SweepJob[],
  limit: number,
  { env, internals }: LauncherRequest,
  client: Pick<SlurmClient, "setParallelism"> = createSlurm(env),
) {
  const followed = new Set(batch.map(({ number }) => number));
  const arrayOf = new Map<number, string>();
  const parallelism = new Map<string, number>();
  for (const { array, jobs, parallelism: noted } of readSubmissions(internals.record.folder)) {
    if (array === null || noted === undefined) continue;
    parallelism.set(array, noted);
    for (const { number } of jobs) if (followed.has(number)) arrayOf.set(number, array);
  }
  const left = new Map<string, number>();
  for (const array of arrayOf.values()) left.set(array, (left.get(array) ?? 0) + 1);
  let isTaken = true;
  return {
    async passOn(number: number): Promise<void> {
      const ended = arrayOf.get(number);
      if (ended === undefined || !isTaken) return;
      arrayOf.delete(number);
      left.set(ended, (left.get(ended) ?? 0) - 1);
      const running = [...left]
        .filter(([, count]) => count > 0)
        .map(([array, count]) => ({
          array,
          left: count,
          parallelism: parallelism.get(array) ?? 0,
        }));
      // Each change is a call to Slurm's controller, so not for every job that ends.
      const used = running.reduce((sum, array) => sum + Math.min(array.left, array.parallelism), 0);
      if (left.get(ended) !== 0 && limit - used < limit / 10) return;
      for (const more of passOnShares(running, limit)) {
        // If Slurm refuses a change, it is not asked again: the jobs run all the same.
        isTaken &&= await client.setParallelism(more.array, more.parallelism);
        parallelism.set(more.array, more.parallelism);
      }
    },
  };
}

/** The result of a job, with its log. */
function resultWithLog(
  job: SweepJob,
  settings: SlurmSettings,
  { internals: { record }, resultOf }: LauncherRequest,
): JobResult {
  const missing = new ConfigError({ code: "app.job", message: "its record is missing" });
  const result = resultOf(job) ?? failedJob(job, missing);
  if (result.status === "completed") return result;
  const task = tasksOf(readSubmissions(record.folder)).get(job.number);
  const log = task && logFolder(task.logs ?? settings.submitit_folder, task);
  const error =
    isConfigError(result.error) && log !== undefined
      ? new ConfigError({ ...result.error.details, hint: `its output is in ${log}` })
      : result.error;
  return { ...result, error, ...(log !== undefined && { log }) };
}

/** The jobs of a batch that Slurm still has from an earlier run of the sweep. */
async function liveJobs(
  batch: readonly SweepJob[],
  { isResumed }: LauncherRequest,
  sweep: SweepBackend,
): Promise<ReadonlySet<number>> {
  if (!isResumed) return new Set();
  const ours = new Set(batch.map(({ number }) => number));
  const live = (await sweep.status()).filter(({ phase }) => phase !== "over");
  return new Set(live.map(({ number }) => number).filter((number) => ours.has(number)));
}

/**
 * Refuses a job that a process of an earlier launcher still runs: it must not be submitted, too.
 *
 * @throws ConfigError `app.sweep_record`
 */
function refuseRunning(
  batch: readonly SweepJob[],
  { facts, folder }: SweepRecord,
  hydraconf: string | undefined,
): void {
  const [first, ...others] = liveWorkers(folder, batch);
  if (first === undefined) return;
  const { host, pid } = first.process;
  const { directory } = facts();
  throw new ConfigError({
    code: "app.sweep_record",
    message: `Job #${first.number}${andOthers(others.length)} is still running outside Slurm, as process ${pid} on ${host}`,
    key: "hydra/launcher",
    hint: `wait for it with '${nextCommand("wait", directory, hydraconf)}', or end it with '${nextCommand("cancel", directory, hydraconf)}'`,
  });
}
