/** A run: prepares the workload, runs it under each collector, makes the reports. */
import { statSync } from "node:fs";
import {
  anything,
  checkOptions,
  fn,
  listOf,
  type OptionChecks,
  optional,
  path,
  shape,
  text,
  trueOrFalse,
  whichIs,
  withMethods,
} from "../../engine/values/check-options.ts";
import { packageInfo } from "../../engine/values/package-info.ts";
import { isAbortSignal } from "../../foundation/system/builtin-types.ts";
import { fileHash } from "../../foundation/system/file-hash.ts";
import { findExecutable } from "../../foundation/system/find-program.ts";
import { dateTime } from "../../foundation/text/date-time.ts";
import type { RegionReportBundle } from "../../report/model/document.ts";
import { patternList } from "../../report/selection/range-pattern.ts";
import { coveredWords } from "../../report/view/notes.ts";
import { buildRegionModel } from "../analysis/build.ts";
import type { RegionModel } from "../analysis/region-model.ts";
import { combineRuns } from "../analysis/repeats.ts";
import { toReportBundle } from "../analysis/to-report.ts";
import { createGpuQueries } from "../machine/gpu.ts";
import { describeMachine, type MachineEnvironment } from "../machine/machine-environment.ts";
import { gpuPart, type NativePart } from "../machine/native.ts";
import {
  cutOutput,
  describeOutcome,
  type StopRequests,
  succeeded,
  type Workload,
  whyFailed,
} from "../machine/process.ts";
import type { ProfileConfig } from "../tools/profiler-config.ts";
import type { RunDocument } from "../tools/run-types.ts";
import type { Collection, ProfilingTool, Progress } from "../tools/tool.ts";
import { TOOLS } from "../tools/tool-table.ts";
import { enabledCollectors, type MissingCollection, runCollectors } from "./collectors.ts";
import { chooseDevice, nativeFor, whyGpuIsUnused } from "./gpu-settings.ts";
import { measurePeaks } from "./static-analysis.ts";
import { createWorkload, workloadOverrides } from "./workloads.ts";

/** A request to profile: the config, the output directory, and the communication with the user. */
export interface ProfileRequest {
  /** Composed, resolved and validated. */
  readonly config: ProfileConfig;
  /** `sha256:` and the hash of the resolved config. */
  readonly fingerprint: string;
  /** Absolute path of the existing run directory. */
  readonly runDirectory: string;
  /** The user's working directory. */
  readonly cwd: string;
  /** The job's overrides, as typed; absent if a config of the user takes part. */
  readonly overrides?: readonly string[];
  readonly progress: Progress;
  /** Called with a line about each step, for the log. */
  readonly say: (line: string) => void;
  readonly interrupt: StopRequests;
  /** Waits for other processes that record into the run's directory; returns notes about them. */
  readonly awaitOthers?: () => Promise<readonly string[]>;
  /** The tools that `config.pipeline` may enable, in the order in which they run. Default: recorder, nsys, ncu. */
  readonly tools?: readonly ProfilingTool[];
}

/** The results of the collectors of a run, from which its reports are made. */
export interface CollectedRun {
  readonly config: ProfileConfig;
  readonly fingerprint: string;
  readonly workload: Workload;
  readonly environment: MachineEnvironment;
  readonly inputs: RunInputs;
  readonly collections: readonly Collection[];
  readonly missing: readonly MissingCollection[];
}

/** A run that was just measured, not read from its files. */
export interface TimedRun extends CollectedRun {
  /** The period in which the collectors ran, when other work on the machine disturbs them. */
  readonly period: { readonly started: Date; readonly ended: Date };
}

/** The facts that are known before anything is measured. */
export interface PreparedRun
  extends Pick<CollectedRun, "config" | "fingerprint" | "workload" | "environment" | "inputs"> {
  readonly native: NativePart;
}

/** The results of a run, whether its workload succeeded or not. */
export interface ProfileResult {
  readonly workload: Workload;
  readonly environment: MachineEnvironment;
  readonly inputs: RunInputs;
  /** One per collector with results, in the order in which they ran. */
  readonly sections: readonly ProfileSection[];
  readonly missing: readonly MissingCollection[];
}

