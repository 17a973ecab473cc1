/** Plans a sweep: its directory, and the configs of its jobs, checked. */
import { resolve } from "node:path";
import type { Composition, RunMode } from "../../engine/compose/index.ts";
import { quoted } from "../../engine/overrides/index.ts";
import { ConfigError, isConfigError } from "../../engine/values/errors.ts";
import { limitsOf } from "../../engine/values/limits.ts";
import { type ConfigNode, child, type MapNode, scalar, setAt } from "../../engine/values/node.ts";
import { fromCode } from "../../engine/values/origin.ts";
import { pyStr } from "../../engine/values/python-text.ts";
import type { ResolveContext } from "../../engine/values/resolution/context.ts";
import { writeYaml } from "../../engine/values/yaml/writer.ts";
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import type { Composer } from "../job/composer.ts";
import { isSettled } from "../job/ender.ts";
import { plainAt, requiredAt, textAt, textsAt } from "../job/hydra-values.ts";
import {
  isFromOverride,
  type JobPlace,
  type PlannedJob,
  planJob,
  type SweepJob,
} from "../job/plan-job.ts";
import type { ResumedSweep } from "../job/process/invocation.ts";
import { nextFreeDirectory } from "../job/run-directory.ts";
import type { LauncherSettings } from "../launch/launcher.ts";
import { undamagedState } from "../record/damage.ts";
import { SWEEP_FOLDER, sweepFolder } from "../record/layout.ts";
import { type ManifestJob, readManifest } from "../record/manifest.ts";
import { jobFingerprint, type SweepRecord } from "../record/sweep-record.ts";
import { chosenOne, type SweepRegistry } from "./registry.ts";
import { dimensionsOf, emptyNotes } from "./sweepers/basic-sweeper.ts";
import type { JobOverrides, Sweeper, SweeperRequest } from "./sweepers/sweeper.ts";

/** Hydra's record of a sweep, in its directory. */
export const SWEEP_FILE = "multirun.yaml";

/** What is checked of the jobs of a batch before any of them is recorded. */
export interface BatchChecks {
  /**
   * Checks jobs before they are recorded; false after it has reported errors.
   *
   * @param owners the directories of the jobs of the same batch that were checked before
   */
  readonly check: (
    jobs: readonly SweepJob[],
    owners: Map<string, number | undefined>,
  ) => Promise<boolean>;
  /** Ends the checks of a batch. */
  readonly inspect: () => Promise<void>;
}

/** What a launcher runs, as `composeTask` gave it. */
export interface LaunchedTask {
  /** The composition of the job, or of the sweep itself without its sweep overrides. */
  readonly composition: Composition;
  readonly mode: RunMode;
  readonly overrides: readonly string[];
}

/** A sweep with all decisions that precede its files; or a single run under a launcher. */
export interface PlannedSweep {
  readonly mode: RunMode;
  /** The composition of the sweep itself, in which the sweep overrides are not expanded. */
  readonly master: Composition;
  /** The absolute path of `hydra.sweep.dir`; of `hydra.run.dir` for a run. */
  readonly directory: string;
  readonly sweeper: Sweeper;
  /** The jobs that were completed when the space of the sweep changed for the last time; absent if it never did. */
  readonly earlierJobs?: readonly number[];
  /** `hydra.launcher`, resolved; without settings that only the configs of jobs determine. */
  readonly launcherSettings: LauncherSettings;
  /**
   * Composes the jobs of a batch.
   *
   * @param first the place of its first job in the sweep, from 0
   * @param numberOf gives the number of a job by its place, its task's overrides and the job that it continues; by default its place
   */
  planBatch(
    batch: readonly JobOverrides[],
    first: number,
    numberOf?: SweepRecord["numberOf"],
  ): readonly SweepJob[];
}

/**
 * The largest batch whose compositions are kept in memory; their size depends on the overrides. A larger batch composes
 * again each job that runs in this process.
 */
function mostHeld([first = []]: readonly JobOverrides[]): number {
  const characters = first.reduce((sum, { length }) => sum + length, 1);
  return Math.min(1_000, Math.ceil(500_000 / characters));
}

