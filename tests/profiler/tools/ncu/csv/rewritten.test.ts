import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { NcuResult } from "../../../../../src/profiler/model/counters.ts";
import { rawCellText } from "../../../../../src/profiler/tools/ncu/csv/cells.ts";
import { streamNcuCsv } from "../../../../../src/profiler/tools/ncu/csv/read-csv.ts";
import { isRewritten, rewritingOf } from "../../../../../src/profiler/tools/ncu/csv/rewritten.ts";
import { createRecordSplitter } from "../../../../../src/profiler/tools/ncu/csv/split-records.ts";
import { growth } from "../../../../growth.ts";
import { samplesOrSkip } from "../../../../shared.ts";

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
  const { sections, notes } = await streamNcuCsv(pieces(), (result) => results.push(result));
  return { results, sections: [...sections], notes };
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

/** A table of one metric, a result for each of its values, as a spreadsheet of a German locale saves it. */
const table = (values: readonly string[]): string =>
  [
    "ID;Process ID;Process Name;Host Name;Kernel Name;Context;Stream;Block Size;Grid Size;Device;CC;a__b.sum",
    ";;;;;;;;;;;byte",
    ...values.map((value, id) => `${id};7;app;h;k;1;7;(1, 1, 1);(1, 1, 1);0;7.5;${value}`),
    "",
  ].join("\n");

const valuesOf = async (text: string) => {
  async function* pieces() {
    yield Buffer.from(text);
  }
  const results: NcuResult[] = [];
  const { notes } = await streamNcuCsv(pieces(), (result) => results.push(result));
  return { notes, values: results.map(({ values }) => values[0]) };
};

/** The rows of a text as ncu prints them, where it comes in pieces of so many bytes, each in memory that is used again. */
function printed(text: string, pieceBytes = 1 << 20): { text: string; damaged: number } {
  const bytes = Buffer.from(text);
  const rewriting = rewritingOf(bytes);
  if (rewriting === null) throw new Error("it is no table that was saved again");
  const rows: (readonly string[])[] = [];
  const splitter = createRecordSplitter(rewriting, "the CSV", {
    table: ({ headers }) => rows.push(headers),
    row: (own, places) => {
      rows.push(Array.from({ length: places.count }, (_, at) => rawCellText(own, places, at)));
    },
  });
  const memory = Buffer.alloc(pieceBytes);
  for (let at = 0; at < bytes.length; at += pieceBytes)
    splitter.push(memory.subarray(0, bytes.copy(memory, 0, at, at + pieceBytes)));
  const { damagedRows } = splitter.end();
  return { text: rows.map((cells) => `"${cells.join('","')}"\n`).join(""), damaged: damagedRows };
}

