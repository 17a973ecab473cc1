/** Kernels as a Markdown table, in whichever list they stand. */
import { capitalized } from "../capitalized.ts";
import type { KernelRecord } from "../document.ts";
import { type HardwareColumn, hardwareColumns } from "../kernels/kernel-columns.ts";
import type { KernelWords } from "../kernels/kernel-words.ts";
import { kernelMs, meanMs } from "../measured-time.ts";
import { formatMeanMs, formatMs, formatShare } from "../numbers.ts";
import { markdownLabel, markdownTable } from "./markdown.ts";

/** A column of one list only, behind those of all. */
interface OwnColumn<Row> {
  readonly heading: string;
  readonly cell: (row: Row) => string;
}

export interface KernelRows<Row> {
  readonly words: KernelWords;
  /** What shares refer to, in milliseconds. */
  readonly wholeMs: number | null;
  readonly columns: readonly OwnColumn<Row>[];
}

/** The table, and the columns of hardware counters in it, for a legend. */
export function kernelRows<Row extends KernelRecord>(
  rows: readonly Row[],
  { words, wholeMs, columns }: KernelRows<Row>,
): { readonly table: string; readonly hardware: readonly HardwareColumn[] } {
  const hardware = hardwareColumns(rows);
  const table = markdownTable(
    [
      { heading: capitalized(words.one) },
      { heading: "Calls", align: "right" },
      { heading: "Total ms", align: "right" },
      { heading: "Mean ms", align: "right" },
      { heading: "Share %", align: "right" },
      ...hardware,
      ...columns,
    ],
    rows.map((row) => [
      markdownLabel(row.kernel_name),
      String(row.calls),
      formatMs(kernelMs(row)),
      formatMeanMs(meanMs(row)),
      formatShare(kernelMs(row), wholeMs),
      ...[...hardware, ...columns].map(({ cell }) => cell(row)),
    ]),
  );
  return { table, hardware };
}
