/** What is cut, shuffled into pieces or followed by other output. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isCodedError } from "../../../../../src/engine/values/errors.ts";
import type { NcuResult } from "../../../../../src/profiler/model/counters.ts";
import { C_FORMAT } from "../../../../../src/profiler/tools/ncu/csv/number-format.ts";
import { streamNcuCsv } from "../../../../../src/profiler/tools/ncu/csv/read-csv.ts";
import { growth } from "../../../../growth.ts";
import { runs } from "../../../../runs.ts";
import { samplesOrSkip } from "../../../../shared.ts";

async function* chunksOf(bytes: Buffer, cuts: readonly number[] = []) {
  let from = 0;
  for (const to of [...cuts, bytes.length].sort((a, b) => a - b)) {
    yield bytes.subarray(from, to);
    from = to;
  }
}

async function read(bytes: Buffer, cuts?: readonly number[]) {
  const results: NcuResult[] = [];
  try {
    const { notes } = await streamNcuCsv(chunksOf(bytes, cuts), (result) => results.push(result), {
      format: C_FORMAT,
    });
    return { results, notes };
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return { results, notes: [error.details.code] };
  }
}

const HEADER = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream"';
const METRIC = "gpu__time_duration.sum";
const line = (...cells: readonly string[]) => `${cells.map((cell) => `"${cell}"`).join(",")}\n`;
const table = (rows: readonly string[]) =>
  `${HEADER},"${METRIC}"\n${line("", "", "", "", "", "", "", "ns")}${rows.join("")}`;
const row = (id: number, name = "gemm") =>
  line(String(id), "7", "prog", "127.0.0.1", name, "1", "7", String(100 + id));
const idsOf = (results: readonly NcuResult[]) => results.map(({ id }) => id);

describe("a table of ncu that is not whole", () => {
  it("gives the results until it was cut, wherever that is", async () => {
    const names = ["gemm", 'f<"q", 1>', "line\nbreak\n", "漢字", 'tail"'];
    const whole = Buffer.from(table(names.map((name, id) => row(id, name))));
    const all = (await read(whole)).results;
    expect(all.map(({ kernelName }) => kernelName)).toEqual(names);
    for (let length = 0; length < whole.length; length++) {
      const { results, notes } = await read(whole.subarray(0, length));
      expect(results, `${length} bytes`).toEqual(all.slice(0, results.length));
      const rows = whole.toString("latin1", 0, length).match(/^"\d+","7",/gm)?.length ?? 0;
      expect(results.length).toBeGreaterThanOrEqual(rows - 1);
      if (results.length < rows) expect(notes.join()).toMatch(/cut short|damaged/);
    }
  });

  it("has no results if it ends with its header, and a note says so", async () => {
    const none = "the CSV: the table has no results: ";
    const note = expect.stringContaining(none);
    expect((await read(Buffer.from(table([])))).notes).toContainEqual(note);
    expect((await read(Buffer.from(table([]).slice(0, 90)))).notes).toContainEqual(note);
    expect((await read(Buffer.from(table([row(0)])))).notes).toEqual([]);
  });

  it("may have lost its units: percentages are known by their names, and a note tells of the others", async () => {
    const metrics = [METRIC, "dram__throughput.avg.pct_of_peak_sustained_elapsed"] as const;
    const cells = (...last: readonly string[]) =>
      line("1", "7", "prog", "127.0.0.1", "gemm", "1", "7", ...last);
    const header = `${HEADER},"${metrics[0]}","${metrics[1]}"\n`;
    const blank = line("", "", "", "", "", "", "", "", "");
    for (const units of ["", blank]) {
      const { results, notes } = await read(Buffer.from(`${header}${units}${cells("100", "25")}`));
      expect(results[0]?.columns.units).toEqual(["", "%"]);
      expect(notes).toEqual([expect.stringContaining("the table has no units")]);
    }
    const named = line("", "", "", "", "", "", "", "usecond", "%");
    const { results, notes } = await read(Buffer.from(`${header}${named}${cells("100", "25")}`));
    expect([...(results[0]?.values ?? [])]).toEqual([100_000, 25]);
    expect(notes).toEqual([]);
  });

  it("goes on with the row behind one that was cut", async () => {
    const cut = row(1).slice(0, 20);
    const { results, notes } = await read(Buffer.from(table([row(0), `${cut}\n`, row(2)])));
    expect(idsOf(results)).toEqual([0, 2]);
    expect(notes.join()).toMatch(/1 damaged row was left out/);
  });

  it("ends with a row that was cut where another table, of other columns, begins", async () => {
    const other = `${HEADER},"${METRIC}","launch__grid_size"\n${line("", "", "", "", "", "", "", "us", "")}`;
    const last = line("5", "7", "prog", "127.0.0.1", "pool", "1", "7", "2", "640");
    const cut = `${row(1).slice(0, 20)}\n`;
    const { results, notes } = await read(Buffer.from(table([row(0), cut]) + other + last));
    expect(results.map(({ id, values }) => [id, ...values])).toEqual([
      [0, 100],
      [5, 2000, 640],
    ]);
    expect(notes.join()).toMatch(/1 damaged row was left out/);
  });

  it("may have the line ends of Windows, and those of others in names", async () => {
    const rows = [row(0), row(1, "line\nbreak")];
    const plain = await read(Buffer.from(table(rows)));
    const text = table([row(0), "ROW"]).replaceAll("\n", "\r\n");
    const windows = text.replace("ROW", rows[1]?.replace(/\n$/, "\r\n") ?? "");
    expect(await read(Buffer.from(windows))).toEqual(plain);
    expect(idsOf(plain.results)).toEqual([0, 1]);
  });

  it("may be followed by whatever the program prints, and by another table", async () => {
    const output = Array.from({ length: 3000 }, (_, step) => `{"step": ${step}, "name": "a"\n`);
    const text = [table([row(0), row(1).slice(0, 20)]), ...output, table([row(5)])].join("");
    const { results } = await read(Buffer.from(text));
    expect(idsOf(results)).toEqual([0, 5]);
  });

  it("may have lines of the program between its rows", async () => {
    const said = [
      "step 1\n",
      '"loss","0.5"\n',
      '{"a":"b"}\n',
      "\n",
      '"","done"\n',
      "==PROF== 9 passes\n",
    ];
    const text = table([row(0), ...said, row(1), '"7"\n', row(2)]);
    const { results, notes } = await read(Buffer.from(text));
    expect(results.map(({ id, values }) => [id, ...values])).toEqual([
      [0, 100],
      [1, 101],
      [2, 102],
    ]);
    expect(notes).toEqual([]);
  });

  it("may be followed by a page of averages, whose rows are no results and no damage", async () => {
    const averages = [
      '"Process ID","Process Name","Host Name","Kernel Name","Invocations","gpu__time_duration.sum"\n',
      line("", "", "", "", "", "ns"),
      line("7", "8", "127.0.0.1", "gemm", "2", "150"),
    ];
    const { results, notes } = await read(Buffer.from(table([row(0)]) + averages.join("")));
    expect(idsOf(results)).toEqual([0]);
    expect(notes).toEqual(["the CSV: a summary page was skipped"]);
  });

  it("tells of a table without units, though the next one has them", async () => {
    const without = `${HEADER},"${METRIC}"\n${row(0)}`;
    const { results, notes } = await read(Buffer.from(without + table([row(1)])));
    expect(idsOf(results)).toEqual([0, 1]);
    expect(notes).toEqual([expect.stringContaining("the table has no units")]);
  });

  it("may begin with a byte order mark, in whatever pieces", async () => {
    const text = Buffer.from(`\ufeff${table([row(0)])}`);
    for (const cuts of [[], [1], [2], [1, 2, 3], [4]])
      expect(idsOf((await read(text, cuts)).results)).toEqual([0]);
  });

  it("may come in memory that is used again for what follows", async () => {
    const text = Buffer.from(table([row(0), row(1, "a longer name"), row(2)]));
    const memory = Buffer.alloc(40);
    const results: NcuResult[] = [];
    const pieces = (async function* () {
      for (let at = 0; at < text.length; at += memory.length)
        yield memory.subarray(0, text.copy(memory, 0, at));
    })();
    await streamNcuCsv(pieces, (result) => results.push(result));
    expect(idsOf(results)).toEqual([0, 1, 2]);
  });

  it("costs time in proportion to what follows it", async () => {
    const text = (lines: number) =>
      Buffer.from(table([row(0).slice(0, 20), '{"step": 1, "name": "a"\n'.repeat(lines)]));
    expect(await growth((lines) => read(text(lines)), 10_000)).toBeLessThan(30);
  });

  const PIECE = 4096;
  const inPieces = (bytes: Buffer) =>
    read(
      bytes,
      Array.from({ length: Math.floor(bytes.length / PIECE) }, (_, at) => (at + 1) * PIECE),
    );

  it.each([
    ["a line of the program that goes on and on", "\r50 %"],
    ["a row of one line that goes on and on", `${row(1).slice(0, 20)}xxxxxx`],
    [
      "a row all of whose lines look like its end",
      `${row(1).slice(0, 20)}${`${"x".repeat(9)}"\n`.repeat(900)}`,
    ],
  ])("costs time in proportion to its length, with %s", async (_, text) => {
    const bytes = (length: number) =>
      Buffer.from(
        table([row(0), text.padEnd(length, text.length > 20 ? "x" : text), `\n${row(2)}`]),
      );
    expect(idsOf((await inPieces(bytes(50_000))).results)).toEqual([0, 2]);
    expect(await growth((length) => inPieces(bytes(length)), 1_000_000)).toBeLessThan(30);
  });

  it("gives up a row beyond any length, and goes on behind its line", async () => {
    const mebibyte = Buffer.alloc(1 << 20, "x");
    const results: NcuResult[] = [];
    const pieces = (async function* () {
      yield Buffer.from(table([row(0), row(1).slice(0, 20)]));
      for (let count = 0; count < 66; count++) yield mebibyte;
      yield Buffer.from(`"\n${row(2)}`);
    })();
    const { notes } = await streamNcuCsv(pieces, (result) => results.push(result));
    expect(idsOf(results)).toEqual([0, 2]);
    expect(notes).toEqual(["the CSV: 1 damaged row was left out"]);
  });

  it("is the same in whatever pieces it comes", async () => {
    const text = Buffer.from(table([row(0, 'a"b\n,"'), row(1).slice(0, 30), `\n${row(2, "漢")}`]));
    const whole = await read(text);
    expect(idsOf(whole.results)).toEqual([0, 2]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(text.length), { maxLength: 12 }), async (cuts) => {
        expect(await read(text, cuts)).toEqual(whole);
      }),
      { numRuns: runs(100) },
    );
  });
});

const sample = samplesOrSkip("tables of ncu that were cut");

describe.skipIf(sample === null)("recorded tables that were cut", () => {
  it.each([
    "syn-raw-multiprocess-multidevice-weird-values.csv",
    "syn-raw-nvtx-grammar-18-kernels.csv",
    "details-1kernel-t4-auto-units-rules.csv",
    "raw-multi-kernel-gtx1660-ncu2022.3-kernel-time-col.csv",
  ])("%s", async (name) => {
    const whole = readFileSync(sample?.(name) ?? "");
    const all = (await read(whole)).results;
    expect(all.length).toBeGreaterThan(0);
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), async (length) => {
        const { results } = await read(whole.subarray(0, length));
        expect(idsOf(results)).toEqual(idsOf(all.slice(0, results.length)));
        // The details page tells a result row by row: the last one may lack some.
        expect(results.slice(0, -1)).toEqual(all.slice(0, Math.max(0, results.length - 1)));
      }),
      { numRuns: runs(40) },
    );
  });
});
