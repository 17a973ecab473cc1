/**
 * From what a collector saw to regions with their numbers.
 *
 * A region is identified by domain, kind and path: the names of the ranges that the opening thread
 * saw when the range was opened, outermost first, then its own. So a path names exactly the ranges
 * that what happens inside counts for. A range that has closed by then is in nobody's path, even
 * when a range opened inside it lives on.
 */
import { ranKernels, type Timeline } from "../timeline.ts";
import {
  type AttributionContext,
  attributeProcess,
  MAX_DEPTH,
  type ProcessAttribution,
} from "./attribute.ts";
import { createKernelNames, type NumberedNames } from "./kernel-names.ts";
import { createKernelRows } from "./kernel-rows.ts";
import type { RegionModel } from "./model.ts";
import { createPathTree, type PathNode } from "./path-tree.ts";
import { buildScope, type ScopeRequest } from "./scope.ts";
import type { SelectionPatterns } from "./select.ts";
import { selectNodes } from "./selected-nodes.ts";
import { unmatchedNotes } from "./unmatched-patterns.ts";

/** Domains whose ranges are CPU operations unless the caller says otherwise. */
export const DEFAULT_OPERATION_DOMAINS: readonly string[] = ["shallow_resnet.ops"];

/** How a timeline becomes regions. */
export interface RegionOptions {
  /** NVTX domains whose ranges are CPU operations, never regions. */
  readonly operationDomains?: readonly string[];
  /** What to show; everything by default. See `select.ts`. */
  readonly selection?: SelectionPatterns;
  /** Whether a scope that merges all processes and devices comes first; default true. */
  readonly aggregate?: boolean;
}

/** Never throws on data: what is odd in a timeline becomes a note. Time linear in its events. */
export function buildRegionModel(timeline: Timeline, options: RegionOptions = {}): RegionModel {
  const selection = options.selection ?? { include: [], exclude: [] };
  const { root, kernelNames, processes } = attribute(timeline, options);
  const selected = selectNodes(root, selection);
  const kernelRows = createKernelRows(kernelNames);
  const common = [...timeline.notes, ...unmatchedNotes(root, selection)];
  const scopes = scopeRequests(common, processes, options.aggregate ?? true).map((request) =>
    buildScope(request, root, selected, kernelRows),
  );
  return { collector: timeline.collector, clock: timeline.clock, selection, scopes };
}

interface AttributedRun {
  readonly root: PathNode;
  readonly kernelNames: NumberedNames;
  readonly processes: readonly ProcessAttribution[];
}

function attribute(timeline: Timeline, { operationDomains }: RegionOptions): AttributedRun {
  const kernelNames = createKernelNames();
  const context: AttributionContext = {
    root: createPathTree(),
    kernelNames,
    operationDomains: new Set(operationDomains ?? DEFAULT_OPERATION_DOMAINS),
    countOperations: !timeline.processes.some(ranKernels),
  };
  const processes = timeline.processes.map((process) => attributeProcess(process, context));
  return { root: context.root, kernelNames: kernelNames.numbered, processes };
}

function scopeRequests(
  common: readonly string[],
  processes: readonly ProcessAttribution[],
  aggregate: boolean,
): readonly ScopeRequest[] {
  const notesOf = (some: readonly ProcessAttribution[]) =>
    unique([...common, ...some.flatMap(processNotes)]);
  const whole: ScopeRequest = {
    scope: "aggregate",
    processes,
    device: null,
    notes: notesOf(processes),
  };
  const perProcess = [...groupByPid(processes)].map(
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
        "ranges count here when something launched inside them ran on this device",
      ],
    }),
  );
  const scopes = [...perProcess, ...perDevice];
  // A run in which nothing was seen still gets its report.
  return aggregate || scopes.length === 0 ? [whole, ...scopes] : scopes;
}

function groupByPid(
  processes: readonly ProcessAttribution[],
): ReadonlyMap<number, readonly ProcessAttribution[]> {
  const groups = new Map<number, ProcessAttribution[]>();
  for (const attribution of [...processes].sort((a, b) => a.process.pid - b.process.pid)) {
    const group = groups.get(attribution.process.pid);
    if (group === undefined) groups.set(attribution.process.pid, [attribution]);
    else group.push(attribution);
  }
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

/** What a reader must know about one process, each with its process id. */
function processNotes(attribution: ProcessAttribution): readonly string[] {
  const { process, ignoredOperations, tooDeep, overlapping } = attribution;
  const about = `process ${process.pid}`;
  return [
    ...process.notes,
    ...unclosedNote(attribution),
    ...(overlapping > 0
      ? [
          `${about}: ${overlapping} ${overlapping === 1 ? "range" : "ranges"} closed while a range opened inside was still open; such a range can take longer than the one around it`,
        ]
      : []),
    ...(tooDeep > 0
      ? [
          `${about}: ${tooDeep} ${tooDeep === 1 ? "range" : "ranges"} nested deeper than ${MAX_DEPTH} levels ${tooDeep === 1 ? "counts" : "count"} as part of the range around`,
        ]
      : []),
    ...(ignoredOperations > 0
      ? [
          `${about}: ${ignoredOperations} CPU ${ignoredOperations === 1 ? "operation is" : "operations are"} not counted because GPU kernels were recorded`,
        ]
      : []),
  ];
}

/** Names the ranges that were open to the end: the first few, each once. */
function unclosedNote({ process, instances }: ProcessAttribution): string[] {
  const unclosed = instances.filter(({ closed }) => !closed);
  if (unclosed.length === 0) return [];
  const names = unique(unclosed.map(({ region }) => region.node.name));
  const shown = `${names.slice(0, 5).map(shorten).join(", ")}${names.length > 5 ? ", …" : ""}`;
  const ranges = unclosed.length === 1 ? "1 range was" : `${unclosed.length} ranges were`;
  return [
    `process ${process.pid}: ${ranges} never closed (${shown}); taken to end with the last event of the process`,
  ];
}

const shorten = (name: string): string => (name.length > 80 ? `${name.slice(0, 79)}…` : name);

const unique = (notes: readonly string[]): string[] => [...new Set(notes)];
