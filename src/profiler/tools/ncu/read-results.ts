/** Converts results of ncu to the contents of a collection, both during measurement and when they are read again. */

import { buildRegionModel } from "../../analysis/build.ts";
import { createKernelSelection } from "../../analysis/kernel-selection.ts";
import {
  createLabelUnifier,
  foldedAs,
  type LabelOf,
  type LabelRules,
  type LabelUnifier,
  labelFunction,
} from "../../analysis/labels.ts";
import type { RegionModel } from "../../analysis/region-model.ts";
import { addSections, type NcuResult } from "../../model/counters.ts";
import type { Timeline } from "../../model/timeline.ts";
import type { NcuConfig } from "../profiler-config.ts";
import type { Measured, WriteRegionFiles } from "../tool.ts";
import { type AssembleOptions, createNcuAssembly } from "./assemble/assembly.ts";
import { labelKey } from "./run/label-survey.ts";
import { createStateReader, type StateOptions } from "./run/measured-states.ts";
import { isByLabels, measuredSelection, nvtxRequest } from "./run/pass-plan.ts";
import type { PassTables } from "./run/read-pass.ts";
import { regionTableWriter } from "./write-region-tables.ts";

export interface ResultReaderOptions {
  readonly config: NcuConfig;
  readonly aggregate: boolean;
  readonly operationDomains: readonly string[];
  /** Label rules of the reports; without any, labels are the program's own. */
  readonly labels?: LabelRules;
  /** The rules that unified the labels of measured passes, if they differ: reports may be rebuilt with new rules. */
  readonly measuredLabels?: LabelRules;
  /**
   * A recording of the same program, for calls, wall times, and the order of ranges of several domains, which ncu's
   * tables lose; null without one.
   */
  readonly recorded: Timeline | null;
  /** Names of the only kernels that count; null: all. */
  readonly top: readonly string[] | null;
}

export interface ResultReader {
  /** Adds the results of a pass, which `read` delivers one at a time. */
  readPass(
    labels: StateOptions["labels"],
    read: (onResult: (result: NcuResult) => void) => Promise<PassTables>,
  ): Promise<PassTables>;
  /** The `labelKey` of every region with results. */
  readonly seen: ReadonlySet<string>;
  finish(): ReadResults;
}

export interface ReadResults {
  readonly measured: Measured;
  /** Absent if there were too many results to keep. */
  readonly writeRegionFiles?: WriteRegionFiles;
}

export function createResultReader(options: ResultReaderOptions): ResultReader {
  const { config, aggregate, operationDomains, labels: rules } = options;
  const unifier = createLabelUnifier(rules);
  const measuredLabelOf = labelFunction(options.measuredLabels ?? rules);
  const request = nvtxRequest(config);
  const recorded =
    options.recorded === null
      ? null
      : buildRegionModel(options.recorded, {
          operationDomains,
          asked: { include: request.include, exclude: request.exclude },
          ...(rules && { labels: rules }),
        });
  const { include, exclude } = request;
  const measured = measuredSelection(config.ncu_cli.replay_mode, request);
  const labelOf = asRecorded(unifier, recorded);
  const assembly = createNcuAssembly({
    ...(rules && { labels: rules }),
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
        ...(labelOf !== null && { labelOf }),
      });
      const tables = await read((result) => {
        const ncuResult = ownState(ofRange(result, labels));
        assembly.add(ncuResult);
        kept.add(ncuResult);
        for (const { node, kind } of assembly.regionsOf(ncuResult))
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

/** A pass over ranges that ncu could not replay as a whole has measured their kernels: each is a part of its range. */
const ofRange = (result: NcuResult, labels: StateOptions["labels"]): NcuResult =>
  labels === null || result.kind === "range" ? result : { ...result, kind: "range", isPart: true };

/** Applies the folding of a recording, which has more calls than were measured. Null if labels stay unchanged. */
export function asRecorded(
  unifier: LabelUnifier | null,
  recorded: RegionModel | null,
): LabelOf | null {
  if (recorded === null) return unifier?.labelOf ?? null;
  const names = recorded.scopes.flatMap(({ regions }) => regions.flatMap(({ path }) => path));
  const folded = foldedAs(new Set(names));
  return unifier === null ? folded : (label) => folded(unifier.labelOf(label));
}

/** ncu itself profiles only kernels that match `kernel_name`. */
const kernelsOf = ({ config, top }: ResultReaderOptions) =>
  createKernelSelection({
    include: [],
    exclude: config.ncu_cli.kernel_exclude,
    nameBase: config.ncu_cli.kernel_name_base ?? "function",
    top,
  });

/** The patterns for the report, which include `kernel_name`. */
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

/** Results that are needed again after they were added up; limited by memory. */
interface KeptResults {
  add(result: NcuResult): void;
  /** False once there were too many: then none is kept. */
  readonly complete: () => boolean;
  readonly stream: (onResult: (result: NcuResult) => void) => Promise<void>;
}

const MAX_BYTES = 96e6;
/** The size of a result without its values. */
const RESULT_BYTES = 300;

function createKeptResults(): KeptResults {
  let kept: NcuResult[] = [];
  let bytes = 0;
  return {
    add(result) {
      bytes += RESULT_BYTES + result.values.byteLength;
      if (bytes <= MAX_BYTES) kept.push(result);
      else kept = [];
    },
    complete: () => bytes <= MAX_BYTES,
    stream: async (onResult) => {
      for (const result of kept) onResult(result);
    },
  };
}
