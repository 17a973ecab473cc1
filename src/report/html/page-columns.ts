/** Regions and kernels in the columns that the page's script reads. */
import { printableLabel } from "../../text/printable.ts";
import { haveActivity } from "../conclusions/gpu-activity.ts";
import { rooflineCeilings, rooflinePoints } from "../conclusions/roofline.ts";
import { speedOfLight } from "../conclusions/speed-of-light.ts";
import type {
  KernelHardware,
  KernelRecord,
  NCUProfileRegion,
  RegionGpuActivity,
} from "../document.ts";
import { occupancyLimitText } from "../kernels/kernel-columns.ts";
import { exclusiveMs, kernelMs, totalMs } from "../measured-time.ts";
import { forPage } from "../numbers.ts";
import { KIND_WORDS } from "../region-path.ts";
import type { TreeRow } from "../tree-rows.ts";
import type {
  HardwareColumns,
  KernelColumns,
  NumberColumn,
  RegionColumns,
  RooflineData,
} from "./page-data.ts";
import type { StringTable } from "./string-table.ts";

export function regionColumns(
  rows: readonly TreeRow[],
  table: StringTable,
  nameLimit: number,
): RegionColumns {
  const regions = rows.map(({ region }) => region);
  const numbers = (of: (region: NCUProfileRegion) => number | null): NumberColumn =>
    regions.map((region) => forPage(of(region)));
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

function activityColumns(
  regions: readonly NCUProfileRegion[],
): Pick<RegionColumns, "gpuBusy" | "gpuKernels" | "gpuCopies"> {
  if (!haveActivity(regions)) return { gpuBusy: [], gpuKernels: [], gpuCopies: [] };
  const times = (name: keyof RegionGpuActivity): NumberColumn =>
    regions.map(({ gpu_activity }) => forPage(gpu_activity?.[name] ?? null));
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
    smShare: known.map((each) => forPage(each?.compute ?? null)),
    memoryShare: known.map((each) => forPage(each?.memory ?? null)),
    limit: known.map((each) => (each === null ? null : table.add(each.limit))),
  };
}

function repeatColumns(
  regions: readonly NCUProfileRegion[],
): Pick<RegionColumns, "repeatMean" | "repeatHalf"> {
  const times = regions.map(({ repeats }) => repeats?.total_ms ?? repeats?.wall_ms ?? null);
  if (times.every((time) => time === null)) return { repeatMean: [], repeatHalf: [] };
  return {
    repeatMean: times.map((time) => forPage(time?.mean ?? null)),
    repeatHalf: times.map((time) => forPage(time && (time.ci95_high - time.ci95_low) / 2)),
  };
}

/** Row of the region around each row, from the levels of the tree. */
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
  total: kept.map((kernel) => forPage(kernelMs(kernel))),
  hardware: hardwareColumns(kept, table),
  other: other && { ...other, total: forPage(other.total) },
});

function hardwareColumns(
  kernels: readonly KernelRecord[],
  table: StringTable,
): HardwareColumns | null {
  if (kernels.every(({ hardware }) => hardware === undefined)) return null;
  const numbers = (of: (hardware: KernelHardware) => number | null): NumberColumn =>
    kernels.map(({ hardware }) => forPage(hardware === undefined ? null : of(hardware)));
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
    occupancyMost: numbers(({ occupancy_limit_pct }) => occupancy_limit_pct),
    occupancyLimit: texts(occupancyLimitText),
  };
}

/** Null where no region has a point. */
export function rooflineData(regions: readonly NCUProfileRegion[]): RooflineData | null {
  const points = regions.flatMap((region, row) =>
    rooflinePoints(region).map(({ precision, intensity, flops }) => ({
      region: row,
      label: precision,
      intensity: forPage(intensity),
      flops: forPage(flops),
    })),
  );
  if (points.length === 0) return null;
  const { bytesPerSecond, compute } = rooflineCeilings(regions);
  return {
    // Nothing was moved, or counted: there is no slope.
    bandwidth: bytesPerSecond === 0 ? null : forPage(bytesPerSecond),
    ceilings: compute.map(({ precision, flops }) => ({ label: precision, flops: forPage(flops) })),
    points,
  };
}
