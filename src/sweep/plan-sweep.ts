import { resolve } from "node:path";
import type { Composition } from "../compose/index.ts";
import type { Composer } from "../job/composer.ts";
import { plainAt, requiredAt, textAt, textsAt } from "../job/hydra-values.ts";
import type { SweepJob } from "../job/plan-job.ts";
import { isFromOverride, type JobPlace, planJob } from "../job/plan-job.ts";
import { nextFreeDirectory } from "../job/run-directory.ts";
import type { LauncherSettings } from "../launch/launcher.ts";
import { quoted } from "../overrides/index.ts";
import { jobFingerprint, type SweepRecord } from "../record/sweep-record.ts";
import { getOrCreate } from "../system/get-or-create.ts";
import { ConfigError } from "../values/errors.ts";
import { type ConfigNode, child, type MapNode } from "../values/node.ts";
import { pyStr } from "../values/python-text.ts";
import type { ResolveContext } from "../values/resolution/context.ts";
import { writeYaml } from "../values/yaml/writer.ts";
import type { OpenSweep } from "./open-sweep.ts";
import { chosenOne, type SweepRegistry } from "./registry.ts";
import { dimensionsOf } from "./sweepers/basic-sweeper.ts";
import type { JobOverrides, Sweeper, SweeperRequest } from "./sweepers/sweeper.ts";

/** Hydra's record of a sweep, in its directory. */
export const SWEEP_FILE = "multirun.yaml";

/** A sweep with all that is decided before anything is made. */
export interface PlannedSweep {
  /** The composition of the sweep itself: the sweeps are still overrides in it. */
  readonly master: Composition;
  /** The absolute path of `hydra.sweep.dir`. */
  readonly directory: string;
  readonly sweeper: Sweeper;
  /** `hydra.launcher`, resolved; without the settings that only the configs of jobs can tell. */
  readonly launcherSettings: LauncherSettings;
  /**
   * The jobs of a batch, composed.
   *
   * @param first the place of the first one in the sweep, from 0
   * @param numberOf the number of a job, by its place and the overrides of its task; its place unless told
   */
  planBatch(
    batch: readonly JobOverrides[],
    first: number,
    numberOf?: (place: number, overrides: readonly string[]) => number,
  ): readonly SweepJob[];
}

/**
 * Of how many jobs the compositions are held at a time, which take memory by what the overrides say. Those of a larger batch are not
 * kept: they are made again where a job runs in this process.
 */
function mostHeld([first = []]: readonly JobOverrides[]): number {
  const characters = first.reduce((sum, { length }) => sum + length, 1);
  return Math.min(1_000, Math.ceil(500_000 / characters));
}

/** The parts of a batch: small ones, so that most of what composing makes is garbage soon. */
export function* partsOf(batch: readonly JobOverrides[]): Generator<readonly JobOverrides[]> {
  const most = Math.ceil(mostHeld(batch) / 100);
  for (let at = 0; at === 0 || at < batch.length; at += most) yield batch.slice(at, at + most);
}

/** What becomes of a batch before its first job starts. */
export interface CheckedBatch {
  readonly jobs: readonly SweepJob[];
  /** Those that are to run. */
  readonly due: readonly SweepJob[];
  /** Whether all of these may. */
  readonly isFit: boolean;
  /** How long composing took. */
  readonly seconds: number;
}

/**
 * Composes and checks the jobs of a batch.
 *
 * @param first the place of the first one in the sweep, from 0
 * @throws ConfigError for what cannot be composed, or is no longer what was recorded
 */
