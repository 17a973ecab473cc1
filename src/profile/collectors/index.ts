import type { ProfileConfig } from "../config.ts";
import type { NativePart } from "../native.ts";
import { COLLECTOR_NAMES, type Collector, type CollectorName } from "./collector.ts";
import { createNcuCollector } from "./ncu.ts";
import { createNsys } from "./nsys.ts";
import { createRecorder } from "./recorder.ts";

/** What a collector is made from. */
export interface CollectorParts {
  readonly config: ProfileConfig;
  readonly native: NativePart;
}

/** The recorder, also where another collector needs to know what the program does. */
export const recorderOf = ({ config, native }: CollectorParts): Collector =>
  createRecorder({
    library: native.regionRecorder,
    operationDomains: config.pipeline.recorder.operation_domains,
    gpu: config.pipeline.recorder.gpu === "auto",
  });

const FACTORIES: Readonly<Partial<Record<CollectorName, (parts: CollectorParts) => Collector>>> = {
  recorder: recorderOf,
  ncu: (parts) =>
    createNcuCollector({
      config: parts.config.pipeline.ncu,
      aggregate: parts.config.pipeline.report.aggregate,
      operationDomains: parts.config.pipeline.recorder.operation_domains,
      recorder: recorderOf(parts),
    }),
  nsys: ({ config }) => createNsys(config.pipeline.nsys),
};

/** The collectors that a config switches on, in the order in which they run. */
export function enabledCollectors(parts: CollectorParts): readonly Collector[] {
  return COLLECTOR_NAMES.filter((name) => parts.config.pipeline[name].enable).flatMap((name) => {
    const create = FACTORIES[name];
    return create === undefined ? [] : [create(parts)];
  });
}
