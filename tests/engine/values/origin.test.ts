import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  describeOrigin,
  type FileOrigin,
  fromCode,
  lineAt,
  lineColumn,
} from "../../../src/engine/values/origin.ts";

const at = (text: string, start: number): FileOrigin => ({
  kind: "file",
  source: { name: "conf/a.yaml", text },
  start,
  end: start + 1,
});

describe("lineColumn", () => {
  it("counts lines and columns from 1", () => {
    expect(lineColumn(at("ab\ncd", 0))).toEqual({ line: 1, column: 1 });
    expect(lineColumn(at("ab\ncd", 4))).toEqual({ line: 2, column: 2 });
    expect(lineColumn(at("ab\n", 3))).toEqual({ line: 2, column: 1 });
  });

  it("knows every line break of YAML 1.1, \\r\\n being one", () => {
    const text = "a\r\nb\rc\x85d\u2028e\u2029f";
    expect(lineColumn(at(text, text.length - 1))).toEqual({ line: 6, column: 1 });
  });

  it("counts characters: an emoji is one column, a byte order mark none", () => {
    expect(lineColumn(at("\ufeff😀x", 3))).toEqual({ line: 1, column: 2 });
  });

  it("agrees with counting from the start, for every offset", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "\n", "\r\n", "é")), fc.nat(), (parts, n) => {
        const text = parts.join("");
        const before = parts.slice(0, parts.length === 0 ? 0 : n % parts.length);
        const breaks = before.filter((part) => part.endsWith("\n")).length;
        const lastBreak = before.findLastIndex((part) => part.endsWith("\n"));
        expect(lineColumn(at(text, before.join("").length))).toEqual({
          line: breaks + 1,
          column: before.length - lastBreak,
        });
      }),
    );
  });
});

describe("lineAt", () => {
  it("gives the line without its break, and where it starts", () => {
    const { source } = at("ab\r\ncd\r\n", 0);
    expect(lineAt(source, 5)).toEqual({ text: "cd", start: 4 });
    expect(lineAt(source, 8)).toEqual({ text: "", start: 8 });
  });
});

describe("describeOrigin", () => {
  it("has one line for each kind of origin", () => {
    expect(describeOrigin(at("ab\ncd", 4))).toBe("conf/a.yaml:2:2");
    expect(describeOrigin({ kind: "override", text: "db.port=1", index: 0 })).toBe(
      "override 'db.port=1'",
    );
    expect(describeOrigin({ kind: "schema", schema: "hydra" })).toBe("schema hydra");
    expect(describeOrigin(fromCode("hydra.job"))).toBe("hydra.job");
  });
});