/** The parts in which a batch is composed: small ones, so that most intermediate objects soon become garbage. */
export function* partsOf(batch: readonly JobOverrides[]): Generator<readonly JobOverrides[]> {
  const most = Math.ceil(mostHeld(batch) / 100);
  for (let offset = 0; offset === 0 || offset < batch.length; offset += most)
    yield batch.slice(offset, offset + most);
}

/** A batch after the checks that precede its first job. */
export interface CheckedBatch {
  /** Those that can be composed. */
  readonly jobs: readonly SweepJob[];
  /** The errors of the others, by their places in the batch; empty unless the sweeper judges failures. */
  readonly refused: ReadonlyMap<number, ConfigError>;
  /** The jobs to run. */
  readonly due: readonly SweepJob[];
  /** Whether all of them passed the checks. */
  readonly isFit: boolean;
  /** How long composition took. */
  readonly seconds: number;
}

/**
 * Composes and checks the jobs of a batch.
 *
 * @param first the place of its first job in the sweep, from 0
 * @throws ConfigError if a job cannot be composed and the sweeper does not judge failures, or differs from its record
 */
export async function planChecked(
  batch: readonly JobOverrides[],
  first: number,
  {
    check,
    inspect,
    record,
    sweep,
  }: BatchChecks & {
    readonly sweep: PlannedSweep;
    readonly record: Pick<SweepRecord, "due" | "numberOf">;
  },
): Promise<CheckedBatch> {
  if (first === 0) checkContinuation(batch, sweep);
  const jobs: SweepJob[] = [];
  const due: SweepJob[] = [];
  const owners = new Map<string, number | undefined>();
  const isKept = batch.length <= mostHeld(batch);
  const again = latestPlan(sweep);
  let isFit = true;
  let milliseconds = 0;
  let index = 0;
  const refused = new Map<number, ConfigError>();
  for (const part of partsOf(batch)) {
    const begin = performance.now();
    const planned: SweepJob[] = [];
    for (const overrides of part) {
      const job = plannedOrRefused(overrides, first + jobs.length + planned.length, sweep, record);
      if ("problem" in job) refused.set(index, job.problem);
      else planned.push(job);
      index++;
    }
    milliseconds += performance.now() - begin;
    const dueOfPart = record.due(planned);
    isFit = (await check(dueOfPart, owners)) && isFit;
    const isDue = new Set(dueOfPart);
    for (const job of planned) {
      const kept = isKept ? job : withoutComposition(job, again);
      jobs.push(kept);
      if (isDue.has(job)) due.push(kept);
    }
  }
  if (isFit) await inspect();
  return { jobs, refused, due, isFit, seconds: milliseconds / 1000 };
}

/** A planned job; where the sweeper judges failures, the error of one that cannot be composed instead. */
function plannedOrRefused(
  overrides: JobOverrides,
  place: number,
  { planBatch, sweeper }: PlannedSweep,
  record: Pick<SweepRecord, "numberOf">,
): SweepJob | { readonly problem: ConfigError } {
  /** What is wrong with the record ends the sweep, and not only a trial. */
  let ofRecord: unknown;
  const numberOf: SweepRecord["numberOf"] = (...job) => {
    try {
      return record.numberOf(...job);
    } catch (error) {
      ofRecord = error;
      throw error;
    }
  };
  try {
    return planBatch([overrides], place, numberOf)[0] as SweepJob;
  } catch (error) {
    const isTrial = sweeper.judgesFailures === true && error !== ofRecord;
    if (isTrial && isConfigError(error)) return { problem: error };
    throw error;
  }
}

/** The jobs of a search that cannot be composed: single trials, where a search tries values that do not fit together. */
export function refusedOf(
  batch: readonly JobOverrides[],
  { planBatch }: Pick<PlannedSweep, "planBatch">,
): ReadonlyMap<number, ConfigError> {
  const refused = new Map<number, ConfigError>();
  for (const [index, job] of batch.entries())
    try {
      planBatch([job], 0);
    } catch (error) {
      if (!isConfigError(error)) throw error;
      refused.set(index, error);
    }
  return refused;
}

/**
 * Checks the first batch of a sweep.
 *
 * @throws ConfigError if jobs of a search would be continued by jobs that cannot be composed
 */
