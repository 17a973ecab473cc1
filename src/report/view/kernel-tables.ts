/** Tables of kernels; columns of hardware counters appear if any kernel has a value. */
import { capitalized } from "../../foundation/text/plural.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import { type Field, type Table, tableOf } from "../../pages/blocks.ts";
import { formatPercentage, percentOf } from "../../pages/numbers.ts";
import type { KernelHardware, KernelRecord, OccupancyLimit } from "../model/document.ts";
import { LIMIT_LEGEND } from "./gpu-utilization.ts";
import type { KernelWords } from "./kernel-words.ts";
import { kernelMs, meanMs } from "./times.ts";

/** Columns have priorities, because a terminal needs room for the names of kernels: see `Column.priority`. */
const kernelFields = (wholeMs: number | null): readonly Field<KernelRecord>[] => [
  { title: "Calls", format: "count", priority: 2, cell: ({ calls }) => calls },
  { title: "Total ms", format: "ms", priority: 0, cell: kernelMs },
  { title: "Mean ms", format: "mean_ms", priority: 3, cell: meanMs },
  {
    title: "Share %",
    format: "percent",
    priority: 1,
    cell: (kernel) => percentOf(kernelMs(kernel), wholeMs),
  },
];

export interface KernelTable<Kernel> {
  readonly words: KernelWords;
  /** What shares refer to, in milliseconds. */
  readonly wholeMs: number | null;
  /** Additional columns of this table, after the common ones. */
  readonly more?: readonly Field<Kernel>[];
  /** Maximum length of a name, in characters. */
  readonly nameLimit?: number;
}

export const kernelTable = <Kernel extends KernelRecord>(
  kernels: readonly Kernel[],
  { words, wholeMs, more = [], nameLimit }: KernelTable<Kernel>,
): Table =>
  tableOf<Kernel>(
    [
      {
        title: capitalized(words.one),
        cell: ({ kernel_name }) => printableLabel(kernel_name, nameLimit),
      },
      ...kernelFields(wholeMs),
      ...hardwareFields(kernels),
      ...more,
    ],
    kernels,
  );

type HardwareField = Field<Pick<KernelRecord, "hardware">>;

/** An explanation of the hardware columns of these kernels; empty without such columns. */
export function hardwareLegend(kernels: readonly KernelRecord[]): readonly string[] {
  const hints = hardwareFields(kernels).flatMap(({ hint }) => hint ?? []);
  return hints.length === 0 ? [] : [hints.join(" ")];
}

const hardwareFields = (kernels: readonly KernelRecord[]): readonly HardwareField[] =>
  HARDWARE.filter((field) => kernels.some((kernel) => field.cell(kernel) !== null));

const share = (
  title: string,
  short: string,
  priority: number,
  of: (hardware: KernelHardware) => number | null,
  hint?: string,
): HardwareField => ({
  title,
  short,
  priority,
  format: "percent",
  cell: ({ hardware }) => (hardware === undefined ? null : of(hardware)),
  ...(hint !== undefined && { hint }),
});

const words = (
  title: string,
  short: string,
  priority: number,
  of: (hardware: KernelHardware) => string | null,
  hint: string,
): HardwareField => ({
  title,
  short,
  priority,
  cell: ({ hardware }) => (hardware === undefined ? null : of(hardware)),
  hint,
});

export const OCCUPANCY_LIMIT = "Occupancy limit";

/** All columns appear together: the limit follows from both shares, and one share alone does not explain it. */
const HARDWARE: readonly HardwareField[] = [
  share("SM %", "SM %", 4, ({ sm_pct }) => sm_pct),
  share("Memory %", "Mem %", 4, ({ memory_pct }) => memory_pct),
  words("Limited by", "Limit", 1, ({ limited_by }) => limited_by, LIMIT_LEGEND),
  share(
    "Tensor %",
    "Tensor %",
    8,
    ({ tensor_pct }) => tensor_pct,
    "Tensor % is the share of the tensor cores' peak, 0 where they were not used.",
  ),
  share(
    "Occupancy %",
    "Occ %",
    9,
    ({ occupancy_pct }) => occupancy_pct,
    "Occupancy is the share of a multiprocessor's warps that were active.",
  ),
  words(
    OCCUPANCY_LIMIT,
    "Occ limit",
    10,
    occupancyLimitText,
    "Occupancy limit is the highest occupancy that the launch allows, and what limits it.",
  ),
];

const LIMIT_WORDS: Readonly<Record<OccupancyLimit, string>> = {
  registers: "registers",
  shared_memory: "shared memory",
  warps: "warps",
  blocks: "blocks",
  barriers: "barriers",
};

/** `50.0 %: registers`, or only the known part; null if nothing is known. */
export function occupancyLimitText({
  occupancy_limit_pct,
  occupancy_limited_by,
}: Pick<KernelHardware, "occupancy_limit_pct" | "occupancy_limited_by">): string | null {
  const why = occupancy_limited_by.map((limit) => LIMIT_WORDS[limit]).join(", ");
  if (occupancy_limit_pct === null) return why === "" ? null : why;
  const most = `${formatPercentage(occupancy_limit_pct)} %`;
  return why === "" ? most : `${most}: ${why}`;
}
