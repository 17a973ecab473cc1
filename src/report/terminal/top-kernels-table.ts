/** The longest kernels for a terminal: where no region was named, they are all there is to tell. */
import picocolors from "picocolors";
import { plural } from "../../text/plural.ts";
import { printableLabel } from "../../text/printable.ts";
import { capitalized } from "../capitalized.ts";
import type { NCUProfileRegionReport } from "../document.ts";
import { hardwareColumns } from "../kernels/kernel-columns.ts";
import { wordsOfKinds } from "../kernels/kernel-words.ts";
import { type KernelOfReport, kernelsOfReport } from "../kernels/kernels-of-report.ts";
import { kernelMs, meanMs, wholeMs } from "../measured-time.ts";
import { formatMeanMs, formatMs, formatShare } from "../numbers.ts";
import { type TerminalColumn, terminalTable } from "./terminal-table.ts";

interface Page {
  /** Columns of the terminal. */
  readonly width: number;
  readonly color: boolean;
}

/** Names of templates can be screens long; the reports have all of them. */
const MAX_NAME = 300;

/** The `most` longest, with a heading; empty where none was recorded. Lines end with newlines. */
export function renderTopKernels(
  report: NCUProfileRegionReport,
  { width, color }: Page,
  most: number,
): string {
  const kernels = kernelsOfReport(report);
  const words = wordsOfKinds(kernels.kinds);
  if (words === null) return "";
  const colors = picocolors.createColors(color);
  const rows = kernels
    .longest(most)
    .map((kernel) => ({ kernel, label: printableLabel(kernel.kernel_name, MAX_NAME) }));
  const heading = capitalized(words.one);
  const table = terminalTable(heading, rows, columnsOf(rows, wholeMs(report)), width);
  const left = kernels.length - rows.length;
  return [
    colors.bold(table.heading),
    ...table.lines,
    ...(left === 0 ? [] : [colors.dim(`${plural(left, "shorter one")} not shown`)]),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

type Row = { readonly label: string; readonly kernel: KernelOfReport };

const column = (
  heading: string,
  dispensable: number,
  cell: (kernel: KernelOfReport) => string,
): TerminalColumn<Row> => ({
  heading,
  side: "right",
  dispensable,
  cell: ({ kernel }) => cell(kernel),
});

const SHARES = ["SM %", "Mem %"];

const columnsOf = (rows: readonly Row[], whole: number | null): readonly TerminalColumn<Row>[] => [
  column("Calls", 2, ({ calls }) => String(calls)),
  column("Total ms", 0, (kernel) => formatMs(kernelMs(kernel))),
  column("Mean ms", 3, (kernel) => formatMeanMs(meanMs(kernel))),
  column("Share %", 1, (kernel) => formatShare(kernelMs(kernel), whole)),
  ...hardwareColumns(rows.map(({ kernel }) => kernel)).map(
    ({ short, align, cell }, place): TerminalColumn<Row> => ({
      heading: short,
      side: align ?? "left",
      // What limits is the answer, the shares are where it comes from: one alone would tell nothing of it.
      dispensable: short === "Limit" ? 1 : SHARES.includes(short) ? 4 : 5 + place,
      cell: ({ kernel }) => cell(kernel),
    }),
  ),
];
