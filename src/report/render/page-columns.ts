/** Regions, kernels and metrics in the columns that the page's script reads. */

import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import { roundedForPage } from "../../pages/numbers.ts";
import type {
  KernelHardware,
  KernelRecord,
  NCUProfileRegion,
  NCUProfileRegionReport,
} from "../model/document.ts";
import { occupancyLimitText } from "../view/kernel-tables.ts";
import type {
  CallsData,
  HardwareColumns,
  KernelColumns,
  MeasureData,
  NumberColumn,
  RegionColumnData,
  RegionsData,
  RooflineData,
  TextIndex,
} from "../view/page-data.ts";
import { allMetrics } from "../view/program-numbers.ts";
import {
  type RegionColumnKey,
  type ReportWords,
  regionFacts,
  reportWords,
  type ShownColumn,
  shownColumns,
} from "../view/region-columns.ts";
import { hotRegions } from "../view/region-tables.ts";
import { rooflineCeilings, rooflinePoints } from "../view/roofline.ts";
import { kernelMs } from "../view/times.ts";
import type { TreeRow } from "../view/tree-rows.ts";

/** @param shown the rows of some of the report's regions */
export function regionsData(
  report: NCUProfileRegionReport,
  shown: readonly TreeRow[],
  table: StringTable,
  nameLimit: number,
): { readonly regions: RegionsData; readonly measures: readonly MeasureData[] } {
  const regions = shown.map(({ region }) => region);
  const words = reportWords(report);
  const named = (["page", "details"] as const).flatMap((where) =>
    shownColumns(where, regions, words).flatMap((one) => {
      const data = columnData(one, regions, { table, nameLimit });
      if (data === null) return [];
      return [
        { key: one.key, data: where === "page" ? data : { ...data, isDetail: true as const } },
      ];
    }),
  );
  const columnOf = (key: RegionColumnKey) => named.findIndex((one) => one.key === key);
  const columns = named.map(({ data }) => data);
  const parent = parents(shown);
  const hot = hotRegions(report);
  const own = words.share.basis === "wall" ? "wall_exclusive_ms" : "exclusive_ms";
  return {
    regions: {
      label: shown.map(({ label }) => table.add(label)),
      parent,
      columns,
      calls: columnOf("invocations"),
      hot: regions.flatMap((region, row) => (hot.has(region) ? [row] : [])),
      order: columns[columnOf(own)]?.title ?? null,
      facts: regionFacts(words)
        .map(({ title, texts, keys }) => ({
          title,
          texts,
          columns: keys.map(columnOf),
        }))
        .filter(({ columns: [first = -1] }) => first !== -1),
    },
    measures: measuresOf(words, columnOf, (column) =>
      parent.reduce(
        (sum, around, row) => sum + (around === -1 ? (columns[column]?.values[row] ?? 0) : 0),
        0,
      ),
    ),
  };
}

/** Null if no region has a value. */
function columnData(
  { column: { title, hint, format, isMark }, cell }: ShownColumn,
  regions: readonly NCUProfileRegion[],
  { table, nameLimit }: { readonly table: StringTable; readonly nameLimit: number },
): RegionColumnData | null {
  const cells = regions.map(cell);
  if (cells.every((one) => one === null)) return null;
  const measured = cells.map((one) =>
    typeof one === "object" && one !== null && "kind" in one && one.kind === "measured"
      ? one
      : null,
  );
  const isText = cells.some((one) => typeof one === "string");
  const atLeast = measured.flatMap((one, row) => (one?.isAtLeast ? [row] : []));
  const uncertain = measured.some((one) => (one?.uncertainty ?? null) !== null);
  return {
    title,
    ...(hint !== undefined && { hint }),
    ...(format !== undefined && { format }),
    ...(isMark !== undefined && { isMark }),
    values: cells.map((one, row) => {
      if (typeof one === "string") return table.add(printableLabel(one, nameLimit));
      return roundedForPage(typeof one === "number" ? one : (measured[row]?.value ?? null));
    }),
    ...(isText && { isText }),
    ...(uncertain && {
      uncertainty: measured.map((one) => roundedForPage(one?.uncertainty ?? null)),
    }),
    ...(atLeast.length > 0 && { atLeast }),
  };
}

