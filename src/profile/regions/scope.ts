/** Adds up attributed processes into the regions of one scope: everything, a process, a device. */

import type { ReportScope } from "../../report/document.ts";
import type { ProcessAttribution } from "./attribute.ts";
import { unionNs } from "./coverage.ts";
import { totalActivities } from "./gpu-activity.ts";
import type { KernelIdentity } from "./kernel-names.ts";
import type { KernelRowsReader } from "./kernel-rows.ts";
import type { RegionModelEntry, ScopeModel, ScopeTotals } from "./model.ts";
import { onlyOne } from "./only-one.ts";
import { type PathNode, placeOf, type RegionIdentity } from "./path-tree.ts";
import { neverClosed } from "./process-notes.ts";
import { type RegionTally, tallyRegions } from "./region-tallies.ts";
import { kernelTotals, scopeEntries } from "./scope-entries.ts";
import type { SelectedNodes } from "./selected-nodes.ts";
import { describeSample } from "./statistics.ts";

export interface ScopeRequest {
  readonly scope: ReportScope;
  readonly processes: readonly ProcessAttribution[];
  /** Only kernels of this device, and range instances that launched some; null: everything. */
  readonly device: string | null;
  readonly notes: readonly string[];
}

export function buildScope(
  request: ScopeRequest,
  root: PathNode,
  selected: SelectedNodes,
  kernelRows: KernelRowsReader,
): ScopeModel {
  const tallies = tallyRegions(request.processes, request.device);
  const totals = scopeTotals(request, tallies);
  const sawGpu = request.processes.some(({ gpu }) => gpu.of(request.device) !== null);
  const about = { totals, sawGpu, device: request.device };
  const { regions, count, notes } = scopeEntries(root, tallies, selected, (identity, tally) =>
    entryOf(identity, tally, about, kernelRows),
  );
  const isUntimed = totals.kernelNs === null && count > 0;
  return {
    scope: request.scope,
    regions,
    totals,
    notes: [...request.notes, ...notes, ...(isUntimed ? [ONLY_WALL_TIMES] : [])],
  };
}

function scopeTotals(
  { processes, device }: ScopeRequest,
  tallies: ReadonlyMap<RegionIdentity, RegionTally>,
): ScopeTotals {
  const kernelKinds = new Set<KernelIdentity["kind"]>();
  for (const tally of tallies.values()) for (const kind of tally.kernelKinds) kernelKinds.add(kind);
  const roots = processes.flatMap(({ instances }) =>
    instances.filter(
      ({ isRoot, devices }) => isRoot && (device === null || devices.includes(device)),
    ),
  );
  return {
    ...kernelTotals(tallies, ({ exclusiveKernelCount, exclusiveKernelNs }) => ({
      calls: exclusiveKernelCount,
      ns: exclusiveKernelNs,
    })),
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

const ONLY_WALL_TIMES =
  "neither GPU kernels nor CPU operations were recorded: only wall times of ranges are known";
