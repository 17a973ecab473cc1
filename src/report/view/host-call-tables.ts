/** The calls of CUDA and of the system, in tables as `cuda_api_sum` and `osrt_sum` of nsys stats give them. */

import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { plural } from "../../foundation/text/plural.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import { type Block, numeral, paragraph, tableOf } from "../../pages/blocks.ts";
import { percentOf } from "../../pages/numbers.ts";
import type { NCUProfileRegion, RegionHostCalls } from "../model/document.ts";

const MOST_ROWS = 20;

/** The calls of one function in several regions. */
export interface HostCallSum extends Omit<RegionHostCalls, "first_thread"> {
  /** The regions that it was called in, those with most of its time first. */
  readonly regions: readonly { readonly region: NCUProfileRegion; readonly own: RegionHostCalls }[];
}

/** The calls of all regions together, the longest first; empty without any. */
export function hostCallTable(
  regions: readonly NCUProfileRegion[],
  api: RegionHostCalls["api"],
): readonly Block[] {
  const rows = hostCallSums(regions).filter((row) => row.api === api);
  if (rows.length === 0) return [];
  const wholeMs = rows.reduce((sum, { total_ms }) => sum + total_ms, 0);
  const table = tableOf<HostCallSum>(
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
      { title: "Most in", cell: mostIn },
    ],
    rows.slice(0, MOST_ROWS),
  );
  const left = rows.length - MOST_ROWS;
  return left > 0 ? [table, paragraph([numeral(`${plural(left, "more function")}.`)])] : [table];
}

/** The label of the region with most of its time. */
export const mostIn = ({ regions: [most] }: HostCallSum): string =>
  most === undefined ? "" : printableLabel(most.region.name);

/** The calls of regions together, by function, the longest first. */
export function hostCallSums(regions: readonly NCUProfileRegion[]): readonly HostCallSum[] {
  const sums = new Map<string, { region: NCUProfileRegion; own: RegionHostCalls }[]>();
  for (const region of regions)
    for (const own of region.host_calls ?? [])
      getOrCreate(sums, `${own.api} ${own.name}`, () => []).push({ region, own });
  return [...sums.values()]
    .flatMap((parts): readonly HostCallSum[] => {
      const [first] = parts;
      if (first === undefined) return [];
      const { api, name } = first.own;
      const sumOf = (of: (own: RegionHostCalls) => number) =>
        parts.reduce((sum, { own }) => sum + of(own), 0);
      const edge = (
        of: (own: RegionHostCalls) => number,
        better: (a: number, b: number) => number,
      ) => parts.reduce((value, { own }) => better(value, of(own)), of(first.own));
      return [
        {
          api,
          name,
          calls: sumOf(({ calls }) => calls),
          total_ms: sumOf(({ total_ms }) => total_ms),
          min_ms: edge(({ min_ms }) => min_ms, Math.min),
          max_ms: edge(({ max_ms }) => max_ms, Math.max),
          regions: parts.sort((a, b) => b.own.total_ms - a.own.total_ms),
        },
      ];
    })
    .sort((a, b) => b.total_ms - a.total_ms);
}
