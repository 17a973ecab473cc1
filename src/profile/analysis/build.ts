/**
 * From what a collector saw to regions with their numbers.
 *
 * A region is identified by kind and path: names and domains of the ranges that the opening thread
 * saw when the range was opened and that close no earlier than it, outermost first, then its own. So a
 * range never lasts longer than those on its path: ranges that overlap without lying inside each other
 * stand beside each other. What is launched while both are open counts for both.
 */

import type { SelectionPatterns } from "../../report/selection/range-pattern.ts";
import { getOrCreate } from "../../system/get-or-create.ts";
import {
  anything,
  checkOptions,
  count,
  listOf,
  type OptionChecks,
  optional,
  orNull,
  shape,
  text,
  trueOrFalse,
} from "../../values/check-options.ts";
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
import type { ReportContext } from "./to-report.ts";

/** Domains whose ranges are CPU operations unless the caller says otherwise. */
export const DEFAULT_OPERATION_DOMAINS: readonly string[] = ["shallow_resnet.ops"];

/** How a timeline becomes regions. */
export interface RegionOptions {
  /** NVTX domains whose ranges are CPU operations, never regions. */
  readonly operationDomains?: readonly string[];
  /** What to show; everything by default. See `values/resolution/select.ts`. */
  readonly selection?: SelectionPatterns;
  /** Labels that one of these patterns means do not fold; default: those of `selection`. */
  readonly asked?: SelectionPatterns;
  /** Whether a scope that merges all processes and devices comes first; default true. */
  readonly aggregate?: boolean;
  /** Rules that unify labels; without any they are the program's own. A selection is of unified labels. */
  readonly labels?: LabelRules;
}

/**
 * Never throws on data: what is odd in a timeline becomes a note. Time linear in its events.
 *
 * @throws ConfigError `profile.label_rule` for a rule that is no regular expression
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

/** A rank that was not started here has nothing to do with the program that was. */
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
  // A rank has the same number in every run, its process has not.
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
  // A run in which nothing was seen still gets its report.
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

// What the options of the public functions of this folder may be. All checks throw ConfigError `value.wrong_type`.

const patterns = listOf("strings", text, '["decode*"]');

const labelRules = listOf(
  "rules",
  shape<LabelRule>({ pattern: text, replace: optional(text) }),
  '[{ pattern: "step \\\\d+", replace: "step" }]',
);

export const REGION_OPTIONS: OptionChecks<RegionOptions> = {
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

export const REPORT_CONTEXT: OptionChecks<ReportContext> = {
  generatedAt: text,
  configFingerprint: text,
  collectorVersion: text,
  environment: anything,
  failure: optional(text),
  notes: optional(listOf("strings", text, '["interrupted"]')),
};
