/** Assembles the results of Nsight Compute into regions with their numbers. */

import { firstFew, plural } from "../../../../foundation/text/plural.ts";
import type { DeviceName } from "../../../../report/model/document.ts";
import { regionKey } from "../../../../report/model/report-files.ts";
import type { SelectionPatterns } from "../../../../report/selection/range-pattern.ts";
import type { KernelIdentity } from "../../../analysis/kernel-names.ts";
import type { KernelSelection } from "../../../analysis/kernel-selection.ts";
import { foldRules, type LabelRules, type LabelUnifier } from "../../../analysis/labels.ts";
import { createPathTree, type RegionIdentity, selectNodes } from "../../../analysis/path-tree.ts";
import type {
  KernelSelectionPatterns,
  MeasuredSelection,
  RegionModel,
  RegionModelEntry,
  ScopeModel,
} from "../../../analysis/region-model.ts";
import { labelNotes } from "../../../analysis/region-notes.ts";
import { GRAPH_NAME, type NcuResult, type NcuTables } from "../../../model/counters.ts";
import { addResult, type Bucket } from "./buckets.ts";
import { createRangeOrder, createRegionLookup, LISTED_ORDER } from "./region-lookup.ts";
import {
  buildNcuScope,
  outsideNote,
  RANGE_NOTE,
  REPLAY_NOTE,
  type ScopeRequest,
} from "./scope-regions.ts";

export interface AssembleOptions {
  /** Which regions to show; all by default. */
  readonly selection?: SelectionPatterns;
  /** The report's description of ncu's filter; absent if everything was measured. */
  readonly measuredSelection?: MeasuredSelection;
  /** Whether a scope that merges all processes and devices comes first; default true. */
  readonly aggregate?: boolean;
  /** Which kernels to count; all by default. Not applied to ranges. */
  readonly kernels?: KernelSelection | null;
  /** The report's description of that selection; absent if all kernels count. */
  readonly kernelPatterns?: KernelSelectionPatterns;
  /** `process`: a kernel whose thread has no range belongs to the ranges of another thread. */
  readonly pushPopScope?: "thread" | "process";
  /** Range replay: globs of the ranges that ncu profiled. */
  readonly rangePatterns?: readonly string[];
  /** The unifier that was applied to the labels of the results; null or absent if the labels are the program's own. */
  readonly unifier?: LabelUnifier | null;
  /** The report's label rules: when labels fold. */
  readonly labels?: LabelRules;
  /** The tool that measured; default ncu. */
  readonly origin?: MeasurementOrigin;
  /** A recording of the same program, which has the order of ranges of several domains, calls, and wall times. */
  readonly recorded?: RegionModel | null;
}

/** A tool whose results have ncu's form. */
export interface MeasurementOrigin {
  readonly collector: string;
  /** Whether its states list ranges in their true order, also across domains. */
  readonly hasOrder: boolean;
  /** How to interpret results of ranges. */
  readonly rangeNote: string;
  /** Where calls and wall times of a joined recording are from. */
  readonly joinNote: string;
}

const NCU: MeasurementOrigin = {
  collector: "ncu",
  hasOrder: false,
  rangeNote: RANGE_NOTE,
  joinNote:
    "calls and wall times are from a recording of the same program, not from the run under ncu",
};

export interface NcuAssembly {
  /** Takes constant time and memory per kernel name and region; results need not be kept. */
  add(result: NcuResult): void;
  /** The regions that a result counted for; empty if it was excluded. */
  regionsOf(result: NcuResult): readonly RegionIdentity[];
  finish(about: NcuTables): RegionModel;
}

/**
 * Adds results up as they come. Kernels and ranges are not mixed: a range's numbers contain those of its kernels. The
 * kind of the first result is counted; results of the other kind are dropped, with a note.
 */
