/** From results of ncu, as they are read, to what a collection holds: while it measures, and again. */
import type { Measured, WriteRegionFiles } from "../collection/collector.ts";
import type { NcuConfig } from "../config/ncu-config.ts";
import { createKernelSelection } from "../kernel-selection/select-kernels.ts";
import { createLabelUnifier, type LabelRules, labelFunction } from "../labels/label-rules.ts";
import { buildRegionModel } from "../regions/index.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { type AssembleOptions, createNcuAssembly } from "./assemble/index.ts";
import { createKeptResults } from "./kept-results.ts";
import { addSections, type NcuResult } from "./results.ts";
import { labelKey } from "./run/labels.ts";
import { createStateReader, type StateOptions } from "./run/measured-states.ts";
import { isByLabels, measuredSelection, nvtxRequest } from "./run/nvtx-request.ts";
import type { PassTables } from "./run/read-pass.ts";
import { regionTableWriter } from "./write-region-tables.ts";

export interface ResultReaderOptions {
  readonly config: NcuConfig;
  readonly aggregate: boolean;
  readonly operationDomains: readonly string[];
  /** Unify labels in the reports; without any they are the program's own. */
  readonly labels?: LabelRules;
  /** Unified the labels that passes measured, where those are others: reports may be made again with new rules. */
  readonly measuredLabels?: LabelRules;
  /**
   * A recording of the same program, for calls, wall times, and the order of ranges of several domains,
   * which ncu's tables lose; null without one.
   */
  readonly recorded: Timeline | null;
  /** Names of the only kernels that count; null: all. */
  readonly top: readonly string[] | null;
}

export interface ResultReader {
  /** Adds what a pass measured; `read` tells it a result at a time. */
  readPass(
    labels: StateOptions["labels"],
    read: (onResult: (result: NcuResult) => void) => Promise<PassTables>,
  ): Promise<PassTables>;
  /** `labelKey` of every region that something was measured in. */
  readonly seen: ReadonlySet<string>;
  finish(): ReadResults;
}

export interface ReadResults {
  readonly measured: Measured;
  /** Absent where there were too many results to keep. */
  readonly writeRegionFiles?: WriteRegionFiles;
}

export function createResultReader(options: ResultReaderOptions): ResultReader {
  const { config, aggregate, operationDomains, labels: rules } = options;
  const unifier = createLabelUnifier(rules);
  const measuredLabelOf = labelFunction(options.measuredLabels ?? rules);
  const recorded =
    options.recorded === null
      ? null
      : buildRegionModel(options.recorded, { operationDomains, ...(rules && { labels: rules }) });
  const request = nvtxRequest(config);
  const { include, exclude } = request;
  const measured = measuredSelection(config.ncu_cli.replay_mode, request);
  const assembly = createNcuAssembly({
    kernels: kernelsOf(options),
    ...kernelPatternsOf(options),
    aggregate,
    ...(isByLabels(request) && { selection: { include, exclude } }),
    ...(measured !== null && { measuredSelection: measured }),
    recorded,
    unifier,
  });
  const kept = createKeptResults();
  const sections = new Map<string, readonly string[]>();
  const seen = new Set<string>();
  return {
    seen,
    readPass: async (labels, read) => {
      const ownState = createStateReader({
        labels,
        operationDomains,
        recorded,
        measuredLabelOf,
        ...(unifier !== null && { labelOf: unifier.labelOf }),
      });
      const tables = await read((result) => {
        const own = ownState(result);
        assembly.add(own);
        kept.add(own);
        for (const { node, kind } of assembly.regionsOf(own))
          if (kind !== "outside")
            seen.add(labelKey({ domain: node.domain, name: node.name, kind }));
      });
      addSections(sections, tables.sections);
      return tables;
    },
    finish: () => ({
      measured: { kind: "regions", model: assembly.finish({ sections, notes: [] }) },
      ...(kept.complete() && { writeRegionFiles: regionTableWriter(assembly, kept.stream) }),
    }),
  };
}

/** ncu itself profiles no others than `kernel_name`. */
const kernelsOf = ({ config, top }: ResultReaderOptions) =>
  createKernelSelection({
    include: [],
    exclude: config.ncu_cli.kernel_exclude,
    nameBase: config.ncu_cli.kernel_name_base ?? "function",
    top,
  });

/** For the report, where that name counts as well. */
function kernelPatternsOf({
  config: { ncu_cli },
  top,
}: ResultReaderOptions): Pick<AssembleOptions, "kernelPatterns"> {
  const include = ncu_cli.kernel_name === null ? [] : [ncu_cli.kernel_name];
  const exclude = ncu_cli.kernel_exclude;
  if (include.length + exclude.length === 0 && top === null) return {};
  return {
    kernelPatterns: { include, exclude, nameBase: ncu_cli.kernel_name_base ?? "function", top },
  };
}
