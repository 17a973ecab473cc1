/** The metrics of the selected region. ncu's full set has hundreds, so the table has a filter. */
import { formatNumber } from "./format.ts";
import type { Region, Scope } from "./scope.ts";
import { createTable } from "./table.ts";

interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly value: number;
}

/** Null where the region has none. */
export function drawMetricTable(scope: Scope, { row }: Region): HTMLElement | null {
  const measured = scope.data.metrics.flatMap(({ name, unit, values }): Metric[] => {
    const value = values[row] ?? null;
    return value === null ? [] : [{ name, unit, value }];
  });
  if (measured.length === 0) return null;
  const table = createTable<Metric>({
    label: "Metrics",
    columns: [
      { heading: "Metric", key: ({ name }) => name, cell: ({ name }) => name },
      {
        heading: "Value",
        align: "right",
        key: ({ value }) => value,
        cell: ({ value }) => formatNumber(value),
      },
      { heading: "Unit", key: ({ unit }) => unit, cell: ({ unit }) => unit },
    ],
    text: ({ name }) => name,
    pageSize: 25,
  });
  table.setRows(measured);
  return table.element;
}
