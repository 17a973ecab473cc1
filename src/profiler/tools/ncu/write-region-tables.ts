/** Writes the raw results of each region into its directory. */
import { appendFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeDirectory } from "../../../foundation/system/files.ts";
import { getOrCreate } from "../../../foundation/system/get-or-create.ts";
import { regionKey } from "../../../report/model/report-files.ts";
import { type RegionIdentity, rangePath } from "../../analysis/path-tree.ts";
import type { MetricColumns, NcuResult } from "../../model/counters.ts";
import type { WriteRegionFiles } from "../tool.ts";
import type { NcuAssembly } from "./assemble/assembly.ts";

/** Flush after this many characters. */
const FLUSH_CHARACTERS = 1 << 20;

const IDENTITY = [
  "ID",
  "Process ID",
  "Process Name",
  "Kernel Name",
  "Context",
  "Stream",
  "Device",
] as const;

interface OpenTable {
  readonly file: string;
  readonly pending: string[];
  characters: number;
  columns: MetricColumns | null;
}

/**
 * Writes `raw.csv` to the directory of each region: the results that count for it, in the form of ncu's raw page, in
 * base units. Unlike in ncu's output, quotes are doubled, as CSV requires.
 *
 * @param assembly knows the regions of the results
 * @param stream reads the results again: there may be too many to keep
 */
export const regionTableWriter =
  (
    assembly: Pick<NcuAssembly, "regionsOf">,
    stream: (onResult: (result: NcuResult) => void) => Promise<unknown>,
  ): WriteRegionFiles =>
  async (directory, names) => {
    const tables = new Map<RegionIdentity, OpenTable | null>();
    const tableOf = (region: RegionIdentity): OpenTable | null =>
      getOrCreate(tables, region, () => {
        const name = names.get(regionKey({ ...rangePath(region.node), kind: region.kind }));
        return name === undefined ? null : openTable(join(directory, name));
      });
    try {
      await stream((result) => {
        let row: string | null = null;
        for (const region of assembly.regionsOf(result)) {
          const table = tableOf(region);
          if (table === null) continue;
          row ??= rowOf(result);
          if (table.columns !== result.columns)
            append(table, headOf(result.columns, table.columns));
          table.columns = result.columns;
          append(table, row);
        }
      });
      for (const table of tables.values()) if (table !== null) close(table);
    } catch (error) {
      for (const table of tables.values())
        if (table !== null) rmSync(`${table.file}.part`, { force: true });
      throw error;
    }
  };

function openTable(directory: string): OpenTable {
  makeDirectory(directory);
  const file = join(directory, "raw.csv");
  rmSync(`${file}.part`, { force: true });
  return { file, pending: [], characters: 0, columns: null };
}

function append(table: OpenTable, text: string): void {
  table.pending.push(text);
  table.characters += text.length;
  if (table.characters >= FLUSH_CHARACTERS) flush(table);
}

function flush(table: OpenTable): void {
  appendFileSync(`${table.file}.part`, table.pending.join(""));
  table.pending.length = 0;
  table.characters = 0;
}

/** Renames the file, which exists only if it is complete. */
function close(table: OpenTable): void {
  flush(table);
  renameSync(`${table.file}.part`, table.file);
}

/** Different metrics begin another table, after an empty line. */
const headOf = ({ names, units }: MetricColumns, previous: MetricColumns | null): string =>
  [
    previous === null ? "" : "\n",
    line([...IDENTITY, ...names]),
    line([...IDENTITY.map(() => ""), ...units]),
  ].join("");

function rowOf(result: NcuResult): string {
  const identity = [
    String(result.id),
    String(result.processId),
    result.processName,
    result.kernelName,
    result.context ?? "",
    result.stream ?? "",
    result.device ?? "",
  ];
  const values = Array.from(result.values, (value) => (Number.isNaN(value) ? "" : String(value)));
  return line([...identity, ...values]);
}

const line = (cells: readonly string[]): string =>
  `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",")}\n`;