export function checkContinuation(
  batch: readonly JobOverrides[],
  sweep: Pick<PlannedSweep, "planBatch" | "sweeper">,
): void {
  sweep.sweeper.checkContinuation?.(batch, (job) => refusedOf([job], sweep).get(0));
}

/** What is said of a trial that cannot be composed. */
export const refusalText = (overrides: JobOverrides, error: ConfigError): string =>
  `The trial ${overrides.join(" ")} cannot be composed, and counts as failed: ${error.message.split("\n", 1)[0]}`;

type Replan = (job: Pick<SweepJob, "number" | "swept">) => SweepJob;

/** Plans a job again, and caches the last one: several properties of a job ask for it in turn. */
function latestPlan({ planBatch }: Pick<PlannedSweep, "planBatch">): Replan {
  let latest: SweepJob | undefined;
  return ({ number, swept }) => {
    if (latest?.swept !== swept) [latest] = planBatch([swept], number, () => number);
    return latest as SweepJob;
  };
}

/** A job whose composition is computed on access. */
type LaterJob = Omit<SweepJob, "composition" | "root" | "tree" | "resolved"> & {
  readonly replan: Replan;
};

/** Accessors shared by all jobs: in V8, accessors of an object literal keep three hidden classes alive for each object. */
const MADE_LATER: Pick<SweepJob, "composition" | "root" | "tree" | "resolved"> &
  ThisType<LaterJob> = {
  get composition() {
    return this.replan(this).composition;
  },
  get root() {
    return this.replan(this).root;
  },
  get tree() {
    return this.replan(this).tree;
  },
  get resolved() {
    return () => this.replan(this).resolved();
  },
};

/** The job with its composition computed on access. */
function withoutComposition(job: SweepJob, replan: Replan): SweepJob {
  const { composition, continuation, launcher, number, outputDir, overrides, swept } = job;
  const later: LaterJob = {
    number,
    outputDir,
    overrides,
    swept,
    typed: composition.overrides.map(({ origin }) => origin.text),
    fingerprint: jobFingerprint(job),
    ...(launcher !== undefined && { launcher }),
    ...(continuation !== undefined && { continuation }),
    replan,
  };
  return Object.assign(Object.create(MADE_LATER), later);
}

/**
 * Plans what a launcher runs. A single run is a sweep of one job, whose directory and config are those of the run.
 *
 * @throws ConfigError as `planSweep`
 */
export const planTask = (
  { composition, mode, overrides }: LaunchedTask,
  composer: Composer,
  place: JobPlace,
  registry: SweepRegistry,
  options: PlanOptions = {},
): PlannedSweep =>
  mode === "run"
    ? planLaunchedRun(composition, place, options.resumed?.directory)
    : planSweep(composition, overrides, composer, place, registry, options);

interface PlanOptions {
  /** Of a resumed sweep or run. */
  readonly resumed?: ResumedSweep | undefined;
  /** Whether the jobs are only shown. */
  readonly isPlan?: boolean;
}

/** The job as its program sees it: that of a run has no number, which is only for the record. */
export function jobOfProgram({ mode }: Pick<PlannedSweep, "mode">, job: SweepJob): PlannedJob {
  const { number: _ofRecord, ...run } = job;
  return mode === "run" ? run : job;
}

function planLaunchedRun(
  composition: Composition,
  place: JobPlace,
  resumedIn: string | undefined,
): PlannedSweep {
  const planned = planRun(composition, place, resumedIn);
  const { outputDir } = planned;
  // Settings that name the directory of the sweep mean this one.
  const sweepDirectory = scalar(outputDir, fromCode("job"));
  const root = setAt(composition.root, ["hydra", "sweep", "dir"], sweepDirectory);
  let isAsked = false;
  return {
    mode: "run",
    master: composition,
    directory: outputDir,
    launcherSettings: (plainAt(root, LAUNCHER, place.context) ?? {}) as LauncherSettings,
    sweeper: {
      ask() {
        const batch = isAsked ? undefined : [planned.overrides];
        isAsked = true;
        return batch;
      },
      mayAskForMore: () => false,
      tell: () => {},
    },
    planBatch: (batch, first, numberOf = (index) => index) =>
      batch.map((swept, index) => ({
        ...planned,
        number: numberOf(first + index, planned.overrides),
        swept,
      })),
  };
}