/** Of several clocks, the one of the shares first; GPU busy time is a part of the time in ranges. */
function measuresOf(
  { words, share }: ReportWords,
  columnOf: (key: RegionColumnKey) => number,
  sumOfRoots: (column: number) => number,
): readonly MeasureData[] {
  const [wall, gpu, kernels] = [
    { name: "wall", title: "Wall time", column: columnOf("wall_ms") },
    { name: "gpu", title: "GPU busy while open", column: columnOf("gpu_busy_ms") },
    { name: "kernels", title: "Kernel time", column: columnOf("total_ms") },
  ] as const;
  const first = share.basis === "wall" ? wall : kernels;
  const whole = { wholeMs: roundedForPage(share.whole), wholeLabel: share.label };
  const others = [wall, gpu, kernels].filter(
    (one) => one !== first && one.column !== -1 && sumOfRoots(one.column) > 0,
  );
  return [
    { ...first, ...whole },
    ...others.map((one) => ({
      ...one,
      ...(one === gpu
        ? whole
        : {
            wholeMs: roundedForPage(sumOfRoots(one.column)),
            wholeLabel:
              one === wall
                ? "wall time of outermost ranges"
                : `total time of ${words?.many ?? "kernels"}`,
          }),
    })),
  ];
}

const MOST_SPREADS = 40;

/** Regions called more than once, the longest first. */
export function callsData(regions: readonly NCUProfileRegion[]): CallsData {
  const all = regions
    .flatMap((region, row) => {
      const { invocation_wall_ms: calls, invocations } = region;
      if (calls === null || invocations < 2) return [];
      const { min, median, p95, max } = calls;
      return [{ row, invocations, wall: region.wall_ms ?? 0, times: { min, median, p95, max } }];
    })
    .sort((a, b) => b.wall - a.wall);
  return {
    rows: all.slice(0, MOST_SPREADS).map(({ row, invocations, times }) => ({
      region: row,
      calls: invocations,
      min: roundedForPage(times.min),
      median: roundedForPage(times.median),
      p95: roundedForPage(times.p95),
      max: roundedForPage(times.max),
    })),
    left: Math.max(0, all.length - MOST_SPREADS),
  };
}

/** The row of each row's enclosing region, derived from the levels of the tree. */
function parents(rows: readonly TreeRow[]): readonly number[] {
  const open: number[] = [];
  return rows.map(({ level }, row) => {
    open.length = level;
    open.push(row);
    return level === 0 ? -1 : (open[level - 1] ?? -1);
  });
}

export const kernelColumns = (
  kept: NCUProfileRegion["kernels"],
  other: KernelColumns["other"],
  table: StringTable,
  nameLimit: number,
): KernelColumns => ({
  name: kept.map(({ kernel_name }) => table.add(printableLabel(kernel_name, nameLimit))),
  device: kept.map(({ device }) => table.add(device)),
  calls: kept.map(({ calls }) => calls),
  total: kept.map((kernel) => roundedForPage(kernelMs(kernel))),
  hardware: hardwareColumns(kept, table),
  other: other && { ...other, total: roundedForPage(other.total) },
});

function hardwareColumns(
  kernels: readonly KernelRecord[],
  table: StringTable,
): HardwareColumns | null {
  if (kernels.every(({ hardware }) => hardware === undefined)) return null;
  const numbers = (of: (hardware: KernelHardware) => number | null): NumberColumn =>
    kernels.map(({ hardware }) => roundedForPage(hardware === undefined ? null : of(hardware)));
  const texts = (of: (hardware: KernelHardware) => string | null): HardwareColumns["limit"] =>
    kernels.map(({ hardware }) => {
      const text = hardware === undefined ? null : of(hardware);
      return text === null ? null : table.add(text);
    });
  return {
    smShare: numbers(({ sm_pct }) => sm_pct),
    memoryShare: numbers(({ memory_pct }) => memory_pct),
    limit: texts(({ limited_by }) => limited_by),
    tensor: numbers(({ tensor_pct }) => tensor_pct),
    occupancy: numbers(({ occupancy_pct }) => occupancy_pct),
    occupancyLimit: texts(occupancyLimitText),
  };
}

