/** An export of ncu as large as wanted, made of pieces that repeat: a header, units, and results. */
import { closeSync, openSync, writeSync } from "node:fs";

const METRICS = 900;

/** How a row's cells are written. */
export type RowWriter = (cells: readonly string[]) => string;

/** As ncu itself prints them. */
export const asPrinted: RowWriter = (cells) => `"${cells.join('","')}"\n`;

/** As pandas writes them with its index in front: quotes only where they are needed. */
export const savedAgain: RowWriter = (cells) => `,${cells.map(quotedWhereNeeded).join(",")}\n`;

/** ncu doubles quotes in some cells only. */
const quotedWhereNeeded = (cell: string): string =>
  /[",]/.test(cell) ? `"${cell.replaceAll('""', '"').replaceAll('"', '""')}"` : cell;

/** Writes a raw page with at least so many bytes; returns how many results it has. */
export function writeNcuCsv(file: string, bytes: number, row: RowWriter = asPrinted): number {
  const descriptor = openSync(file, "w");
  try {
    const names = Array.from({ length: METRICS }, (_, at) =>
      at === 0
        ? "gpu__time_duration.sum"
        : `sm__counter_${at}.${at % 3 === 0 ? "sum" : "avg.pct_of_peak_sustained_elapsed"}`,
    );
    const units = names.map((_, at) => (at === 0 ? "nsecond" : at % 3 === 0 ? "inst" : "%"));
    const head = ["ID", "Process ID", "Process Name", "Host Name", PUSH_POP, START_END];
    const tail = ["Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC"];
    let written = writeSync(descriptor, row([...head, ...tail, ...names]));
    written += writeSync(descriptor, row([...[...head, ...tail].map(() => ""), ...units]));
    let results = 0;
    while (written < bytes) {
      const rows: string[] = [];
      for (let at = 0; at < 64; at++) rows.push(row(result(results++)));
      written += writeSync(descriptor, rows.join(""));
    }
    return results;
  } finally {
    closeSync(descriptor);
  }
}

const PUSH_POP = "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg";
const START_END = "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg";

function result(id: number): readonly string[] {
  const layer = `""<default domain>:layer ${id % 50}:none:none:none:none:none:none""`;
  const stack = `1111  ""<default domain>:forward:none:none:none:none:none:none""  ${layer} `;
  const kernel = `void gemm_${id % 20}<float, "tile">(float *)`;
  const identity = [String(id), "4711", "python3", "127.0.0.1", stack, "", kernel];
  const place = ["1", "7", "(256, 1, 1)", "(1024, 1, 1)", "0", "9.0"];
  const values = Array.from({ length: METRICS }, (_, at) =>
    at % 3 === 0 ? String((id * 7919 + at * 104729) % 10_000_000) : ((id + at) % 100).toFixed(2),
  );
  return [...identity, ...place, ...values];
}
