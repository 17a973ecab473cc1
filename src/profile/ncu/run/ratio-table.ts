/** Ratios with all their digits, in a second table of a report: the raw table rounds to two decimals. */
import { open } from "node:fs/promises";
import { basename } from "node:path";
import { streamNcuCsvFile } from "../csv/read-csv.ts";
import type { NcuResult } from "../results.ts";

/** Puts the values of a second table, in which fractions have all their digits, into results. */
export type Sharpen = (result: NcuResult, place: number) => NcuResult;

export async function readRatios(file: string): Promise<Sharpen> {
  const rows: NcuResult[] = [];
  await streamNcuCsvFile(file, (result) => rows.push(result), {
    locale: "C",
    name: basename(file),
  });
  return (result, place) => {
    const row = rows[place];
    if (row === undefined || row.id !== result.id || row.processId !== result.processId)
      return result;
    const values = Float64Array.from(result.values);
    for (const [metric, from] of row.columns.index) {
      const to = result.columns.index.get(metric);
      if (to === undefined) continue;
      const exact = row.values[from] ?? Number.NaN;
      // More digits of the same number, or it stands in a unit that rounds it otherwise.
      if (Math.abs(exact - (values[to] ?? Number.NaN)) <= ROUNDING) values[to] = exact;
    }
    return { ...result, values };
  };
}

/** Half of the last of two decimals, and what binary fractions add. */
const ROUNDING = 0.005 + 1e-9;

/** Percentages, bare ratios, and counts per cycle or the like: they stand in the same unit however it is scaled. */
const isRatioUnit = (unit: string): boolean =>
  unit === "%" || unit === "" || (unit.includes("/") && !/\/s(econd)?$/.test(unit));

/** Above this, ratios are read as they stand in the base table: with two decimals. */
const MAX_EXACT_BYTES = 64e6;

/** The metrics of a raw table whose fractions have more digits than it shows. */
export async function ratioMetrics(raw: string): Promise<readonly string[]> {
  const handle = await open(raw);
  try {
    const { size } = await handle.stat();
    if (size > MAX_EXACT_BYTES) return [];
    const head = Buffer.alloc(Math.min(size, 1 << 20));
    await handle.read(head, 0, head.length, 0);
    const [names, units] = head
      .toString("utf8")
      .split("\n")
      .filter((line) => line.startsWith('"'))
      .map((line) => line.trim().slice(1, -1).split('","'));
    if (names?.[0] !== "ID" || units === undefined) return [];
    return names.filter((name, column) => name.includes("__") && isRatioUnit(units[column] ?? "x"));
  } finally {
    await handle.close();
  }
}
