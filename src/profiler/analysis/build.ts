/**
 * Converts the timeline of a collector to regions with their numbers.
 *
 * A region is identified by its kind and path: the names and domains of the ranges that were open for the thread when
 * the range was opened and that close no earlier, outermost first, followed by its own. So a range never lasts longer
 * than those on its path: ranges that overlap without nesting become siblings, and a kernel launched while both are
 * open counts for both.
 */

import {
  checkOptions,
  count,
  listOf,
  type OptionChecks,
  optional,
  orNull,
  shape,
  text,
  trueOrFalse,
} from "../../engine/values/check-options.ts";
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import type { SelectionPatterns } from "../../report/selection/range-pattern.ts";
import { ranKernels, type Timeline } from "../model/timeline.ts";
import { type AttributionContext, attributeProcess, type ProcessAttribution } from "./attribute.ts";
import { createKernelNames, type NumberedNames } from "./kernel-names.ts";
import { createKernelRows } from "./kernel-rows.ts";
import {
  createLabelUnifier,
  foldRules,
  type LabelRule,
  type LabelRules,
  type LabelUnifier,
} from "./labels.ts";
import { createPathTree, type PathNode, selectNodes } from "./path-tree.ts";
import { communicationOf, groupByRank, withRanks } from "./ranks.ts";
import type { RegionModel } from "./region-model.ts";
import { labelNotes, notesOfProcesses, unmatchedNotes } from "./region-notes.ts";
import { buildScope, type ScopeRequest } from "./scope.ts";

/** Domains whose ranges are CPU operations unless the caller says otherwise. */
export const DEFAULT_OPERATION_DOMAINS: readonly string[] = ["shallow_resnet.ops"];

/** Options for converting a timeline to regions. */
export interface RegionOptions {
  /** NVTX domains whose ranges are CPU operations, never regions. */
  readonly operationDomains?: readonly string[];
  /** The regions to show; all by default. See `range-pattern.ts`. */
  readonly selection?: SelectionPatterns;
  /** Labels that match one of these patterns are not folded. Default: those of `selection`. */
  readonly asked?: SelectionPatterns;
  /** Whether the first scope merges all processes and devices. Default: true. */
  readonly aggregate?: boolean;
  /** Rules that unify labels; without rules, labels are the program's own. Selections apply to unified labels. */
  readonly labels?: LabelRules;
}

/**
 * Never throws for data: anomalies of a timeline become notes. Takes linear time.
 *
 * @throws ConfigError `profile.label_rule` for a rule that is no valid regular expression
 */
export function buildRegionModel(timeline: Timeline, options: RegionOptions = {}): RegionModel {
  checkOptions("buildRegionModel", options, REGION_OPTIONS);
  const selection = options.selection ?? { include: [], exclude: [] };
  const unifier = createLabelUnifier(options.labels);
  const { root, kernelNames, processes } = attribute(
    timeline,
    options,
    unifier,
    options.asked ?? selection,
  );
  const selected = selectNodes(root, selection);
  const kernelRows = createKernelRows(kernelNames);
  const common = [
    ...timeline.notes,
    ...labelNotes(root, unifier),
    ...unmatchedNotes(root, selection, selected),
  ];
  const ranks = groupByRank(processes);
  const built = scopeRequests(common, processes, ranks, options.aggregate ?? true).map((request) =>
    buildScope({ ...request, ...programOf(request, timeline) }, root, selected, kernelRows),
  );
  const ofRanks = built.filter(({ scope }) => scope.startsWith("rank:"));
  const scopes = built.map((scope) =>
    scope.scope === "aggregate" ? withRanks(scope, ofRanks, ranks) : scope,
  );
  return { collector: timeline.collector, clock: timeline.clock, selection, scopes };
}

/** The recorded program; null for a rank that this program did not start. */
const programOf = (
  { scope, processes }: ScopeRequest,
  { span }: Timeline,
): Pick<ScopeRequest, "program"> =>
  span === undefined ||
  (scope.startsWith("rank:") && !processes.some(({ process }) => process.pid === span.pid))
    ? {}
    : { program: span };

interface AttributedRun {
  readonly root: PathNode;
  readonly kernelNames: NumberedNames;
  readonly processes: readonly ProcessAttribution[];
}

