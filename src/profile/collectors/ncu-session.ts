/** What the parts of ncu's collector share: the tool, its options, and what is known of the program. */
import { createResultReader } from "../ncu/read-results.ts";
import { adaptToAvailable, queryAvailable } from "../ncu/run/availability.ts";
import { type NcuCapabilities, probeNcu } from "../ncu/run/capabilities.ts";
import { DISCOVERY, type Discovery, discoverLabels } from "../ncu/run/discover.ts";
import { requireNcu } from "../ncu/run/find-ncu.ts";
import type { NcuCliConfig, NcuConfig } from "../ncu/run/ncu-config.ts";
import { nvtxRequest } from "../ncu/run/nvtx-request.ts";
import { needsLabels, type Pass, type PassPlan, planPasses } from "../ncu/run/pass-plan.ts";
import { filterTop, topKernels } from "../ncu/run/top-kernels.ts";
import type { Timeline } from "../timeline.ts";
import type { Workload } from "../workload/workload.ts";
import type { CollectContext, Collection, Collector } from "./collector.ts";
import type { RecordedSource } from "./source.ts";

export interface NcuCollectorOptions {
  readonly config: NcuConfig;
  readonly aggregate: boolean;
  readonly operationDomains: readonly string[];
  /** Finds the labels out where no collector did before. */
  readonly recorder: Collector;
}

/** What stays the same through a collection. */
export interface Session {
  readonly options: NcuCollectorOptions;
  readonly ncu: NcuCapabilities;
  /** The config without what this ncu does not have. */
  readonly cli: NcuCliConfig;
  readonly workload: Workload;
  readonly context: CollectContext;
  readonly discovery: Discovery | null;
}

export interface Prepared {
  readonly session: Session;
  readonly plan: PassPlan;
  readonly notes: readonly string[];
}

/** Asks ncu what it has, looks for the regions where the plan needs them, and plans the passes. */
export async function prepare(
  options: NcuCollectorOptions,
  workload: Workload,
  context: CollectContext,
): Promise<Prepared> {
  const ncu = await probeNcu(requireNcu());
  const { config } = options;
  // ncu asks the driver; where that fails, nothing is left out and ncu itself says what is wrong.
  const adapted = adaptToAvailable(config.ncu_cli, await queryAvailable(ncu), ncu);
  const request = nvtxRequest(config);
  const { replay_mode } = config.ncu_cli;
  const byLabels = needsLabels(replay_mode, request);
  const discovery =
    byLabels || (config.top_n_kernels ?? null) !== null
      ? await discoverLabels(workload, context, options)
      : null;
  const top = topKernels(config, recordedTimeline(discovery, context));
  const cli = filterTop(adapted.config, top.names);
  const session = { options, ncu, cli, workload, context, discovery };
  const plan = planPasses(replay_mode, request, byLabels ? (discovery?.labels ?? null) : null);
  return { session, plan, notes: [...adapted.notes, ...top.notes, ...plan.notes] };
}

/** Whether there are no regions to profile in any pass. */
export function matchesNothing({ passes }: PassPlan, { options }: Session): boolean {
  const { include } = nvtxRequest(options.config);
  return (
    passes.length === 0 || (include.length > 0 && passes.every((pass) => pass.include.length === 0))
  );
}

export const readerOf = ({ options, discovery, context }: Session) =>
  createResultReader({ ...options, recorded: recordedTimeline(discovery, context) });

const recordedTimeline = (
  discovery: Discovery | null,
  { earlier }: CollectContext,
): Timeline | null => discovery?.timeline ?? firstTimeline(earlier)?.timeline ?? null;

function firstTimeline(earlier: readonly Collection[]) {
  for (const { collector, measured } of earlier)
    if (measured.kind === "timeline") return { collector, timeline: measured.timeline };
  return null;
}

export function recordedSource({ discovery, context }: Session): RecordedSource | null {
  const { earlier } = context;
  if (discovery !== null && !earlier.includes(discovery.collection))
    return { kind: "recording", directory: DISCOVERY };
  const name = discovery?.collection.collector ?? firstTimeline(earlier)?.collector;
  return name === undefined ? null : { kind: "collector", name };
}

/** Options of range replay have no place in the replay that takes over from it. */
export function cliOf(pass: Pass, { cli }: Session): NcuCliConfig {
  if (pass.mode !== "app-range") return cli;
  const flag = "--range-replay-options";
  return {
    ...cli,
    extra_args: cli.extra_args.filter(
      (argument, at) => !argument.startsWith(flag) && cli.extra_args[at - 1] !== flag,
    ),
  };
}