export async function planChecked(
  batch: readonly JobOverrides[],
  first: number,
  {
    check,
    record,
    sweep,
  }: Pick<OpenSweep, "check" | "sweep"> & {
    readonly record: Pick<SweepRecord, "due" | "numberOf">;
  },
): Promise<CheckedBatch> {
  const jobs: SweepJob[] = [];
  const due: SweepJob[] = [];
  const owners = new Map<string, number | undefined>();
  const isKept = batch.length <= mostHeld(batch);
  const again = latestPlan(sweep);
  let isFit = true;
  let milliseconds = 0;
  for (const part of partsOf(batch)) {
    const begin = performance.now();
    const planned = sweep.planBatch(part, first + jobs.length, record.numberOf);
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
  return { jobs, due, isFit, seconds: milliseconds / 1000 };
}

type Replan = (job: Pick<SweepJob, "number" | "swept">) => SweepJob;

/** Plans a job again; the same one as before is the one that was planned. */
function latestPlan({ planBatch }: Pick<PlannedSweep, "planBatch">): Replan {
  let latest: SweepJob | undefined;
  return ({ number, swept }) => {
    if (latest?.swept !== swept) [latest] = planBatch([swept], number, () => number);
    return latest as SweepJob;
  };
}

/** A job whose composition is made when it is asked for. */
type LaterJob = Omit<SweepJob, "composition" | "root" | "tree" | "resolved"> & {
  readonly replan: Replan;
};

/** One object for all jobs: accessors of their own would cost each of them three shapes, which stay in memory. */
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

/** The same job, without what its composition takes. */
function withoutComposition(job: SweepJob, replan: Replan): SweepJob {
  const { composition, launcher, number, outputDir, overrides, swept } = job;
  const later: LaterJob = {
    number,
    outputDir,
    overrides,
    swept,
    typed: composition.overrides.map(({ origin }) => origin.text),
    fingerprint: jobFingerprint(job),
    ...(launcher !== undefined && { launcher }),
    replan,
  };
  return Object.assign(Object.create(MADE_LATER), later);
}

/**
 * @param wished the composition of the sweep itself, unless another directory is needed
 * @param resumedIn the absolute path of the directory of a sweep that goes on
 * @throws ConfigError for what cannot be composed, and for a sweeper or sweeps that cannot be
 */
export function planSweep(
  wished: Composition,
  overrides: readonly string[],
  composer: Composer,
  place: JobPlace,
  { launchers, sweepers }: SweepRegistry,
  resumedIn?: string,
): PlannedSweep {
  const { context } = composer;
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
  };
  const target = textAt(root, "hydra.launcher._target_", context) ?? "";
  const launcher = launchers.find(({ targets }) => targets.includes(target));
  const idOf = launcher?.jobId;
  const isByJob = launcher?.settingsByJob === true;
  const ofJob = isByJob ? settingsOfJobs(master, context) : () => undefined;
  const numbering = { ...place, ...(idOf && { idOf }) };
  const ofHydra = textsAt(root, "hydra.overrides.hydra", context);
  return {
    master,
    directory,
    launcherSettings: isByJob
      ? settingsOfSweep(master, context)
      : ((plainAt(root, LAUNCHER, context) ?? {}) as LauncherSettings),
    sweeper: chosenOne("hydra.sweeper", sweepers, master, composer).open({
      ...request,
      // Worked out only for a sweeper that asks: others read single settings, which may be missing.
      get settings() {
        return (plainAt(root, "hydra.sweeper", context) ?? {}) as SweeperRequest["settings"];
      },
      dimensions: () => dimensionsOf(request),
    }),
    planBatch: (batch, first, numberOf = (at) => at) =>
      batch.map((job, index) => {
        const at = first + index;
        const composition = composer.compose([...ofHydra, ...job]);
        if (context.dialect.fixesLauncher) refuseOtherLauncher(master, composition);
        const planned = planJob(composition, numbering, at);
        const number = numberOf(at, planned.overrides);
        const numbered = number === at ? planned : planJob(composition, numbering, number);
        const settings = ofJob(numbered.root);
        return { ...numbered, number, swept: job, ...(settings && { launcher: settings }) };
      }),
  };
}

const LAUNCHER = "hydra.launcher";

/** What a job's own config may decide: an interpolation of anything but what the sweep itself is. */
const OF_JOB = /\$\{(?!hydra[.:]|oc\.env:)/;

const isOfJob = (node: ConfigNode): boolean => OF_JOB.test(writeYaml(node));

/** The settings whose values only the config of a job may have, as the sweep sees them: where that has none, they are left out. */
function settingsOfSweep({ root }: Composition, context: ResolveContext): LauncherSettings {
  try {
    return (plainAt(root, LAUNCHER, context) ?? {}) as LauncherSettings;
  } catch (error) {
    const node = child(root, "hydra");
    const launcher = node && child(node, "launcher");
    if (launcher?.kind !== "map" || !isOfJob(launcher)) throw error;
    const known = [...launcher.entries.values()].flatMap(({ key, value }) => {
      const name = pyStr(key);
      return isOfJob(value) ? [] : [[name, plainAt(root, `${LAUNCHER}.${name}`, context)] as const];
    });
    return Object.fromEntries(known);
  }
}

/** Equal settings are one object, however many jobs have them. Undefined where no job has any of its own. */
function settingsOfJobs(
  { hydra }: Composition,
  context: ResolveContext,
): (root: MapNode) => LauncherSettings | undefined {
  const node = child(hydra, "launcher");
  if (node === undefined || !isOfJob(node)) return () => undefined;
  const known = new Map<string, LauncherSettings>();
  return (root) => {
    const settings = (plainAt(root, LAUNCHER, context) ?? {}) as LauncherSettings;
    return getOrCreate(known, JSON.stringify(settings, inWords), () => settings);
  };
}

const inWords = (_: string, value: unknown): unknown =>
  typeof value === "bigint" ? `${value}n` : value;

/**
 * The launcher and the sweeper run all jobs: none of them can change them.
 *
 * @throws ConfigError `compose.invalid_config`
 */
function refuseOtherLauncher(master: Composition, job: Composition): void {
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
      return node === undefined ? "" : writeYaml(node);
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
 * Where the results of two sweeps must not mix, a directory that was not chosen by name steps aside
 * for another sweep's. Undefined where it can stay.
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