function attribute(
  timeline: Timeline,
  { operationDomains, labels }: RegionOptions,
  unifier: LabelUnifier | null,
  asked: SelectionPatterns,
): AttributedRun {
  const kernelNames = createKernelNames();
  const communicates = communicationOf(timeline);
  const context: AttributionContext = {
    root: createPathTree(foldRules(labels, asked)),
    kernelNames,
    operationDomains: new Set(operationDomains ?? DEFAULT_OPERATION_DOMAINS),
    countOperations: !timeline.processes.some(ranKernels),
    labelOf: unifier?.labelOf ?? null,
    keepsSpans: timeline.processes.length > 1,
    ...(communicates && { communicates }),
  };
  const processes = timeline.processes
    .map((process) => attributeProcess(process, context))
    .map((attributed) => attributed());
  return { root: context.root, kernelNames: kernelNames.numbered, processes };
}

function scopeRequests(
  common: readonly string[],
  processes: readonly ProcessAttribution[],
  ranks: ReturnType<typeof groupByRank>,
  aggregate: boolean,
): readonly ScopeRequest[] {
  const notesOf = (some: readonly ProcessAttribution[]) =>
    unique([...common, ...notesOfProcesses(some)]);
  const whole: ScopeRequest = {
    scope: "aggregate",
    processes,
    device: null,
    notes: notesOf(processes),
  };
  const perRank = [...ranks].map(
    ([rank, ofRank]): ScopeRequest => ({
      scope: `rank:${rank}`,
      processes: ofRank,
      device: null,
      notes: notesOf(ofRank),
    }),
  );
  // A rank has the same number in every run, unlike its process.
  const unranked =
    ranks.size === 0 ? processes : processes.filter(({ process }) => process.rank === undefined);
  const perProcess = [...groupByPid(unranked)].map(
    ([pid, ofPid]): ScopeRequest => ({
      scope: `process:${pid}`,
      processes: ofPid,
      device: null,
      notes: [
        ...notesOf(ofPid),
        ...(ofPid.length > 1 ? [`${ofPid.length} recordings share the process id ${pid}`] : []),
      ],
    }),
  );
  const perDevice = devicesOf(processes).map(
    (device): ScopeRequest => ({
      scope: `device:${device}`,
      processes,
      device,
      notes: [
        ...notesOf(processes),
        "this report covers ranges whose kernels or copies ran on this device",
      ],
    }),
  );
  const scopes = [...perRank, ...perProcess, ...perDevice];
  // A run without any events still gets a report.
  return aggregate || scopes.length === 0 ? [whole, ...scopes] : scopes;
}

function groupByPid(
  processes: readonly ProcessAttribution[],
): ReadonlyMap<number, readonly ProcessAttribution[]> {
  const groups = new Map<number, ProcessAttribution[]>();
  for (const attribution of [...processes].sort((a, b) => a.process.pid - b.process.pid))
    getOrCreate(groups, attribution.process.pid, () => []).push(attribution);
  return groups;
}

function devicesOf(processes: readonly ProcessAttribution[]): readonly string[] {
  const devices = new Set<string>();
  for (const { kernels, activities } of processes) {
    for (const ofRegion of kernels.values())
      for (const { device } of ofRegion.exclusive) devices.add(device);
    for (const ofRegion of activities.values())
      for (const { device } of ofRegion) if (device !== null) devices.add(device);
  }
  return [...devices].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

const unique = (notes: readonly string[]): string[] => [...new Set(notes)];

// The checks of the options of this folder's public functions. All throw ConfigError `value.wrong_type`.

const patterns = listOf("strings", text, '["decode*"]');

const labelRules = listOf(
  "rules",
  shape<LabelRule>({ pattern: text, replace: optional(text) }),
  '[{ pattern: "step \\\\d+", replace: "step" }]',
);

const REGION_OPTIONS: OptionChecks<RegionOptions> = {
  operationDomains: optional(listOf("strings", text, '["my_program.ops"]')),
  selection: optional(shape<SelectionPatterns>({ include: patterns, exclude: patterns })),
  asked: optional(shape<SelectionPatterns>({ include: patterns, exclude: patterns })),
  aggregate: optional(trueOrFalse),
  labels: optional(
    shape<LabelRules>({
      fold: optional(orNull(count)),
      preset: optional(labelRules),
      rules: optional(labelRules),
    }),
  ),
};
