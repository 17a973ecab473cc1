import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvRecord } from "../../../src/foundation/text/csv-records.ts";
import { anyName } from "../../report/bundles.ts";
import { readCsv } from "../../report/read-csv.ts";
import { runs } from "../../runs.ts";

/** As docs/reports.md says. */
const unescaped = (cell: string): string =>
  cell
    .replace(/^'(?=[=+\-@])/, "")
    .replaceAll(/\\(?:u\{([0-9a-f]+)\}|([nrt]))/g, (_, hex?: string, name?: string) =>
      hex === undefined
        ? ({ n: "\n", r: "\r", t: "\t" }[name ?? ""] ?? "")
        : String.fromCodePoint(Number.parseInt(hex, 16)),
    );

describe("a record of CSV", () => {
  it("keeps the borders of its cells", () => {
    expect(csvRecord(["a,b", 'c"d', "e\nf", "g"])).toBe('"a,b","c""d",e\\nf,g');
    expect(csvRecord([0.5, null, "", -1])).toBe("0.5,,,-1");
  });

  it("lets no text become a formula", () => {
    expect(csvRecord(["=1+1", "@SUM(A1)", "-cmd", "+x", "\tx", "a=b"])).toBe(
      "'=1+1,'@SUM(A1),'-cmd,'+x,\\tx,a=b",
    );
    expect(csvRecord(["-1+cmd", '=A1,"x"'])).toBe('\'-1+cmd,"\'=A1,""x"""');
  });

  it("takes numbers with a sign for numbers", () => {
    expect(csvRecord(["-0.1", "+3", "-1e-5", "-.5", "-2.", "-inf"])).toBe(
      "-0.1,+3,-1e-5,-.5,-2.,-inf",
    );
  });

  it("has no raw control characters, and different cells for different texts", () => {
    const odd = ["a\x00b", "\x1b[31mred\x1b[0m", "a\r\nb", "\x7f\x80\x9b", "\u202e", "\ufeff=1"];
    expect(csvRecord(odd)).toBe(
      "a\\u{0}b,\\u{1b}[31mred\\u{1b}[0m,a\\r\\nb,\\u{7f}\\u{80}\\u{9b},\\u{202e},\\u{feff}=1",
    );
    expect(csvRecord(["a\\b", "a\\nb", "a\\\nb", "\\u{1b}"])).toBe(
      "a\\b,a\\u{5c}nb,a\\\\nb,\\u{5c}u{1b}",
    );
    const pieces = fc.constantFrom("\\", "n", "u{", "1b", "5c", "}", "\n", "\x1b", ",", '"', "a");
    const any = fc.oneof(
      anyName,
      fc.array(pieces).map((all) => all.join("")),
    );
    fc.assert(
      fc.property(any, (text) => {
        const record = csvRecord([text, "end"]);
        expect(record).toMatch(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+$/u);
        expect(readCsv(`${record}\r\n`)[0]?.map(unescaped)).toEqual([
          text.replace(/^'(?=[=+\-@])/, ""),
          "end",
        ]);
      }),
      { numRuns: runs(300) },
    );
  });
});
