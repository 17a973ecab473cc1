/** Tables of the calls of CUDA and of the system, as `cuda_api_sum` and `osrt_sum` of nsys stats give them. */

import { plural } from "../../foundation/text/plural.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import { type Block, numeral, paragraph, tableOf } from "../../pages/blocks.ts";
import { percentOf } from "../../pages/numbers.ts";
import type { NCUProfileRegion, RegionHostCalls } from "../model/document.ts";

const MOST_ROWS = 20;

interface CallRow extends RegionHostCalls {
  /** The region with most of its time. */
  readonly mostIn: string;
}

/** The calls of all regions together, the longest first; empty without any. */
export function hostCallTable(
  regions: readonly NCUProfileRegion[],
  api: RegionHostCalls["api"],
): readonly Block[] {
  const rows = rowsOf(regions, api);
  if (rows.length === 0) return [];
  const wholeMs = rows.reduce((sum, { total_ms }) => sum + total_ms, 0);
  const table = tableOf<CallRow>(
    [
      { title: "Function", cell: ({ name }) => printableLabel(name) },
      { title: "Calls", format: "count", cell: ({ calls }) => calls },
      { title: "Total ms", format: "ms", cell: ({ total_ms }) => total_ms },
      { title: "Mean ms", format: "mean_ms", cell: ({ total_ms, calls }) => total_ms / calls },
      { title: "Min ms", format: "mean_ms", cell: ({ min_ms }) => min_ms },
      { title: "Max ms", format: "mean_ms", cell: ({ max_ms }) => max_ms },
      {
        title: "% of their time",
        format: "percent",
        cell: ({ total_ms }) => percentOf(total_ms, wholeMs),
      },
      { title: "Most in", cell: ({ mostIn }) => mostIn },
    ],
    rows.slice(0, MOST_ROWS),
  );
  const left = rows.length - MOST_ROWS;
  return left > 0 ? [table, paragraph([numeral(`${plural(left, "more function")}.`)])] : [table];
}

function rowsOf(
  regions: readonly NCUProfileRegion[],
  api: RegionHostCalls["api"],
): readonly CallRow[] {
  const rows = new Map<string, CallRow & { readonly most: number }>();
  for (const { name: label, host_calls = [] } of regions)
    for (const call of host_calls) {
      if (call.api !== api) continue;
      const known = rows.get(call.name);
      const isMost = known === undefined || call.total_ms > known.most;
      rows.set(call.name, {
        api,
        name: call.name,
        calls: call.calls + (known?.calls ?? 0),
        total_ms: call.total_ms + (known?.total_ms ?? 0),
        min_ms: Math.min(call.min_ms, known?.min_ms ?? call.min_ms),
        max_ms: Math.max(call.max_ms, known?.max_ms ?? 0),
        most: isMost ? call.total_ms : known.most,
        mostIn: isMost ? printableLabel(label) : known.mostIn,
      });
    }
  return [...rows.values()].sort((a, b) => b.total_ms - a.total_ms);
}
