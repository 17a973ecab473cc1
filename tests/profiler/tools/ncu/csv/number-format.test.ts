import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { NcuResult } from "../../../../../src/profiler/model/counters.ts";
import {
  C_FORMAT,
  type NumberFormat,
  numberFormatOf,
} from "../../../../../src/profiler/tools/ncu/csv/number-format.ts";
import { streamNcuCsv } from "../../../../../src/profiler/tools/ncu/csv/read-csv.ts";
import { runs } from "../../../../runs.ts";

const HEADER = `"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","time","count","text"`;
const UNITS = `"","","","","","","","","","","","nsecond","","unit"`;

async function* bytesOf(text: string | Buffer) {
  yield Buffer.from(text);
}

/** The table of a metric with the unit of a time, and of one without a unit. */
async function read(
  cells: readonly (readonly [time: string, count: string])[],
  format?: NumberFormat,
) {
  const rows = cells.map(
    ([time, count], id) =>
      `"${id}","7","app","h","k","1","7","(1, 1, 1)","(1, 1, 1)","0","8.0","${time}","${count}",""`,
  );
  const results: NcuResult[] = [];
  const { isIncomplete, notes } = await streamNcuCsv(
    bytesOf(`${[HEADER, UNITS, ...rows].join("\n")}\n`),
    (result) => results.push(result),
    { name: "a.csv", ...(format && { format }) },
  );
  return { isIncomplete, notes, values: results.map(({ values }) => [...values].slice(0, 2)) };
}

describe("numbers of other locales", () => {
  test.each([
    ["French", "1\u202f500,25", "2,500"],
    ["Swedish, Czech, Russian", "1\u00a0500,25", "2,500"],
    ["Polish in a spreadsheet", "1 500,25", "2,500"],
    ["with thin blanks", "1\u2009500,25", "2,500"],
    ["Swiss", "1\u2019500.25", "2.500"],
    ["Swiss in ASCII", "1'500.25", "2.500"],
    ["German", "1.500,25", "2,500000"],
    ["English", "1,500.25", "2.500000"],
    ["Indian", "12,01,500.25", "2.500000"],
    ["Arabic", "\u0661\u066c\u0665\u0660\u0660\u066b\u0662\u0665", "\u0662\u066b\u0665"],
  ])("are read as they are grouped: %s", async (_, long, short) => {
    const { notes, values } = await read([
      [long, "1"],
      [short, "1"],
    ]);
    expect([values[0]?.[0], values[1]?.[0], notes]).toEqual([
      long.startsWith("12") ? 1_201_500.25 : 1500.25,
      2.5,
      [],
    ]);
  });

  it("are read where a blank or apostrophe is a byte of a code page", async () => {
    const text = `${[HEADER, UNITS].join("\n")}\n"0","7","app","h","k","1","7","","","0","8.0","1#500,25","2,5",""\n`;
    const bytes = Buffer.from(text);
    bytes[bytes.indexOf("#")] = 0xa0;
    const results: NcuResult[] = [];
    await streamNcuCsv(bytesOf(bytes), (result) => results.push(result));
    expect([...(results[0]?.values ?? [])].slice(0, 2)).toEqual([1500.25, 2.5]);
  });

  test.each([
    ["1.5E3", 1500],
    ["1.5e+03", 1500],
    ["1,5E3", 1500],
    ["1.234E+02", 123.4],
    ["15E-1", 1.5],
  ])("may have an exponent: %s", async (text, value) => {
    expect((await read([[text, "1"]])).values[0]?.[0]).toBe(value);
  });

  it("are those of the file's other numbers, and of C where there are none", async () => {
    expect((await read([["1.234", "1"]])).values).toEqual([[1.234, 1]]);
    expect((await read([["1.234", "1.234.567"]])).values).toEqual([[1234, 1_234_567]]);
    expect((await read([["1.234", "0,5"]])).values).toEqual([[1234, 0.5]]);
    expect((await read([["2,500", "50.00"]])).values).toEqual([[2500, 50]]);
    expect((await read([["2,500", "1\u202f000"]])).values).toEqual([[2.5, 1000]]);
  });

  it("are never what a format does not have: such cells are counted, the first one shown", async () => {
    const { isIncomplete, notes, values } = await read([
      ["1,234", "1"],
      ["5,678", "1"],
    ]);
    expect(values).toEqual([
      [Number.NaN, 1],
      [Number.NaN, 1],
    ]);
    expect(notes).toEqual([
      "a.csv: 2 numbers like 1.234 were left out: whether they are grouped or have decimals depends on the locale of the ncu that printed them (--locale); the first is '1,234' (time of result 0)",
    ]);
    expect(isIncomplete).toBe(false);
  });

  it("are written as their locale does", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(
          ...["en", "de", "fr", "sv", "cs", "pl", "ru", "de-CH", "fr-CH", "hi", "es", "pt-BR"],
          ...["ar-EG", "fa", "nb", "it-CH", "en-ZA", "bn"],
        ),
        fc.integer({ min: 0, max: 2 ** 40 }),
        async (locale, number) => {
          const format = numberFormatOf(locale);
          expect(format).not.toBeNull();
          const written = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 }).format(
            number / 100,
          );
          const { values } = await read([[written, "1"]], format ?? C_FORMAT);
          expect([locale, written, values[0]?.[0]]).toEqual([locale, written, number / 100]);
        },
      ),
      { numRuns: runs(50) },
    );
  });
});