export function createNcuAssembly(options: AssembleOptions = {}): NcuAssembly {
  const root = createPathTree(foldRules(options.labels, options.selection));
  const { origin = NCU } = options;
  const order = origin.hasOrder ? LISTED_ORDER : createRangeOrder(options.recorded ?? null);
  const lookup = createRegionLookup(root, {
    order,
    pushPopScope: options.pushPopScope ?? "thread",
    rangePatterns: options.rangePatterns ?? [],
  });
  const kernelOf = createKernelIdentities();
  const buckets = new Map<string, Bucket>();
  const count = {
    inside: 0,
    outside: 0,
    leftOut: 0,
    otherKind: 0,
    noDevice: 0,
    guessed: 0,
    graphs: 0,
  };
  const guessedStates = new WeakMap<NcuResult["nvtx"], boolean>();
  let kind: NcuResult["kind"] | null = null;

  const bucketOf = (processId: number, device: DeviceName): Bucket => {
    const key = `${processId} ${device}`;
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      bucket = { processId, device, regions: new Map() };
      buckets.set(key, bucket);
    }
    return bucket;
  };
  const isKept = (result: NcuResult): boolean =>
    result.kind === (kind ?? result.kind) &&
    (result.kind === "range" || (options.kernels?.keep(result) ?? true));
  const isGuessedState = ({ nvtx }: NcuResult): boolean => {
    let guessed = guessedStates.get(nvtx);
    if (guessed === undefined) {
      guessed = order.isGuessed(nvtx);
      guessedStates.set(nvtx, guessed);
    }
    return guessed;
  };

  return {
    add(result) {
      kind ??= result.kind;
      if (result.kind !== kind) {
        count.otherKind++;
        return;
      }
      if (!isKept(result)) {
        count.leftOut++;
        return;
      }
      const regions = lookup(result);
      if (regions[0]?.kind === "outside") count.outside++;
      else count.inside++;
      if (isGuessedState(result)) count.guessed++;
      if (result.kernelName === GRAPH_NAME) count.graphs++;
      if (result.device === null) count.noDevice++;
      const device = result.device ?? "cuda:0";
      const kernel = kind === "kernel" ? kernelOf(result.kernelName, device) : null;
      addResult(bucketOf(result.processId, device), regions, result, kernel);
    },
    regionsOf: (result) => (isKept(result) ? lookup(result) : []),
    finish({ sections, notes }) {
      const results = kind ?? "kernel";
      const common = [
        ...notes,
        ...assemblyNotes(results, count, options, origin),
        ...labelNotes(root, options.unifier ?? null),
      ];
      const selection = options.selection ?? { include: [], exclude: [] };
      const selected = selectNodes(root, selection);
      const parts = [...buckets.values()];
      const scopes = scopeRequests(parts, options.aggregate ?? true).map((request) =>
        buildNcuScope({ ...request, kind: results, sections, notes: common }, root, selected),
      );
      const model: RegionModel = {
        collector: origin.collector,
        clock: "",
        selection,
        ...(options.measuredSelection && { measuredSelection: options.measuredSelection }),
        ...(options.kernelPatterns && { kernelSelection: options.kernelPatterns }),
        scopes,
      };
      return options.recorded ? joinWallTimes(model, options.recorded, origin.joinNote) : model;
    },
  };
}

type ScopeParts = Pick<ScopeRequest, "scope" | "buckets">;

function scopeRequests(buckets: readonly Bucket[], aggregate: boolean): readonly ScopeParts[] {
  const processes = [...new Set(buckets.map(({ processId }) => processId))].sort((a, b) => a - b);
  const devices = [...new Set(buckets.map(({ device }) => device))].sort((a, b) =>
    a.localeCompare(b, "en", { numeric: true }),
  );
  const scopes: readonly ScopeParts[] = [
    ...processes.map(
      (id): ScopeParts => ({
        scope: `process:${id}`,
        buckets: buckets.filter(({ processId }) => processId === id),
      }),
    ),
    ...devices.map(
      (name): ScopeParts => ({
        scope: `device:${name}`,
        buckets: buckets.filter(({ device }) => device === name),
      }),
    ),
  ];
  return aggregate || scopes.length === 0 ? [{ scope: "aggregate", buckets }, ...scopes] : scopes;
}

function assemblyNotes(
  kind: NcuResult["kind"],
  count: Readonly<
    Record<
      "inside" | "outside" | "leftOut" | "otherKind" | "noDevice" | "guessed" | "graphs",
      number
    >
  >,
  options: AssembleOptions,
  { rangeNote }: MeasurementOrigin,
): readonly string[] {
  const isKernel = kind === "kernel";
  const notes = count.inside + count.outside === 0 ? [] : [isKernel ? REPLAY_NOTE : rangeNote];
  if (count.otherKind > 0)
    notes.push(
      `${plural(count.otherKind, `${isKernel ? "range" : "kernel"} result was left out: it`, `${isKernel ? "range" : "kernel"} results were left out: they`)} cannot be added to ${isKernel ? "kernels" : "ranges"}`,
    );
  if (count.graphs > 0)
    notes.push(
      `${plural(count.graphs, "CUDA graph launch was measured as a whole and counts", "CUDA graph launches were measured as a whole and count")} as one kernel each, ${GRAPH_NAME}; --graph-profiling node makes ncu measure the kernels in graphs`,
    );
  if (count.leftOut > 0)
    notes.push(`the kernel selection leaves out ${plural(count.leftOut, "launch", "launches")}`);
  if (count.noDevice > 0)
    notes.push(
      `${plural(count.noDevice, "result does not name the device it", "results do not name the device they")} ran on (ncu before 2022.4); cuda:0 is assumed`,
    );
  if (count.guessed > 0) notes.push(guessedOrderNote(count.guessed, options.recorded ?? null));
  if (isKernel) notes.push(...(options.kernels?.notes() ?? []), ...outsideNote(count));
  return notes;
}