describe("a table as ncu prints it", () => {
  const header = "ID;Process ID;Kernel Name;Device;a__b.sum";
  const printedHeader = '"ID","Process ID","Kernel Name","Device","a__b.sum"\n';

  it.each([
    ["every cell quoted", "0;7;k;0;1.5\n", '"0","7","k","0","1.5"\n'],
    [
      "separators and lines in quoted cells",
      '0;7;"f<a;b>\nx";0;1\n',
      '"0","7","f<a;b>\nx","0","1"\n',
    ],
    ["quotes doubled", '0;7;"op"" ""x";0;1\n', '"0","7","op"" ""x","0","1"\n'],
    ["quotes in a cell without quotes", '0;7;a"b"c;0;1\n', '"0","7","a""b""c","0","1"\n'],
    [
      "text behind the quotes of a cell",
      '0;7;"a;""b"c"d;0;1\n1;7;"";0;"1"\n',
      '"0","7","a;""bc""d","0","1"\n"1","7","","0","1"\n',
    ],
    ["bytes that are no text as they are", "0;7;é\u2028漢;0;1\n", '"0","7","é\u2028漢","0","1"\n'],
    ["cells that are empty", ";;;;byte\n", '"","","","","byte"\n'],
    ["lines without anything in them", "\n\r\n0;7;k;0;1\n\n", '"0","7","k","0","1"\n'],
    [
      "lines that end with a carriage return",
      '0;7;k;0;1\r\n1;7;k;0;"1"\r\n',
      '"0","7","k","0","1"\n"1","7","k","0","1"\n',
    ],
    ["a last line that does not end", "0;7;k;0;1", '"0","7","k","0","1"\n'],
    ["a last cell in quotes that does not end its line", '0;7;k;0;"1"', '"0","7","k","0","1"\n'],
    ["a last line that ends in a separator", "0;7;k;0;", '"0","7","k","0",""\n'],
    [
      "whole numbers only where ncu has whole numbers",
      "1.0;7.0;2.0;3.0;4.0\n2;7;k;1.05;1\n",
      '"1","7","2.0","3","4.0"\n"2","7","k","1.05","1"\n',
    ],
    ["no lines that are no results", "1.0x;x7.0;k;1.05;1\nwritten by a program\n", ""],
    [
      "the header of a table that follows",
      `0;7;k;0;1\nKernel Name;Device;ID;Process ID;c__d.sum\nk;0;3;7;2\n${header}\n1;7;k;0;2\n`,
      `"0","7","k","0","1"\n${printedHeader.replace("a__b", "c__d")}"3","7","k","0","2"\n${printedHeader}"1","7","k","0","2"\n`,
    ],
  ])("has %s", (_what, rows, expected) => {
    const text = `${header}\n${rows}`;
    for (const bytes of [1, 2, 7, 1 << 20])
      expect(printed(text, bytes)).toEqual({ text: printedHeader + expected, damaged: 0 });
  });

  it("has no rows with more or fewer cells than columns", () => {
    const text = `${header}\n0;7;k;0;1;2.0\n1;7;k;0;1\n2;7;k\n`;
    for (const bytes of [1, 2, 7, 1 << 20])
      expect(printed(text, bytes)).toEqual({
        text: `${printedHeader}"1","7","k","0","1"\n`,
        damaged: 2,
      });
  });

  it("begins with its header, and without what was put in front of its columns", () => {
    const text = `\ufeff==PROF== Connected to Überprozess\n;${header}\n0;0;7;k;0;1\n`;
    expect(printed(text).text).toBe(`${printedHeader}"0","7","k","0","1"\n`);
  });

  it("goes on after the part that is looked at for a header, whatever its pieces", () => {
    const row = (id: number) => `${id};7;${"k".repeat(100)};0;1\n`;
    const rows = Array.from({ length: 1500 }, (_, id) => row(id));
    const expected = rows.map((_, id) => `"${id}","7","${"k".repeat(100)}","0","1"\n`);
    for (const bytes of [4096, 1 << 16, 1 << 20])
      expect(printed(`${header}\n${rows.join("")}`, bytes).text).toBe(
        printedHeader + expected.join(""),
      );
  });

  it.each([
    ["as ncu printed it", '"ID","Process ID","Kernel Name"\n"0","7","k;"\n'],
    ["that is none of ncu's", "name;ID;Process ID;k\n1;2;3;4\n"],
    ["with its header in the middle of a line", "see ID;Process ID;Kernel Name\n1;2;3\n"],
    ["of nothing", ""],
    ["whose header comes too late to be looked for", `${"-".repeat(1 << 20)}\n${header}\n`],
  ])("is no text %s", (_what, text) => {
    expect(isRewritten(Buffer.from(text))).toBe(false);
  });
});

describe("columns of a table that was saved again", () => {
  it("are found by their names, wherever they stand", () => {
    const moved = [
      "a__b.sum;Kernel Name;Process ID;Device;ID",
      "byte;;;;",
      "1,5;k;7;0;3",
      "2;k",
      "",
    ].join("\n");
    expect(isRewritten(Buffer.from(moved))).toBe(true);
    expect(printed(moved)).toEqual({
      text: '"ID","Process ID","Kernel Name","Device","a__b.sum"\n"","","","","byte"\n"3","7","k","0","1,5"\n',
      damaged: 1,
    });
  });

  it("may lack sections and units", async () => {
    const text =
      "Kernel Name;Metric Name;ID;Process ID;Metric Value\nk;Duration;0;7;12\nk;Waves;0;7;3\n";
    const results: NcuResult[] = [];
    async function* pieces() {
      yield Buffer.from(text);
    }
    const { sections, notes } = await streamNcuCsv(pieces(), (result) => results.push(result));
    expect(results.map(({ columns, values }) => [columns.names, [...values]])).toEqual([
      [
        ["Duration", "Waves"],
        [12, 3],
      ],
    ]);
    expect(sections.size).toBe(0);
    expect(notes).toEqual([expect.stringContaining("the table has no units")]);
  });

  it.each([
    ["Kernel Name;Process ID;Device;a__b.sum\nk;7;0;1\n", "column ID"],
    ["Kernel Name,Metric Name,Metric Value\nk,m,1\n", "columns ID, Process ID"],
    ["ID,Process ID,Device\n0,7,0\n", "column Kernel Name"],
    ['"ID","Process ID","Device","a__b.sum"\n"0","7","0","1"\n', "column Kernel Name"],
    ["ID;Process ID;Kernel Name;Section Name;Metric Name\n0;7;k;s;m\n", "column Metric Value"],
  ])("are named where results cannot be read without them: %j", async (text, named) => {
    await expect(valuesOf(text)).rejects.toThrow(`lacks the required ${named}`);
  });

  it("of averages are those of a summary page", async () => {
    const text =
      "Process ID,Process Name,Device,Invocations,Kernel Name,Metric Name,Minimum\n7,app,0,2,k,m,1\n";
    await expect(valuesOf(text)).rejects.toThrow("is a summary page of ncu");
  });
});

