/**
 * Numbers that the program itself provided with payloads and counters: as metrics beside those of tools, and as tables.
 */

import { type Block, type Field, paragraph, tableOf } from "../../pages/blocks.ts";
import type { MetricValue, NCUProfileRegion } from "../model/document.ts";
import { treeRows } from "./tree-rows.ts";

type Metrics = Readonly<Record<string, MetricValue>>;

/** A region's metrics, including the program's own numbers under names of the same form: `Message size.sum` in byte. */
export function allMetrics({ metrics, payloads, counters }: NCUProfileRegion): Metrics {
  if (payloads === undefined && counters === undefined) return metrics;
  const more: Record<string, MetricValue> = {};
  for (const { name, unit, sum, mean, per_second } of payloads ?? []) {
    if (sum !== undefined) more[`${name}.sum`] = { value: sum, unit };
    more[`${name}.mean`] = { value: mean, unit };
    if (per_second !== undefined)
      more[`${name}.per_second`] = { value: per_second, unit: `${unit}/s` };
  }
  for (const { name, unit, min, mean, max } of counters ?? [])
    for (const [what, value] of Object.entries({ min, mean, max }))
      more[`${name}.${what}`] = { value, unit };
  // A metric of a tool has precedence over a number of the same name.
  return { ...more, ...metrics };
}

interface NumberRow {
  readonly label: string;
  readonly level: number;
  readonly name: string;
  readonly unit: string;
  readonly cells: readonly (number | null)[];
}

const REGION: Field<NumberRow> = {
  title: "Region",
  cell: ({ label, level }) => ({ kind: "label", text: label, level }),
};
const NUMBER: Field<NumberRow> = { title: "Number", cell: ({ name }) => name };
const UNIT: Field<NumberRow> = { title: "Unit", cell: ({ unit }) => unit };

const column = (
  title: string,
  at: number,
  priority: number,
  format: "count" | "number" = "number",
) => ({ title, format, priority, cell: ({ cells }: NumberRow) => cells[at] ?? null }) as const;

/**
 * The payloads of ranges; empty without any.
 * @param among all regions of the report
 */
export function payloadTable(
  regions: readonly NCUProfileRegion[],
  among: readonly NCUProfileRegion[] = regions,
): readonly Block[] {
  const some = regions.filter(({ payloads }) => payloads !== undefined);
  const rows = treeRows(some, { among }).flatMap(({ region, label, level }) =>
    (region.payloads ?? []).map(({ name, unit, count, sum, mean, min, max, per_second }) => ({
      label,
      level,
      name,
      unit,
      cells: [count, sum ?? null, mean, min, max, per_second ?? null],
    })),
  );
  if (rows.length === 0) return [];
  // Numbers that are no amounts have neither sum nor rate: empty columns would push out others.
  const isKnown = (at: number) => rows.some(({ cells }) => (cells[at] ?? null) !== null);
  const fields = [
    REGION,
    NUMBER,
    UNIT,
    column("Values", 0, 4, "count"),
    ...(isKnown(1) ? [column("Sum", 1, 2)] : []),
    column("Mean", 2, 0),
    column("Min", 3, 5),
    column("Max", 4, 3),
    ...(isKnown(5) ? [column("Per second", 5, 1)] : []),
  ];
  return [tableOf(fields, rows)];
}

/** The program's counters while ranges were open; empty without any. */
export function counterTable(
  regions: readonly NCUProfileRegion[],
  among: readonly NCUProfileRegion[] = regions,
): readonly Block[] {
  const some = regions.filter(({ counters }) => counters !== undefined);
  const rows = treeRows(some, { among }).flatMap(({ region, label, level }) =>
    (region.counters ?? []).map(({ name, unit, samples, min, mean, max }) => ({
      label,
      level,
      name,
      unit,
      cells: [samples, min, mean, max],
    })),
  );
  if (rows.length === 0) return [];
  const fields = [
    REGION,
    { ...NUMBER, title: "Counter" },
    UNIT,
    column("Samples", 0, 4, "count"),
    column("Min", 1, 3),
    column("Mean", 2, 1),
    column("Max", 3, 2),
  ];
  return [tableOf(fields, rows)];
}

/** The legend of the tables. */
export const PAYLOAD_LEGEND: Block = paragraph(
  "Given by the program with the region's own ranges. Per second is of the wall time of the ranges that have the number.",
);
