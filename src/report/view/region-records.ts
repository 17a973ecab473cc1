/**
 * Regions and kernels as tables for spreadsheets and data frames: one row per region of a report, and one row per
 * kernel of a region. Times are milliseconds.
 */

import { type Field, type Table, tableOf } from "../../pages/blocks.ts";
import type { KernelRecord, NCUProfileRegion, RegionReportBundle } from "../model/document.ts";
import { domainAt, haveSeveralDomains, type Ranged } from "../model/region-path.ts";
import { allMetrics, everyColumn, shownColumns } from "./region-columns.ts";
import { kernelMs, meanMs } from "./times.ts";

interface RegionRecord {
  readonly scope: string;
  readonly region: NCUProfileRegion;
}

/** `regions.csv`; each metric has a column, followed by a column for its unit. */
export function regionRecords({ reports }: RegionReportBundle): Table {
  const all = reports.flatMap(({ regions }) => regions);
  return tableOf(
    [
      ...NAME_FIELDS,
      ...[...everyColumn("csv"), ...shownColumns("csv_if_known", all)].map(({ key, data }) =>
        member(key, data),
      ),
      ...domainFields(all, ({ region }: RegionRecord) => region),
      ...metricFields({ reports }),
    ],
    regionsOf({ reports }),
  );
}

function* regionsOf({ reports }: Pick<RegionReportBundle, "reports">): Generator<RegionRecord> {
  for (const { scope, regions } of reports) for (const region of regions) yield { scope, region };
}

/** A column named after a member of the contract. */
const member = (
  title: string,
  cellOf: (region: NCUProfileRegion) => number | string | null,
): Field<RegionRecord> => ({ title, cell: ({ region }) => cellOf(region) });

const NAME_FIELDS: readonly Field<RegionRecord>[] = [
  { title: "scope", cell: ({ scope }) => scope },
  member("path", ({ path }) => pathText(path)),
  member("name", ({ name }) => name),
  member("parent", ({ parent }) => parent),
  member("depth", ({ depth }) => depth),
];

function metricFields({
  reports,
}: Pick<RegionReportBundle, "reports">): readonly Field<RegionRecord>[] {
  const fields = new Map<string, Field<RegionRecord>>();
  for (const { region } of regionsOf({ reports }))
    for (const [name, { unit }] of Object.entries(allMetrics(region))) {
      const title = unit === "" ? name : `${name} [${unit}]`;
      if (fields.has(title)) continue;
      const valueIn = (other: NCUProfileRegion) => {
        const metric = allMetrics(other)[name];
        return metric?.unit === unit ? metric.value : null;
      };
      fields.set(title, member(title, valueIn));
    }
  return [...fields.values()];
}

interface KernelOfRegion {
  readonly scope: string;
  readonly region: NCUProfileRegion;
  /** Path of the region. */
  readonly path: string;
  readonly kernel: KernelRecord;
}

/** `kernels.csv`: the kernels of a region include those of its inner regions. */
export function kernelRecords({ reports }: RegionReportBundle): Table {
  const regions = reports.flatMap((report) => report.regions);
  const isMeasured = regions.some(({ kernels }) =>
    kernels.some(({ hardware }) => hardware !== undefined),
  );
  return tableOf(
    [
      ...KERNEL_FIELDS,
      ...(isMeasured ? HARDWARE_FIELDS : []),
      ...domainFields(regions, ({ region }: KernelOfRegion) => region),
    ],
    kernelsOf({ reports }),
  );
}

/** `kernel_names.csv`: the full names of the abbreviated ones in the other tables. */
export const kernelNameRecords = (names: Readonly<Record<string, string>>): Table =>
  tableOf(
    [
      { title: "kernel_name", cell: ([short]) => short },
      { title: "whole_name", cell: ([, whole]) => whole },
    ],
    Object.entries(names),
  );

function* kernelsOf({ reports }: Pick<RegionReportBundle, "reports">): Generator<KernelOfRegion> {
  for (const record of regionsOf({ reports })) {
    const path = pathText(record.region.path);
    for (const kernel of record.region.kernels) yield { ...record, path, kernel };
  }
}

const KERNEL_FIELDS: readonly Field<KernelOfRegion>[] = [
  { title: "scope", cell: ({ scope }) => scope },
  { title: "path", cell: ({ path }) => path },
  { title: "kernel_name", cell: ({ kernel }) => kernel.kernel_name },
  { title: "kind", cell: ({ kernel }) => kernel.kind },
  { title: "device", cell: ({ kernel }) => kernel.device },
  { title: "calls", cell: ({ kernel }) => kernel.calls },
  { title: "total_ms", cell: ({ kernel }) => kernelMs(kernel) },
  { title: "mean_ms", cell: ({ kernel }) => meanMs(kernel) },
];

/** Absent if nothing was measured; several limits are joined with `+`. */
const HARDWARE_FIELDS: readonly Field<KernelOfRegion>[] = (
  [
    "sm_pct",
    "memory_pct",
    "limited_by",
    "tensor_pct",
    "occupancy_pct",
    "occupancy_limit_pct",
    "occupancy_limited_by",
  ] as const
).map((title) => ({
  title,
  cell: ({ kernel: { hardware } }) =>
    title === "occupancy_limited_by"
      ? (hardware?.[title].join("+") ?? null)
      : (hardware?.[title] ?? null),
}));

type Placed = Pick<NCUProfileRegion, "path" | "domain" | "path_domains">;

/** NVTX domains along the path: a column only if the regions have several. */
export const domainFields = <Item>(
  regions: readonly Ranged[],
  placeOf: (item: Item) => Placed | null,
): readonly Field<Item>[] =>
  haveSeveralDomains(regions)
    ? [
        {
          title: "path_domains",
          cell: (item) => {
            const place = placeOf(item);
            return place && pathText(place.path.map((_, level) => domainAt(place, level)));
          },
        },
      ]
    : [];

const pathText = (path: readonly string[]): string => path.join(" / ");