/** Plans a single run in a free directory: one that holds neither results nor the record of another one. */
export const planRun = (
  composition: Composition,
  place: JobPlace,
  directory?: string,
): PlannedJob => {
  const { resultFiles } = place;
  const taken = resultFiles.length === 0 ? [] : [...resultFiles, SWEEP_FOLDER];
  return planJob(composition, { ...place, resultFiles: taken }, undefined, directory);
};

/**
 * @param wished the composition of the sweep itself; composed again if the sweep needs another directory
 * @throws ConfigError if a job cannot be composed, or the sweeper or a sweep override is not supported
 */
export function planSweep(
  wished: Composition,
  overrides: readonly string[],
  composer: Composer,
  place: JobPlace,
  { launchers, python, sweepers }: SweepRegistry,
  { isPlan = false, resumed }: PlanOptions = {},
): PlannedSweep {
  const { context } = composer;
  const resumedIn = resumed?.directory;
  const earlier = earlierJobs(resumed);
  const free =
    resumedIn === undefined
      ? freeDirectory(wished, place)
      : directoryOf(wished, place) === resumedIn
        ? undefined
        : resumedIn;
  const master =
    free === undefined
      ? wished
      : composer.compose([...overrides, `hydra.sweep.dir=${quoted(free, "'")}`], {
          mode: "multirun",
        });
  const { root } = master;
  const directory = directoryOf(master, place);
  const request = {
    master,
    groups: context.dialect.globsSearchPath ? master.repository : composer.repository,
    overrides: textsAt(root, "hydra.overrides.task", context),
    directory,
    context,
    isPlan,
    ...(earlier !== undefined && {
      earlier: earlier.map(({ task_overrides }) => task_overrides),
    }),
    project: { cwd: place.cwd, env: place.env, ...(python && { python }) },
  };
  const target = textAt(root, "hydra.launcher._target_", context) ?? "";
  const launcher = launchers.find(({ targets }) => targets.includes(target));
  const idOf = launcher?.jobId;
  const isByJob = launcher?.settingsByJob === true;
  const ofJob = isByJob ? settingsOfJobs(master, context) : () => undefined;
  const numbering = { ...place, ...(idOf && { idOf }) };
  const ofHydra = textsAt(root, "hydra.overrides.hydra", context);
  const sweeper = chosenOne("hydra.sweeper", sweepers, master, composer).open({
    ...request,
    // Computed only for a sweeper that reads it: others read single settings, which may be missing.
    get settings() {
      return (plainAt(root, "hydra.sweeper", context) ?? {}) as SweeperRequest["settings"];
    },
    dimensions: () => dimensionsOf(request),
  });
  for (const note of emptyNotes(request)) composer.note(note);
  return {
    mode: "multirun",
    master,
    directory,
    ...(earlier !== undefined && { earlierJobs: earlier.map(({ number }) => number) }),
    launcherSettings: isByJob
      ? settingsOfSweep(master, context)
      : ((plainAt(root, LAUNCHER, context) ?? {}) as LauncherSettings),
    sweeper,
    planBatch: (batch, first, numberOf = (index) => index) =>
      batch.map((job, index) => {
        const jobIndex = first + index;
        const composition = composer.compose([...ofHydra, ...job], { sweep: master.overrides });
        if (context.dialect.fixesLauncher) refuseOtherLauncher(master, composition);
        const planned = planJob(composition, numbering, jobIndex);
        const continuation = sweeper.continuationOf?.(job);
        const number = numberOf(jobIndex, planned.overrides, continuation);
        const numbered = number === jobIndex ? planned : planJob(composition, numbering, number);
        const settings = ofJob(numbered.root);
        return {
          ...{ ...numbered, number, swept: job },
          ...(settings && { launcher: settings }),
          ...(continuation && { continuation }),
        };
      }),
  };
}

/** The jobs whose results a search with another space may use: those that are completed or pruned when it changes. */
function earlierJobs(resumed: ResumedSweep | undefined): readonly ManifestJob[] | undefined {
  if (resumed === undefined) return undefined;
  const { changesSpace, directory, earlierJobs: numbersOfEarlier } = resumed;
  if (changesSpace !== true && numbersOfEarlier === undefined) return undefined;
  const folder = sweepFolder(directory);
  // The list has those that no longer belong to the sweep last.
  const jobs = readManifest(folder).jobs.toSorted((a, b) => a.number - b.number);
  if (changesSpace === true)
    return jobs.filter(({ number }) => isSettled(undamagedState(folder, number)?.status));
  const numbers = new Set(numbersOfEarlier);
  return jobs.filter(({ number }) => numbers.has(number));
}