/** The results of one collector. */
export interface ProfileSection
  extends Pick<Collection, "collector" | "measured" | "outcome" | "problem" | "writeRegionFiles"> {
  readonly bundle: RegionReportBundle;
  /**
   * The output of the workload in the shown run; null if that run did not complete. `outcome` belongs to the last run,
   * which may be another one.
   */
  readonly stdoutFile: string | null;
}

/**
 * Profiles a workload: prepares it, runs it under each collector, and attributes the recorded events to regions. Writes
 * only into the collectors' folders of the run directory.
 *
 * @throws ConfigError as `collectRun`
 */
export async function profile(request: ProfileRequest): Promise<ProfileResult> {
  checkOptions("profile", request, PROFILE_REQUEST);
  return reportOn(await collectRun(request), new Date());
}

/**
 * Runs the workload under each collector.
 *
 * @throws ConfigError before anything is measured: if the device does not exist, there is nothing to run, or the native
 * part cannot be built or its build was stopped by `interrupt.stop`
 */
export async function collectRun(request: ProfileRequest): Promise<TimedRun> {
  const { native, ...prepared } = await prepareRun(request);
  const { config, workload } = prepared;
  const collectors = enabledCollectors({ config, native }, request.tools ?? TOOLS);
  const started = new Date();
  const { collections, missing } = await runCollectors(collectors, workload, request);
  const period = { started, ended: new Date() };
  // Measured last, because the run may use the machine until it has ended.
  const peaks = collections.some(({ outcome }) => succeeded(outcome))
    ? await measurePeaks(workload, request.interrupt.stop, request.say)
    : null;
  const environment = { ...prepared.environment, ...(peaks !== null && { peaks }) };
  return { ...prepared, environment, period, collections, missing };
}

/** @throws ConfigError as `collectRun` */
export async function prepareRun(
  request: Pick<
    ProfileRequest,
    "config" | "fingerprint" | "cwd" | "overrides" | "say" | "progress" | "interrupt"
  >,
): Promise<PreparedRun> {
  const { config, fingerprint, progress } = request;
  const queries = createGpuQueries();
  const [gpus, native] = await Promise.all([
    queries.gpus(),
    nativeFor(config, queries, progress.begin, request.interrupt.stop).finally(progress.stop),
  ]);
  const device = chooseDevice(config, gpus, native);
  const unused = whyGpuIsUnused(config, gpus, gpuPart(native));
  if (unused !== null) request.say(unused);
  const workload = createWorkload(config, {
    cwd: request.cwd,
    device,
    shallowResnet: native.shallowResnet,
  });
  const { version } = packageInfo();
  const environment = describeMachine(gpus, { hydraconf: version, native: native.info });
  const overrides = request.overrides && workloadOverrides(config.workload, request.overrides);
  const inputs = {
    ...(await describeInputs(workload)),
    ...(overrides && { overrides }),
  };
  return { config, fingerprint, workload, environment, inputs, native };
}

/** Makes the regions and reports of each collection. The result depends only on the run and the time. */
export function reportOn(run: CollectedRun, generatedAt: Date): ProfileResult {
  const { config, workload, environment, inputs, collections, missing } = run;
  const sections = collections.map((collection) => {
    const { measured, stdoutFile, model } = regionsOf(collection, config);
    return {
      collector: collection.collector,
      measured,
      stdoutFile,
      outcome: collection.outcome,
      bundle: toBundle(model, collection, run, generatedAt),
      ...(collection.problem !== undefined && { problem: collection.problem }),
      ...(collection.writeRegionFiles !== undefined && {
        writeRegionFiles: collection.writeRegionFiles,
      }),
    };
  });
  return { workload, environment, inputs, sections, missing };
}

