import { cellText } from "./cells.ts";
import type { TableLayout } from "./layout.ts";
import { createFormatEvidence, type NumberFormat } from "./number-format.ts";
import type { RowHandlers, RowSplitter } from "./split-rows.ts";

/** How much of a file is looked at: hundreds of numbers even in a table of many columns. */
export const EVIDENCE_BYTES = 1 << 20;

/**
 * What the metrics at the beginning of a file show about the locale that printed it.
 *
 * @param split what finds the rows of such a file
 */
export function detectFormat(
  head: Buffer,
  split: (handlers: RowHandlers) => RowSplitter,
): NumberFormat {
  const evidence = createFormatEvidence();
  const current: { layout: TableLayout | null } = { layout: null };
  const splitter = split({
    table: (next) => {
      current.layout = next;
    },
    row: (bytes, places) => {
      // Rows come behind the head of their table.
      if (current.layout === null) return;
      const { page, columns, firstMetric } = current.layout;
      const from = page === "raw" ? firstMetric : columns.metricValue;
      const to = page === "raw" ? places.count : from + 1;
      for (let column = from; column < to; column++) evidence.add(cellText(bytes, places, column));
    },
  });
  splitter.push(head);
  splitter.end();
  return evidence.format();
}