const LAUNCHER = "hydra.launcher";

/** An interpolation that a job's own config may determine: any except those that depend only on the sweep. */
const OF_JOB = /\$\{(?!hydra[.:]|oc\.env:)/;

const isOfJob = (node: ConfigNode): boolean =>
  OF_JOB.test(writeYaml(node, { limits: limitsOf(process.env) }));

/** The launcher's settings as the sweep resolves them, without those that only a job's config can resolve. */
function settingsOfSweep({ root }: Composition, context: ResolveContext): LauncherSettings {
  try {
    return (plainAt(root, LAUNCHER, context) ?? {}) as LauncherSettings;
  } catch (error) {
    const node = child(root, "hydra");
    const launcher = node && child(node, "launcher");
    if (launcher?.kind !== "map" || !isOfJob(launcher)) throw error;
    const entries = [...launcher.entries.values()].flatMap(({ key, value }) => {
      const name = pyStr(key);
      return isOfJob(value) ? [] : [[name, plainAt(root, `${LAUNCHER}.${name}`, context)] as const];
    });
    return Object.fromEntries(entries);
  }
}

/** Jobs with equal settings share one object. Undefined if no job has its own settings. */
function settingsOfJobs(
  { hydra }: Composition,
  context: ResolveContext,
): (root: MapNode) => LauncherSettings | undefined {
  const node = child(hydra, "launcher");
  if (node === undefined || !isOfJob(node)) return () => undefined;
  const settingsByText = new Map<string, LauncherSettings>();
  return (root) => {
    const settings = (plainAt(root, LAUNCHER, context) ?? {}) as LauncherSettings;
    return getOrCreate(settingsByText, JSON.stringify(settings, inWords), () => settings);
  };
}

const inWords = (_: string, value: unknown): unknown =>
  typeof value === "bigint" ? `${value}n` : value;

/**
 * Refuses a job that changes the launcher or the sweeper, which run all jobs.
 *
 * @throws ConfigError `compose.invalid_config`
 */
export function refuseOtherLauncher(master: Composition, job: Composition): void {
  for (const name of ["launcher", "sweeper"]) {
    const group = `hydra/${name}`;
    const [before, after] = [master, job].map(({ choices }) => choices.get(group) ?? null);
    if (before !== after)
      throw changedInJob(
        group,
        `'${group}' must be selected before the sweep starts, but a swept job config changed it from ` +
          `'${before ?? "None"}' to '${after ?? "None"}'. Select it in the primary config or from the command line.`,
      );
    const [ofSweep, ofJob] = [master, job].map(({ hydra }) => {
      const node = child(hydra, name);
      return node === undefined ? "" : writeYaml(node, { limits: limitsOf(process.env) });
    });
    if (ofSweep !== ofJob)
      throw changedInJob(
        `hydra.${name}`,
        `'hydra.${name}' must be configured before the sweep starts, but a swept job config changed it. ` +
          "Configure it in the primary config or from the command line.",
      );
  }
}

const changedInJob = (key: string, message: string): ConfigError =>
  new ConfigError({ code: "compose.invalid_config", message, key });

/**
 * Moves a directory that no override names to a free name, if the results of two sweeps would mix. Undefined if it can
 * stay.
 */
function freeDirectory(
  master: Composition,
  { context, cwd, resultFiles }: JobPlace,
): string | undefined {
  if (resultFiles.length === 0 || isFromOverride(master, "hydra.sweep.dir", context))
    return undefined;
  const wished = directoryOf(master, { context, cwd });
  const free = nextFreeDirectory(wished, [SWEEP_FILE]);
  return free === wished ? undefined : free;
}

const directoryOf = (
  { root }: Composition,
  { context, cwd }: Pick<JobPlace, "context" | "cwd">,
): string => resolve(cwd, String(requiredAt(root, "hydra.sweep.dir", context) ?? "None"));