describe("numbers of a table that was saved again", () => {
  it("have the separators of the program that saved it", async () => {
    expect(await valuesOf(table(["27,80", "52,576", "9612288"]))).toEqual({
      notes: [],
      values: [27.8, 52.576, 9612288],
    });
  });

  it.each([
    // A spreadsheet read 1,230 of an English ncu as 1.23, and kept what it took for a text.
    ["groups", ["9,612,288", "1,23", "1,234"], [9612288, Number.NaN, Number.NaN]],
    ["decimals", ["27.80", "1,23", "1,234"], [27.8, Number.NaN, Number.NaN]],
  ])("are none where a comma stands beside others that are %s", async (_what, cells, values) => {
    const read = await valuesOf(table(cells));
    expect(read.values).toEqual(values);
    expect(read.notes).toEqual([expect.stringContaining("2 numbers like 1.234 were left out")]);
  });
});

describe("a damaged table that was saved again", () => {
  it("is read up to a quote that is never closed, in the memory of a long row", async () => {
    const megabyte = Buffer.from("x".repeat(1 << 20));
    async function* pieces() {
      yield Buffer.from(`${table(["1", "2"])}3;7;app;h;"`);
      for (let at = 0; at < 40; at++) yield megabyte;
    }
    const results: NcuResult[] = [];
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    async function* watched() {
      for await (const piece of pieces()) {
        most = Math.max(most, process.memoryUsage().arrayBuffers - before);
        yield piece;
      }
    }
    const { notes } = await streamNcuCsv(watched(), (result) => results.push(result));
    expect(results.length).toBe(2);
    expect(notes).toEqual([expect.stringContaining("1 damaged row was left out")]);
    expect(most).toBeLessThan(300 * megabyte.length);
  });

  it("goes on behind a quote that is never closed where what follows is long", async () => {
    const rows = Array.from(
      { length: 40 },
      (_, id) => `${id};7;app;h;${"k".repeat(1 << 19)};1;7;(1, 1, 1);(1, 1, 1);0;7.5;${id}\n`,
    );
    async function* pieces() {
      yield Buffer.from(`${table(["1"])}1;7;app;h;"k;1;7;(1, 1, 1);(1, 1, 1);0;7.5;5\n`);
      for (const row of rows) yield Buffer.from(row);
    }
    const results: NcuResult[] = [];
    const { notes } = await streamNcuCsv(pieces(), (result) => results.push(result));
    expect(results.length).toBe(41);
    expect(notes).toEqual([expect.stringContaining("1 damaged row was left out")]);
  });

  it("goes on behind a quote that is never closed where many lines follow, which have quotes of their own", async () => {
    const rows = Array.from(
      { length: 3000 },
      (_, id) => `${id};7;app;h;k;1;7;(1, 1, 1);(1, 1, 1);0;7.5;${id}\n`,
    );
    const { results, notes } = await read(`${table(["1"])}1;7;app;h;"k;1\n${rows.join("")}`);
    expect(results.length).toBe(3001);
    expect(notes).toEqual([expect.stringContaining("1 damaged row was left out")]);
  });

  it("costs time in proportion to its lines, wherever its quotes stand", async () => {
    // Within quotes as outside of them, each line ends within quotes.
    const unclosed = '1"x;"y\n';
    const reading = (lines: number) => read(`${table(["1"])}${unclosed.repeat(lines)}`);
    expect(await growth(reading, 1500)).toBeLessThan(40);
  });
});

it("a table is known by its names, however many metrics another program has put in front of them", async () => {
  const metrics = Array.from({ length: 3000 }, (_, at) => `sm__counter_of_a_long_name_${at}.sum`);
  const names = [...metrics, "ID", "Process ID", "Process Name", "Host Name", "Kernel Name"];
  const units = [...metrics.map(() => "inst"), "", "", "", "", ""];
  const values = [...metrics.map((_, at) => String(at)), "0", "42", "python3", "node", "gemm"];
  const text = `${[names, units, values].map((cells) => cells.join(",")).join("\n")}\n`;
  expect(names.join(",").length).toBeGreaterThan(1 << 16);
  expect(isRewritten(Buffer.from(text))).toBe(true);
  const { results } = await read(text);
  expect(
    results.map(({ kernelName, values: [first, second] }) => [kernelName, first, second]),
  ).toEqual([["gemm", 0, 1]]);
});
