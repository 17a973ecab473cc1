/** Adds up attributed processes into the regions of one scope: everything, a process, a device. */

import type { ReportScope } from "../../report/document.ts";
import { partOf } from "../../text/plural.ts";
import { onlyOne } from "../only-one.ts";
import type { ProcessAttribution } from "./attribute.ts";
import { unionNs } from "./coverage.ts";
import { totalActivities } from "./gpu-activity.ts";
import type { KernelIdentity } from "./kernel-names.ts";
import type { KernelRowsReader } from "./kernel-rows.ts";
import type { RegionModelEntry, ScopeModel, ScopeTotals } from "./model.ts";
import { nodesDepthFirst, type PathNode, placeOf, type RegionIdentity } from "./path-tree.ts";
import { neverClosed } from "./process-notes.ts";
import { type RegionTally, tallyRegions } from "./region-tallies.ts";
import type { SelectedNodes } from "./selected-nodes.ts";
import { describeSample } from "./statistics.ts";

export interface ScopeRequest {
  readonly scope: ReportScope;
  readonly processes: readonly ProcessAttribution[];
  /** Only kernels of this device, and range instances that launched some; null: everything. */
  readonly device: string | null;
  readonly notes: readonly string[];
}

/** The note of a report without regions, for programs to look for. */
export const NO_MATCHING_REGIONS = "no matching regions";

export function buildScope(
  request: ScopeRequest,
  root: PathNode,
  selected: SelectedNodes,
  kernelRows: KernelRowsReader,
): ScopeModel {
  const tallies = tallyRegions(request.processes, request.device);
  const totals = scopeTotals(request, tallies);
  const sawGpu = request.processes.some(({ gpu }) => gpu.of(request.device) !== null);
  const regions: RegionModelEntry[] = [];
  const outside: RegionModelEntry[] = [];
  let leftOut = 0;
  const entry = (identity: RegionIdentity, tally: RegionTally) =>
    entryOf(identity, tally, { totals, sawGpu, device: request.device }, kernelRows);
  for (const node of nodesDepthFirst(root))
    for (const identity of node.regions) {
      const tally = tallies.get(identity);
      if (tally === undefined) continue;
      if (identity.kind === "outside") outside.push(entry(identity, tally));
      else if (selected.has(node)) regions.push(entry(identity, tally));
      else leftOut++;
    }
  return {
    scope: request.scope,
    regions: [...regions, ...outside],
    totals,
    notes: [...request.notes, ...scopeNotes(regions.length, leftOut, totals)],
  };
}

function scopeTotals(
  { processes, device }: ScopeRequest,
  tallies: ReadonlyMap<RegionIdentity, RegionTally>,
): ScopeTotals {
  // Each kernel has exactly one exclusive owner, so the exclusive numbers add up to the total.
  let kernelNs = 0;
  let kernelCount = 0;
  let outsideNs = 0;
  let outsideKernelCount = 0;
  const kernelKinds = new Set<KernelIdentity["kind"]>();
  for (const [identity, tally] of tallies) {
    kernelNs += tally.exclusiveKernelNs;
    kernelCount += tally.exclusiveKernelCount;
    for (const kind of tally.kernelKinds) kernelKinds.add(kind);
    if (identity.kind !== "outside") continue;
    outsideNs += tally.exclusiveKernelNs;
    outsideKernelCount += tally.exclusiveKernelCount;
  }
  const roots = processes.flatMap(({ instances }) =>
    instances.filter(
      ({ isRoot, devices }) => isRoot && (device === null || devices.includes(device)),
    ),
  );
  return {
    kernelCount,
    kernelNs: kernelCount === 0 ? null : kernelNs,
    outsideNs: kernelCount === 0 ? null : outsideNs,
    outsideKernelCount,
    wallNs: roots.length === 0 ? null : unionNs(roots),
    kernelKinds: [...kernelKinds].sort(),
  };
}

interface About {
  readonly totals: ScopeTotals;
  /** Whether anything ran on a GPU: a scope without says nothing of GPUs. */
  readonly sawGpu: boolean;
  readonly device: string | null;
}

function entryOf(
  { node, kind }: RegionIdentity,
  tally: RegionTally,
  { totals, sawGpu, device: scopeDevice }: About,
  kernelRows: KernelRowsReader,
): RegionModelEntry {
  const { records, calls, ns } = kernelRows.of(tally.kernels, scopeDevice);
  const devices = new Set(records.map(({ device }) => device));
  const timed = tally.durations.length > 0;
  return {
    ...placeOf(node),
    kind,
    device: onlyOne(devices),
    processId: onlyOne(tally.processIds),
    invocations: tally.durations.length,
    kernelNs: totals.kernelNs === null ? null : ns,
    exclusiveKernelNs: totals.kernelNs === null ? null : tally.exclusiveKernelNs,
    wallNs: timed ? tally.wallNs : null,
    exclusiveWallNs: timed ? tally.exclusiveWallNs : null,
    invocationWallNs: describeSample(tally.durations),
    kernelCount: calls,
    kernels: records,
    activities: totalActivities(tally.activities, scopeDevice),
    ...(sawGpu && timed && { gpuUse: tally.gpu }),
    notes: tally.unclosed > 0 ? [neverClosed(tally.unclosed)] : [],
  };
}

function scopeNotes(shown: number, leftOut: number, totals: ScopeTotals): string[] {
  const notes: string[] = [];
  if (shown === 0) notes.push(NO_MATCHING_REGIONS);
  if (leftOut > 0)
    notes.push(
      `the selection leaves out ${partOf(leftOut, shown + leftOut, "region")}; totals cover all of them`,
    );
  if (totals.kernelNs === null && shown + leftOut > 0)
    notes.push(
      "neither GPU kernels nor CPU operations were recorded: only wall times of ranges are known",
    );
  return notes;
}
