/** Tables of kernels; columns of hardware counters appear if any kernel has a value. */
import { capitalized } from "../../foundation/text/plural.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import { type Field, type Table, tableOf } from "../../pages/blocks.ts";
import { formatPercentage, percentOf } from "../../pages/numbers.ts";
import type { KernelHardware, KernelRecord, OccupancyLimit } from "../model/document.ts";
import { LIMIT_LEGEND } from "./gpu-utilization.ts";
import { type KernelWords, kernelMs, meanMs } from "./times.ts";

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
        title: capitalized(words.singular),
        cell: ({ kernel_name }) => printableLabel(kernel_name, nameLimit),
      },
      ...kernelFields(wholeMs),
      ...hardwareColumns(kernels),
      ...more,
    ],
    kernels,
  );

/** A column of hardware counters. */
interface HardwareColumn extends Field<Pick<KernelRecord, "hardware">> {
  readonly cell: (kernel: Pick<KernelRecord, "hardware">) => number | string | null;
  readonly isText?: true;
  /** A sentence below tables of text, of what the title does not say there. */
  readonly legend?: string;
}

/** An explanation of the hardware columns of these kernels; empty without such columns. */
export function hardwareLegend(kernels: readonly KernelRecord[]): readonly string[] {
  const legends = hardwareColumns(kernels).flatMap(({ legend }) => legend ?? []);
  return legends.length === 0 ? [] : [legends.join(" ")];
}

const hardwareColumns = (kernels: readonly KernelRecord[]): readonly HardwareColumn[] =>
  HARDWARE_COLUMNS.filter(({ cell }) => kernels.some((kernel) => cell(kernel) !== null));

type Head = Pick<HardwareColumn, "title" | "short" | "priority" | "legend"> & {
  readonly hint: string;
};

const share = (
  measure: (hardware: KernelHardware) => number | null,
  head: Head,
): HardwareColumn => ({
  ...head,
  format: "percent",
  cell: ({ hardware }) => (hardware === undefined ? null : measure(hardware)),
});

const words = (
  wordsOf: (hardware: KernelHardware) => string | null,
  head: Head,
): HardwareColumn => ({
  ...head,
  isText: true,
  cell: ({ hardware }) => (hardware === undefined ? null : wordsOf(hardware)),
});

export const OCCUPANCY_LIMIT = "Occupancy limit";

/** All columns appear together: the limit follows from both shares, and one share alone does not explain it. */
export const HARDWARE_COLUMNS: readonly HardwareColumn[] = [
  share(({ sm_pct }) => sm_pct, {
    title: "SM %",
    short: "SM %",
    priority: 4,
    hint: "Share of the multiprocessors' peak",
  }),
  share(({ memory_pct }) => memory_pct, {
    title: "Memory %",
    short: "Mem %",
    priority: 4,
    hint: "Share of the memory's peak",
  }),
  {
    ...words(({ limited_by }) => limited_by, {
      title: "Limited by",
      short: "Limit",
      priority: 1,
      hint: LIMIT_LEGEND,
      legend: LIMIT_LEGEND,
    }),
    isMark: true,
  },
  share(({ tensor_pct }) => tensor_pct, {
    title: "Tensor %",
    short: "Tensor %",
    priority: 8,
    hint: "Share of the tensor cores' peak; 0: not used",
    legend: "Tensor % is the share of the tensor cores' peak, 0 where they were not used.",
  }),
  share(({ occupancy_pct }) => occupancy_pct, {
    title: "Occupancy %",
    short: "Occ %",
    priority: 9,
    hint: "Active warps, as a share of the possible ones",
    legend: "Occupancy is the share of a multiprocessor's warps that were active.",
  }),
  words(occupancyLimitText, {
    title: OCCUPANCY_LIMIT,
    short: "Occ limit",
    priority: 10,
    hint: "Highest occupancy that the launch allows, and what limits it",
    legend: "Occupancy limit is the highest occupancy that the launch allows, and what limits it.",
  }),
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
