/** Tables of regions, and the orders of their rows. */

import { printableLabel } from "../../foundation/text/printable.ts";
import {
  type Block,
  type Field,
  paragraph,
  regionLink,
  type Table,
  tableOf,
} from "../../pages/blocks.ts";
import { NOT_MEASURED, percentOf } from "../../pages/numbers.ts";
import type { NCUProfileRegion, NCUProfileRegionReport, RankInfo } from "../model/document.ts";
import { familyKey } from "../model/families.ts";
import {
  fieldsOf,
  knownKernelCount,
  legendOf,
  type RegionTable,
  repeatedTime,
  reportWords,
  type ShownColumn,
  shownColumns,
  waitedMean,
} from "./region-columns.ts";
import { haveCpuTime, ownTimes, shareBase, totalMs } from "./times.ts";
import { regionLabels, type TreeRow, treeRows } from "./tree-rows.ts";

const NAME: Field<TreeRow> = {
  title: "Region",
  cell: ({ label, level }) => ({ kind: "label", text: label, level }),
};

/** The region tree of a report with times and counts, and its legend. */
export function regionTree(report: NCUProfileRegionReport): readonly Block[] {
  const { regions } = report;
  if (regions.length === 0) return [paragraph("No regions.")];
  const words = reportWords(report);
  const columns = shownColumns("tree", regions, words).map(withLimitBesideNumbers);
  const isOpen = regions.some(({ unclosed }) => unclosed !== undefined);
  return [
    tableOf([NAME, ...fieldsOf<TreeRow>(columns)], treeRows(regions)),
    paragraph(
      [
        ...(words.words === null
          ? [
              `Neither GPU kernels nor CPU operations were recorded: only wall times${haveCpuTime(regions) ? " and processor times" : ""} are known.`,
            ]
          : []),
        ...legendOf(columns),
        ...(isOpen
          ? ["≥: a range was never closed, and lasted at least until its process's end."]
          : []),
        `${NOT_MEASURED} means not measured.`,
      ].join(" "),
    ),
  ];
}

/** A column of words is most readable at the right of the columns of numbers. */
const withLimitBesideNumbers = (shown: ShownColumn): ShownColumn =>
  shown.column.isMark ? { ...shown, column: { ...shown.column, align: "right" } } : shown;

/** The orders of tables of regions; `exclusive` is the time of a region without its inner regions. */
export const REGION_SORTS = ["exclusive", "wall", "gpu", "calls", "kernels", "tree"] as const;
export type RegionSort = (typeof REGION_SORTS)[number];

/** In descending order; equal regions keep the order of the report. */
export function sortedRegions(
  report: NCUProfileRegionReport,
  sort: RegionSort,
): readonly NCUProfileRegion[] {
  if (sort === "tree") return report.regions;
  const own = ownTimes(report);
  const keys: Readonly<
    Record<Exclude<RegionSort, "tree">, (region: NCUProfileRegion) => number | null>
  > = {
    exclusive: own,
    wall: ({ wall_ms }) => wall_ms,
    gpu: totalMs,
    calls: ({ invocations }) => invocations,
    kernels: knownKernelCount,
  };
  const key = keys[sort];
  return report.regions
    .map((region) => ({ region, value: key(region) ?? Number.NEGATIVE_INFINITY }))
    .sort((a, b) => b.value - a.value)
    .map(({ region }) => region);
}

/** The three regions with the longest exclusive times, if each is a tenth of the whole or more. */
export function hotRegions(report: NCUProfileRegionReport): ReadonlySet<NCUProfileRegion> {
  const own = ownTimes(report);
  const { whole } = shareBase(report);
  const least = (whole ?? 0) * HOT;
  return new Set(
    sortedRegions(report, "exclusive")
      .slice(0, MOST_HOT)
      .filter((region) => (own(region) ?? 0) > 0 && (own(region) ?? 0) >= least),
  );
}

const HOT = 0.1;
const MOST_HOT = 3;

/**
 * The tree with fewer columns.
 * @param shown some of the report's regions, in document order
 */
export function narrowRegionTree(
  report: NCUProfileRegionReport,
  shown: readonly NCUProfileRegion[],
  sort: RegionSort = "tree",
): Table {
  const words = reportWords(report);
  const table =
    words.words === null ? "terminal_wall" : words.isOfRun ? "terminal_run" : "terminal_kernels";
  const hot = hotRegions(report);
  const labelOf = regionLabels(report.regions);
  return tableOf(
    [NAME, ...fieldsOf<TreeRow>(shownColumns(table, shown, words))],
    sort === "tree"
      ? treeRows(shown, { among: report.regions })
      : shown.map((region) => ({ region, level: 0, label: labelOf(region) })),
    ({ region }) => (hot.has(region) ? "hot" : region.kind === "outside" ? "minor" : undefined),
  );
}

