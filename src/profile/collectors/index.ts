import type { Collector } from "../collection/collector.ts";
import { COLLECTOR_NAMES, type CollectorName } from "../collection/collector-names.ts";
import type { ProfileConfig } from "../config/config.ts";
import type { NativePart } from "../machine/native.ts";
import { createNcuCollector } from "./ncu.ts";
import type { NcuCollectorOptions } from "./ncu-session.ts";
import { createNsys } from "./nsys.ts";
import { createRecorder } from "./recorder.ts";
import { repeatCollector } from "./repeated-collector.ts";

/** What a collector is made from. */
export interface CollectorParts {
  readonly config: ProfileConfig;
  readonly native: NativePart;
}

const recorderOf = ({ config, native }: CollectorParts, gpu: boolean): Collector =>
  createRecorder({
    library: native.regionRecorder,
    operationDomains: config.pipeline.recorder.operation_domains,
    gpu,
  });

const recordsKernels = ({ config }: CollectorParts): boolean =>
  config.pipeline.recorder.gpu === "auto";

const FACTORIES: Readonly<Record<CollectorName, (parts: CollectorParts) => Collector>> = {
  recorder: (parts) => recorderOf(parts, recordsKernels(parts)),
  nsys: ({ config }) => createNsys(config.pipeline.nsys),
  ncu: (parts) => createNcuCollector(ncuOptions(parts)),
};

/** What the collector ncu is made from; labels alone are found without recording kernels. */
export function ncuOptions(parts: CollectorParts): NcuCollectorOptions {
  const { ncu, recorder, report } = parts.config.pipeline;
  const choosesKernels = (ncu.top_n_kernels ?? null) !== null;
  return {
    config: ncu,
    aggregate: report.aggregate,
    operationDomains: recorder.operation_domains,
    ...(parts.config.labels && { labels: parts.config.labels }),
    recorder: recorderOf(parts, choosesKernels && recordsKernels(parts)),
    recordsKernels: recordsKernels(parts),
  };
}

/** The collectors that a config switches on, in the order in which they run. */
export function enabledCollectors(parts: CollectorParts): readonly Collector[] {
  return COLLECTOR_NAMES.filter((name) => parts.config.pipeline[name].enable).map((name) =>
    repeated(FACTORIES[name](parts), parts.config),
  );
}

/** Nsight Compute replays kernels by itself and locks the clocks: its runs are not repeated. */
function repeated(collector: Collector, { repeats, warmup_runs }: ProfileConfig): Collector {
  return collector.name === "ncu" || repeats === 1
    ? collector
    : repeatCollector(collector, { runs: repeats, warmup: warmup_runs });
}