describe("cells that cannot be read", () => {
  it("are counted, the first one with its place", async () => {
    const { isIncomplete, notes, values } = await read([
      ["1.5x3", "2"],
      ["12..5", "1 2"],
      ["7", "8"],
    ]);
    expect(values).toEqual([
      [Number.NaN, 2],
      [Number.NaN, Number.NaN],
      [7, 8],
    ]);
    expect(notes).toEqual([
      "a.csv: 3 numbers could not be read, and are missing; the first is '1.5x3' (time of result 0)",
    ]);
    expect(isIncomplete).toBe(false);
  });

  test.each(["", "n/a", "nan", "-inf", "N/A"])(
    "are not those without a number: '%s'",
    async (text) => {
      expect((await read([[text, text]])).notes).toEqual([]);
    },
  );

  it("are not texts of a metric without a unit", async () => {
    expect((await read([["1", "CachePreferNone"]])).notes).toEqual([]);
  });

  test.each([
    ["-1500", "is negative"],
    ["18446744073709551615", "2^64 - 1"],
    ["18,446,744,073,709,551,615", "grouped"],
  ])("are times that cannot be true: %s (%s)", async (text) => {
    const { isIncomplete, notes, values } = await read([[text, "-3"]]);
    expect(values).toEqual([[Number.NaN, -3]]);
    expect(notes).toEqual([
      `a.csv: 1 time cannot be true, and is missing: no time is negative; it is '${text}' (time of result 0)`,
    ]);
    expect(isIncomplete).toBe(true);
  });
});

describe("the format of a locale", () => {
  test.each([
    ["C", { group: "", decimal: "." }],
    ["POSIX", { group: "", decimal: "." }],
    ["C.UTF-8", { group: "", decimal: "." }],
    ["en", { group: ",", decimal: "." }],
    ["de", { group: ".", decimal: "," }],
    ["de_DE.UTF-8", { group: ".", decimal: "," }],
    ["de_DE@euro", { group: ".", decimal: "," }],
    ["fr", { group: "\u202f", decimal: "," }],
  ])("%s", (name, format) => {
    expect(numberFormatOf(name)).toEqual(format);
  });

  test.each(["xx", "english", "", "de-", "?"])("is not known of '%s'", (name) => {
    expect(numberFormatOf(name)).toBeNull();
  });
});