/** Null if no region has a point. */
export function rooflineData(regions: readonly NCUProfileRegion[]): RooflineData | null {
  const points = regions.flatMap((region, row) =>
    rooflinePoints(region).map(({ precision, intensity, flops }) => ({
      region: row,
      label: precision,
      intensity: roundedForPage(intensity),
      flops: roundedForPage(flops),
    })),
  );
  if (points.length === 0) return null;
  const { bytesPerSecond, compute } = rooflineCeilings(regions);
  return {
    // Without traffic or without a count there is no slope.
    bandwidth: bytesPerSecond === 0 ? null : roundedForPage(bytesPerSecond),
    ceilings: compute.map(({ precision, flops }) => ({
      label: precision,
      flops: roundedForPage(flops),
    })),
    points,
  };
}

/** Stores each text once, since names recur in every list. */
export interface StringTable {
  add(text: string): TextIndex;
  readonly strings: readonly string[];
}

export function createStringTable(): StringTable {
  const strings: string[] = [];
  const places = new Map<string, TextIndex>();
  return {
    strings,
    add: (text) => getOrCreate(places, text, () => strings.push(text) - 1),
  };
}

interface MetricName {
  readonly name: string;
  readonly unit: string;
}

/** The metrics that most readers look for first. */
const FIRST = [
  "gpu__time_duration.sum",
  "sm__throughput.avg.pct_of_peak_sustained_elapsed",
  "dram__throughput.avg.pct_of_peak_sustained_elapsed",
  "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
  "sm__warps_active.avg.pct_of_peak_sustained_active",
  "lts__t_sector_hit_rate.pct",
  "l1tex__t_sector_hit_rate.pct",
  "launch__registers_per_thread",
];

/**
 * Metrics that are equal for all kernels: attributes of the machine and the profiler, a third of ncu's full set. They
 * come last, and are left out first.
 */
const CONSTANT = /^(?:device__attribute_|nvlink__|c2clink__|numa__|profiler__)/;

/**
 * Metrics with a value in some region, as columns; a metric with two units has two columns. Metrics of equal rank are
 * sorted by name.
 */
export function chooseMetrics(
  regions: readonly NCUProfileRegion[],
  limit: number,
): { readonly names: readonly MetricName[]; readonly left: number } {
  const names = namesIn(regions).sort(
    (a, b) => rank(a.name) - rank(b.name) || compare(a.name, b.name),
  );
  return { names: names.slice(0, limit), left: Math.max(0, names.length - limit) };
}

/** The values in the column of a metric, region by region. */
export const metricValues = (
  { name, unit }: MetricName,
  regions: readonly NCUProfileRegion[],
): readonly (number | null)[] =>
  regions.map((region) => {
    const metric = allMetrics(region)[name];
    return metric?.unit === unit ? metric.value : null;
  });

/** In order of first appearance. Fast if regions have the same metrics, as they usually do. */
function namesIn(regions: readonly NCUProfileRegion[]): MetricName[] {
  const names: MetricName[] = [];
  const units = new Map<string, Set<string>>();
  for (const region of regions)
    for (const [name, { value, unit }] of Object.entries(allMetrics(region))) {
      if (value === null) continue;
      const known = units.get(name);
      if (known?.has(unit)) continue;
      if (known === undefined) units.set(name, new Set([unit]));
      else known.add(unit);
      names.push({ name, unit });
    }
  return names;
}

function rank(name: string): number {
  const place = FIRST.indexOf(name);
  if (place !== -1) return place;
  return CONSTANT.test(name) ? FIRST.length + 1 : FIRST.length;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
