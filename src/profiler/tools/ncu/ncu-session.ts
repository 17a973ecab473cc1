/** State shared by the parts of ncu's collector: the tool, its options, and facts about the program. */

import type { LabelRules } from "../../analysis/labels.ts";
import type { MetricSource } from "../../machine/metric-source.ts";
import type { Workload } from "../../machine/process.ts";
import type { Timeline } from "../../model/timeline.ts";
import type { NcuCliConfig, NcuConfig } from "../profiler-config.ts";
import type { RecordedSource } from "../run-types.ts";
import type { CollectContext, Collection, Collector } from "../tool.ts";
import { createResultReader } from "./read-results.ts";
import { adaptToAvailable, queryAvailable, queryRefused } from "./run/availability.ts";
import { type NcuCapabilities, probeNcu, requireNcu } from "./run/capabilities.ts";
import {
  DISCOVERY,
  type Discovery,
  discoverLabels,
  recordSeparately,
  unmatchedNotes,
} from "./run/discover.ts";
import { needsLabels, nvtxRequest, type Pass, type PassPlan, planPasses } from "./run/pass-plan.ts";
import { replayNote } from "./run/replay-count.ts";
import {
  filterTop,
  hasKernels,
  type KernelRecording,
  type TopKernels,
  topKernels,
} from "./run/top-kernels.ts";

export interface NcuCollectorOptions {
  readonly config: NcuConfig;
  readonly aggregate: boolean;
  readonly operationDomains: readonly string[];
  /**
   * Label rules, which also apply to labels that patterns are matched against; without any, labels are the program's
   * own.
   */
  readonly labels?: LabelRules;
  /** Determines labels and kernels if no earlier collector did. */
  readonly recorder: Collector;
  /** Whether the recorder records kernels, here and as a collector of the run. */
  readonly recordsKernels: boolean;
  /** What is known of metrics and chips, to say how often the work will run. */
  readonly metrics: () => Promise<MetricSource>;
}

/** Data that does not change during a collection. */
export interface Session {
  readonly options: NcuCollectorOptions;
  readonly ncu: NcuCapabilities;
  /** The config without options that this ncu does not support. */
  readonly cli: NcuCliConfig;
  readonly workload: Workload;
  readonly context: CollectContext;
  /** The regions of the program; null if the plan does not depend on them. */
  readonly discovery: Discovery | null;
  /** The source of calls, wall times and nesting; null: none. */
  readonly recorded: Recorded | null;
  /** Names of the only kernels that count; null: all. */
  readonly top: readonly string[] | null;
}

interface Recorded {
  readonly timeline: Timeline;
  readonly source: RecordedSource;
}

export interface Prepared {
  readonly session: Session;
  readonly plan: PassPlan;
  /** Notes for the report. */
  readonly notes: readonly string[];
  /** What to expect: not for the report, which has what happened. */
  readonly forecast: readonly string[];
}

/**
 * Queries ncu's capabilities, determines the regions and kernels that the plan needs, and plans the passes.
 *
 * @param elsewhere an ncu that this machine lacks; default: the installed one
 */
export async function prepare(
  options: NcuCollectorOptions,
  workload: Workload,
  context: CollectContext,
  elsewhere?: NcuCapabilities,
): Promise<Prepared> {
  const ncu = elsewhere ?? (await probeNcu(requireNcu()));
  const { config } = options;
  // ncu asks the driver; if that fails, nothing is omitted, and ncu itself reports the error.
  const [available, refused] = await Promise.all([
    queryAvailable(ncu),
    queryRefused(ncu, config.ncu_cli),
  ]);
  const adapted = adaptToAvailable(config.ncu_cli, available, ncu, refused);
  const request = nvtxRequest(config);
  const { replay_mode } = config.ncu_cli;
  const discovery = needsLabels(replay_mode, request)
    ? await discoverLabels(workload, context, { ...options, selection: request })
    : null;
  const { top, recording } = await chooseKernels(options, workload, context, discovery);
  const session: Session = {
    options,
    ncu,
    cli: filterTop(adapted.config, top.names),
    workload,
    context,
    discovery,
    recorded: recordedOf(discovery?.collection ?? firstTimeline(context) ?? recording, context),
    top: top.names,
  };
  const plan = planPasses(replay_mode, request, discovery?.labels ?? null);
  const unmatched =
    discovery === null || matchesNothing(plan, session)
      ? []
      : unmatchedNotes(request, discovery.labels);
  const replays = await replayNote(
    { cli: adapted.config, ncu, device: workload.device, chip: config.chip ?? null },
    await options.metrics(),
  );
  return {
    session,
    plan,
    notes: [...adapted.notes, ...unmatched, ...top.notes, ...plan.notes],
    forecast: replays === null ? [] : [replays],
  };
}

/** Chooses the kernels from an existing recording or, if none has kernels yet, from a separate run. */
async function chooseKernels(
  options: NcuCollectorOptions,
  workload: Workload,
  context: CollectContext,
  discovery: Discovery | null,
): Promise<{ readonly top: TopKernels; readonly recording: Collection | null }> {
  const { config, recorder, recordsKernels } = options;
  if ((config.top_n_kernels ?? null) === null)
    return { top: topKernels(config, []), recording: null };
  const found = new Set([
    ...context.earlier,
    ...(discovery === null ? [] : [discovery.collection]),
  ]);
  const recordings = [...found].flatMap(kernelRecording);
  const mayTellMore =
    recordsKernels && ![...found].some(({ collector }) => collector === recorder.name);
  if (recordings.some(hasKernels) || !mayTellMore)
    return {
      top: topKernels(config, recordings, recordsKernels ? "" : "pipeline.recorder.gpu=off"),
      recording: null,
    };
  const purpose = "the kernels with the most GPU time";
  const recording = await recordSeparately(workload, context, { recorder, purpose });
  return { top: topKernels(config, [...recordings, ...kernelRecording(recording)]), recording };
}

const kernelRecording = ({ collector, measured }: Collection): readonly KernelRecording[] =>
  measured.kind === "timeline"
    ? [
        {
          by: collector === "recorder" ? "the recorder" : collector,
          timelines: measured.repeats?.map(({ timeline }) => timeline) ?? [measured.timeline],
        },
      ]
    : [];

/** Whether no pass has regions to profile. */
export function matchesNothing({ passes }: PassPlan, { options }: Session): boolean {
  const { include } = nvtxRequest(options.config);
  return (
    passes.length === 0 || (include.length > 0 && passes.every((pass) => pass.include.length === 0))
  );
}

export const readerOf = ({ options, recorded, top }: Session) =>
  createResultReader({ ...options, recorded: recorded?.timeline ?? null, top });

const firstTimeline = ({ earlier }: CollectContext): Collection | null =>
  earlier.find(({ measured }) => measured.kind === "timeline") ?? null;

function recordedOf(collection: Collection | null, { earlier }: CollectContext): Recorded | null {
  if (collection?.measured.kind !== "timeline") return null;
  const { timeline } = collection.measured;
  return earlier.includes(collection)
    ? { timeline, source: { kind: "collector", name: collection.collector } }
    : { timeline, source: { kind: "recording", directory: DISCOVERY } };
}

/** Removes options of range replay when a pass is repeated in another mode. */
export function cliOf(pass: Pass, { cli }: Session): NcuCliConfig {
  if (pass.mode === "range") return cli;
  const flag = "--range-replay-options";
  return {
    ...cli,
    extra_args: cli.extra_args.filter(
      (argument, index) => !argument.startsWith(flag) && cli.extra_args[index - 1] !== flag,
    ),
  };
}