function guessedOrderNote(results: number, recorded: RegionModel | null): string {
  const taken = "start/end ranges are assumed to be outside, domains in the order that ncu lists";
  return recorded === null
    ? `ranges of several domains or kinds were open together, and ncu does not report their order: ${taken}`
    : `the recording does not show the order of ranges of several domains or kinds for ${plural(results, "result")} either, since it has them in several orders, or never together: ${taken}`;
}

/** Shares one object for equal kernels, so that tallies can be keyed by identity. */
function createKernelIdentities(): (name: string, device: DeviceName) => KernelIdentity {
  const devices = new Map<string, Map<string, KernelIdentity>>();
  return (name, device) => {
    let names = devices.get(device);
    if (names === undefined) {
      names = new Map();
      devices.set(device, names);
    }
    let identity = names.get(name);
    if (identity === undefined) {
      identity = { name, kind: "gpu_kernel", device };
      names.set(name, identity);
    }
    return identity;
  };
}

/**
 * Adds calls and wall times of a recording to ncu's measurements, by domain, kind and path: wall times under ncu are
 * meaningless. Existing numbers of a scope stay. Process ids differ between runs: processes are joined if each run had
 * only one, or if ids are equal.
 */
function joinWallTimes(model: RegionModel, recorded: RegionModel, note: string): RegionModel {
  let joined = false;
  const scopes = model.scopes.map((scope) => {
    const other = counterpart(scope, model, recorded);
    if (other === null) return scope;
    const entriesByKey = new Map(other.regions.map((entry) => [regionKey(entry), entry]));
    const pairs = scope.regions.map(
      (entry) => [entry, entriesByKey.get(regionKey(entry))] as const,
    );
    const apart = pairs.flatMap(([entry, its]) =>
      its === undefined || hasCallsOf(entry, its)
        ? []
        : [`${entry.path.at(-1)} ${its.invocations}, not ${entry.invocations}`],
    );
    if (pairs.every(([entry, its]) => its === undefined || !hasCallsOf(entry, its)))
      return { ...scope, notes: [...scope.notes, ...apartNotes(apart)] };
    joined = true;
    return {
      ...scope,
      regions: pairs.map(([entry, its]) => withTimes(entry, its)),
      totals: { ...scope.totals, wallNs: scope.totals.wallNs ?? other.totals.wallNs },
      notes: [...scope.notes, note, ...apartNotes(apart)],
    };
  });
  return joined ? { ...model, clock: recorded.clock, scopes } : { ...model, scopes };
}

/**
 * Whether times of the recorded calls are those of the measured ones. Calls without a launch have no results, launch
 * filters and time limits leave some out, and ncu may take ranges that follow each other for one. Kernels are no calls.
 */
const hasCallsOf = (
  { invocations }: Pick<RegionModelEntry, "invocations">,
  recorded: Pick<RegionModelEntry, "invocations">,
): boolean => invocations === 0 || invocations === recorded.invocations;

const MOST_APART = 5;

const apartNotes = (apart: readonly string[]): readonly string[] =>
  apart.length === 0
    ? []
    : [
        `the recording has other numbers of calls than were measured (${firstFew(apart, MOST_APART, "; ")}): no wall times there`,
      ];

function counterpart(
  { scope }: ScopeModel,
  { scopes }: RegionModel,
  recorded: RegionModel,
): ScopeModel | null {
  const same = recorded.scopes.find((other) => other.scope === scope);
  if (scope === "aggregate" || (scope.startsWith("process:") && same !== undefined))
    return same ?? null;
  if (!scope.startsWith("process:")) return null;
  const [only, ...others] = recorded.scopes.filter((other) => other.scope.startsWith("process:"));
  const processScopes = scopes.filter((other) => other.scope.startsWith("process:"));
  return only !== undefined && others.length === 0 && processScopes.length === 1 ? only : null;
}

function withTimes(
  entry: RegionModelEntry,
  recorded: RegionModelEntry | undefined,
): RegionModelEntry {
  if (recorded === undefined || entry.wallNs !== null || !hasCallsOf(entry, recorded)) return entry;
  const { wallNs, exclusiveWallNs, invocationWallNs } = recorded;
  return {
    ...entry,
    invocations: entry.invocations > 0 ? entry.invocations : recorded.invocations,
    wallNs,
    exclusiveWallNs,
    invocationWallNs,
  };
}