type Regions = readonly NCUProfileRegion[];

/** A table of some regions of a report; none without regions. */
const tableIfAny = (table: RegionTable, some: Regions, among: Regions): readonly Table[] =>
  some.length === 0
    ? []
    : [tableOf([NAME, ...fieldsOf<TreeRow>(shownColumns(table, some))], treeRows(some, { among }))];

/** Families of several regions, those with most time of their own first, with their longest member; empty without any. */
export function familiesTable(report: NCUProfileRegionReport, most: number): readonly Table[] {
  const { families = [], regions } = report;
  if (families.length === 0) return [];
  const own = ownTimes(report);
  const longest = new Map<string, NCUProfileRegion>();
  for (const region of regions) {
    const key = familyKey(region);
    const known = longest.get(key);
    if (known === undefined || (own(region) ?? 0) > (own(known) ?? 0)) longest.set(key, region);
  }
  const some = sortedRegions({ ...report, regions: families }, "exclusive").slice(0, most);
  const [familyLabel, regionLabel] = [regionLabels(families), regionLabels(regions)];
  const longestIn = (family: NCUProfileRegion) => {
    const region = longest.get(familyKey(family));
    return region === undefined ? null : [regionLink(regionLabel(region))];
  };
  return [
    tableOf<TreeRow>(
      [
        { title: "Family", cell: ({ label }) => label },
        { title: "Regions", format: "count", cell: ({ region }) => region.members ?? null },
        ...fieldsOf<TreeRow>(shownColumns("families", some, reportWords(report))),
        { title: "Longest", cell: ({ region }) => longestIn(region) },
      ],
      some.map((region) => ({ region, level: 0, label: familyLabel(region) })),
    ),
  ];
}

/** The distribution of wall time over calls, for regions called more than once. */
export const invocationTable = (regions: Regions): readonly Table[] =>
  tableIfAny(
    "calls",
    regions.filter(({ invocations }) => invocations > 1),
    regions,
  );

/** What the GPU did in each region. */
export const gpuActivityTable = (regions: Regions): readonly Table[] =>
  tableIfAny(
    "gpu_activity",
    regions.filter(({ gpu_activity }) => gpu_activity !== undefined),
    regions,
  );

/** The variation of regions over repeated runs. */
export const repeatsTable = (regions: Regions): readonly Table[] =>
  tableIfAny(
    "repeats",
    regions.filter((region) => repeatedTime(region) !== null),
    regions,
  );

/** How much of its communication each rank's computation hides; empty without any. */
export function communicationTable({
  ranks = [],
}: Pick<NCUProfileRegionReport, "ranks">): readonly Table[] {
  const some = ranks.filter(({ communication_ms }) => communication_ms !== undefined);
  const ms = (title: string, of: (rank: RankInfo) => number | undefined): Field<RankInfo> => ({
    title,
    format: "ms",
    cell: (rank) => of(rank) ?? null,
  });
  return some.length === 0
    ? []
    : [
        tableOf<RankInfo>(
          [
            { title: "Rank", cell: ({ rank }) => `${rank}` },
            { title: "Host", cell: ({ host }) => printableLabel(host) },
            ms("Communication ms", ({ communication_ms }) => communication_ms),
            ms("Exposed ms", ({ exposed_communication_ms }) => exposed_communication_ms),
            {
              title: "Exposed %",
              format: "percent",
              cell: ({ communication_ms = 0, exposed_communication_ms = null }) =>
                percentOf(exposed_communication_ms, communication_ms),
            },
          ],
          some,
        ),
      ];
}

/** The legend of that table. */
export const COMMUNICATION_LEGEND =
  "Exposed is communication that no computation hides: no other kernel of the rank ran meanwhile.";

/** How evenly ranks share the time of regions; those that lose most come first. */
export function ranksTable(regions: Regions, most = Number.POSITIVE_INFINITY): readonly Table[] {
  const lost = ({ ranks }: NCUProfileRegion) =>
    ranks === undefined ? 0 : Math.max(ranks.max_ms - ranks.mean_ms, waitedMean(ranks) ?? 0);
  const some = regions
    .filter(({ ranks, kind }) => ranks !== undefined && kind !== "outside")
    .toSorted((a, b) => lost(b) - lost(a));
  return tableIfAny("ranks", some.slice(0, most), regions);
}