function toBundle(
  model: RegionModel,
  collection: Collection,
  { fingerprint, workload, environment, inputs: { overrides } }: CollectedRun,
  generatedAt: Date,
): RegionReportBundle {
  const failure = whyFailed(collection);
  return toReportBundle(model, {
    generatedAt: dateTime(generatedAt),
    configFingerprint: fingerprint,
    collectorVersion: collection.toolVersion ?? environment.hydraconf,
    environment: {
      hostname: environment.hostname,
      os: environment.os,
      cpu: environment.cpu,
      gpus: environment.gpus.map((gpu) => gpu.name),
      command: workload.argv,
      ...(overrides !== undefined && { overrides }),
      device: workload.device,
      hydraconf_version: environment.hydraconf,
    },
    ...(failure !== null && { failure }),
    notes: [...collection.notes, ...outcomeNotes(collection)],
  });
}

/** The regions and their collection; for repeated runs, those of the shown run. */
function regionsOf(
  { measured, outcome }: Collection,
  { pipeline, labels }: ProfileConfig,
): Pick<ProfileSection, "measured" | "stdoutFile"> & { readonly model: RegionModel } {
  const isWhole = succeeded(outcome) && outcome.unwritten === undefined;
  const printed = isWhole ? outcome.stdoutFile : null;
  if (measured.kind === "regions") return { measured, stdoutFile: printed, model: measured.model };
  const { recorder, report } = pipeline;
  const runs = measured.repeats ?? [{ timeline: measured.timeline, stdoutFile: printed }];
  const models = runs.map(({ timeline }) =>
    buildRegionModel(timeline, {
      operationDomains: recorder.operation_domains,
      selection: {
        include: patternList(recorder.include),
        exclude: patternList(recorder.exclude),
      },
      aggregate: report.aggregate,
      ...(labels && { labels }),
    }),
  );
  const { model, shown } = combineRuns(models);
  const { timeline, stdoutFile } = runs[shown] ?? { ...measured, stdoutFile: printed };
  return { measured: { kind: "timeline", timeline }, stdoutFile, model };
}

/** Notes about a workload that failed or whose output was cut. */
export function outcomeNotes({
  outcome,
  problem,
  notes,
}: Pick<Collection, "notes" | "outcome" | "problem">): readonly string[] {
  const cut = cutOutput(outcome);
  if (problem !== undefined) return [problem.message, ...cut];
  if (succeeded(outcome)) return cut;
  return [`${describeOutcome(outcome)}: the report covers ${coveredWords(notes)}`, ...cut];
}

const signal = whichIs(isAbortSignal, "an AbortSignal");

/** The checks of a request. They throw ConfigError `value.wrong_type`. */
const PROFILE_REQUEST: OptionChecks<ProfileRequest> = {
  config: anything,
  fingerprint: text,
  runDirectory: path,
  cwd: path,
  overrides: optional(listOf("overrides", text, '["device=cpu"]')),
  progress: withMethods(["begin", "update", "stop"], "a progress", "silentProgress shows nothing"),
  say: fn,
  interrupt: shape<StopRequests>({
    stop: signal,
    kill: signal,
    suspension: optional(withMethods(["join"], "a suspension", "createSuspension makes one")),
    isGuarded: optional(trueOrFalse),
  }),
  awaitOthers: optional(fn),
  tools: optional(
    listOf("tools", withMethods(["collect"], "a profiling tool", "see ProfilingTool"), "[myTool]"),
  ),
};

/** A file that the run names, with its hash. */
export type InputFile = RunInputs["files"][number];

/** The command line and its files, for `inputs.yaml`. */
export type RunInputs = RunDocument["inputs"];

/** Describes the program and the files that the workload names, without missing files. */
export async function describeInputs(workload: Workload): Promise<RunInputs> {
  const program = findExecutable(workload.argv[0] ?? "", workload.cwd);
  const paths = [...(program === null ? [] : [program]), ...workload.inputFiles];
  const files = await Promise.all(paths.map(describeFile));
  return {
    workload: workload.label,
    command: workload.argv,
    cwd: workload.cwd,
    files: files.filter((file) => file !== null),
  };
}

async function describeFile(path: string): Promise<InputFile | null> {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status?.isFile()) return null;
  return { path, bytes: status.size, sha256: await hashOf(path) };
}

/** Null for an unreadable file: programs with mode 711, such as some of root's, can be run all the same. */
const hashOf = (path: string): Promise<string | null> => fileHash(path).catch(() => null);
