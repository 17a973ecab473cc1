import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { streamNcuCsv } from "../../../../src/profile/ncu/csv/read-csv.ts";
import { isRewritten } from "../../../../src/profile/ncu/csv/rewritten.ts";
import type { NcuResult } from "../../../../src/profile/ncu/results.ts";
import { samplesOrSkip } from "../samples.ts";

const sample = samplesOrSkip("tables that were saved again");

interface Saving {
  readonly separator: string;
  /** Name of an index column in front; null: none. */
  readonly index: string | null;
  /** Whether whole numbers became floats, as pandas makes them where one is missing. */
  readonly floats: boolean;
  readonly end: string;
}

const WHOLE = ["ID", "Process ID", "Context", "Stream", "Device"];

/** What a program makes of a table of ncu that knows the rules of CSV: as few quotes as they allow. */
function savedAgain(text: string, { separator, index, floats, end }: Saving): string {
  const rows = text
    .split(/\r?\n/)
    .filter((line) => line.startsWith('"'))
    .map((line) =>
      [...line.matchAll(/"((?:[^"]|"")*)"(?=,|$)/g)].map(([, cell = ""]) =>
        cell.replaceAll('""', '"'),
      ),
    );
  const headers = rows[0] ?? [];
  const quoted = (cell: string) =>
    cell.includes(separator) || /["\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  const lines = rows.map((cells, row) => {
    const full = headers.map((_, place) => cells[place] ?? "");
    const own = full.map((cell, place) =>
      floats && row > 0 && cell !== "" && WHOLE.includes(headers[place] ?? "") ? `${cell}.0` : cell,
    );
    return [...(index === null ? [] : [row === 0 ? index : String(row - 1)]), ...own]
      .map(quoted)
      .join(separator);
  });
  return `${lines.join(end)}${end}`;
}

const SAVINGS: readonly (readonly [what: string, saving: Saving])[] = [
  ["pandas without an index", { separator: ",", index: null, floats: false, end: "\n" }],
  ["pandas with its index", { separator: ",", index: "", floats: true, end: "\n" }],
  ["pandas twice", { separator: ",", index: "Unnamed: 0", floats: true, end: "\n" }],
  ["a spreadsheet", { separator: ";", index: null, floats: false, end: "\r\n" }],
  ["a tool that likes tabs", { separator: "\t", index: null, floats: false, end: "\n" }],
];

async function read(text: string, pieceBytes = 1 << 18) {
  const bytes = Buffer.from(text);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
  const results: NcuResult[] = [];
  const { sections } = await streamNcuCsv(pieces(), (result) => results.push(result));
  return { results, sections: [...sections] };
}

describe.skipIf(sample === null)("a table of ncu that another program saved again", () => {
  it.each(
    SAVINGS.flatMap(([what, saving]) =>
      [
        "raw-multi-launch-rtx2060.csv",
        "syn-raw-nvtx-registered-string-domains.csv",
        "pub-llmperf-details-rtx5090-en_US.csv",
        "raw-multi-kernel-gtx1660-ncu2022.3-kernel-time-col.csv",
      ].map((name) => [what, name, saving] as const),
    ),
  )("is read as ncu printed it: by %s, %s", async (_what, name, saving) => {
    const text = readFileSync(sample?.(name) ?? "", "utf8");
    const again = savedAgain(text, saving);
    expect(isRewritten(Buffer.from(again))).toBe(true);
    expect(isRewritten(Buffer.from(text))).toBe(false);
    const expected = await read(text);
    const found = await read(again);
    expect(found.results.length).toBeGreaterThan(0);
    expect(found).toEqual(expected);
    expect(await read(again, 1009)).toEqual(expected);
  });
});
