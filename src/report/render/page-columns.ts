/** Regions, kernels and metrics in the columns that the page's script reads. */

import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import { roundedForPage } from "../../pages/numbers.ts";
import type {
  KernelHardware,
  KernelRecord,
  NCUProfileRegion,
  RegionGpuActivity,
} from "../model/document.ts";
import { KIND_WORDS } from "../model/region-path.ts";
import { haveActivity, speedOfLight } from "../view/gpu-utilization.ts";
import { occupancyLimitText } from "../view/kernel-tables.ts";
import type {
  HardwareColumns,
  KernelColumns,
  NumberColumn,
  RegionColumns,
  RooflineData,
  TextIndex,
} from "../view/page-data.ts";
import { allMetrics } from "../view/program-numbers.ts";
import { halfInterval, repeatedTime } from "../view/region-tables.ts";
import { rooflineCeilings, rooflinePoints } from "../view/roofline.ts";
import { exclusiveMs, haveCpuTime, kernelMs, totalMs } from "../view/times.ts";
import type { TreeRow } from "../view/tree-rows.ts";

export function regionColumns(
  rows: readonly TreeRow[],
  table: StringTable,
  nameLimit: number,
): RegionColumns {
  const regions = rows.map(({ region }) => region);
  const numbers = (of: (region: NCUProfileRegion) => number | null): NumberColumn =>
    regions.map((region) => roundedForPage(of(region)));
  return {
    label: rows.map(({ label }) => table.add(label)),
    parent: parents(rows),
    domain: regions.map(({ domain }) =>
      table.add(domain === "" ? "default" : printableLabel(domain, nameLimit)),
    ),
    kind: regions.map(({ kind }) => table.add(KIND_WORDS[kind])),
    device: regions.map(({ device }) => (device === null ? null : table.add(device))),
    process: regions.map(({ process_id }) => process_id),
    calls: regions.map(({ invocations }) => invocations),
    total: numbers(totalMs),
    exclusive: numbers(exclusiveMs),
    wall: numbers(({ wall_ms }) => wall_ms),
    wallExclusive: numbers(({ wall_exclusive_ms }) => wall_exclusive_ms),
    ...cpuColumns(regions),
    unclosed: regions.some(({ unclosed }) => unclosed !== undefined)
      ? regions.map(({ unclosed }) => unclosed ?? 0)
      : [],
    min: numbers(({ invocation_wall_ms }) => invocation_wall_ms?.min ?? null),
    median: numbers(({ invocation_wall_ms }) => invocation_wall_ms?.median ?? null),
    p95: numbers(({ invocation_wall_ms }) => invocation_wall_ms?.p95 ?? null),
    max: numbers(({ invocation_wall_ms }) => invocation_wall_ms?.max ?? null),
    kernelCount: regions.map(({ kernel_count }) => kernel_count),
    ...activityColumns(regions),
    ...limitShares(regions, table),
    ...repeatColumns(regions),
  };
}

function cpuColumns(
  regions: readonly NCUProfileRegion[],
): Pick<RegionColumns, "cpu" | "cpuExclusive"> {
  if (!haveCpuTime(regions)) return { cpu: [], cpuExclusive: [] };
  return {
    cpu: regions.map(({ cpu_ms }) => roundedForPage(cpu_ms ?? null)),
    cpuExclusive: regions.map(({ cpu_exclusive_ms }) => roundedForPage(cpu_exclusive_ms ?? null)),
  };
}

function activityColumns(
  regions: readonly NCUProfileRegion[],
): Pick<RegionColumns, "gpuBusy" | "gpuKernels" | "gpuCopies"> {
  if (!haveActivity(regions)) return { gpuBusy: [], gpuKernels: [], gpuCopies: [] };
  const times = (name: keyof RegionGpuActivity): NumberColumn =>
    regions.map(({ gpu_activity }) => roundedForPage(gpu_activity?.[name] ?? null));
  return {
    gpuBusy: times("busy_ms"),
    gpuKernels: times("kernel_ms"),
    gpuCopies: times("copy_ms"),
  };
}

function limitShares(
  regions: readonly NCUProfileRegion[],
  table: StringTable,
): Pick<RegionColumns, "smShare" | "memoryShare" | "limit"> {
  const known = regions.map(speedOfLight);
  if (known.every((each) => each === null)) return { smShare: [], memoryShare: [], limit: [] };
  return {
    smShare: known.map((each) => roundedForPage(each?.compute ?? null)),
    memoryShare: known.map((each) => roundedForPage(each?.memory ?? null)),
    limit: known.map((each) => (each === null ? null : table.add(each.limit))),
  };
}

function repeatColumns(
  regions: readonly NCUProfileRegion[],
): Pick<RegionColumns, "repeatMean" | "repeatHalf"> {
  if (regions.every((region) => repeatedTime(region) === null))
    return { repeatMean: [], repeatHalf: [] };
  return {
    repeatMean: regions.map((region) => roundedForPage(repeatedTime(region)?.mean ?? null)),
    repeatHalf: regions.map((region) => roundedForPage(halfInterval(region))),
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
