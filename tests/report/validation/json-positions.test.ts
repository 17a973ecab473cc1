import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scanJson, type TextPosition } from "../../../src/report/validation/json-positions.ts";
import { textOf } from "../../../src/report/validation/json-text.ts";
import { pointerTo } from "../../../src/report/validation/report-rules.ts";
import { runs } from "../../runs.ts";
import { inPieces } from "../in-pieces.ts";
import { nearlyJson } from "./nearly-json.ts";

/** Every pointer of a JSON value. */
function pointersOf(value: unknown, at = ""): string[] {
  if (typeof value !== "object" || value === null) return [at];
  const inside = Object.entries(value).flatMap(([key, child]) =>
    pointersOf(child, pointerTo(at, key)),
  );
  return [at, ...inside];
}

function valueAt(value: unknown, pointer: string): unknown {
  if (pointer === "") return value;
  return pointer
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((at, token) => (at as Record<string, unknown>)[token], value);
}

function offsetOf(text: string, position: TextPosition | undefined): number {
  const { line, column } = position ?? { line: 0, column: 0 };
  const lines = text.split("\n").slice(0, line - 1);
  return lines.reduce((sum, before) => sum + before.length + 1, 0) + column - 1;
}

describe("scanJson", () => {
  it("finds every place of any document", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(3), fc.nat(9), (value, indent, length) => {
        const text = JSON.stringify(value, null, indent);
        const pointers = pointersOf(JSON.parse(text));
        const whole = inPieces(text, length + 1);
        const { positions, syntaxError } = scanJson(whole, new Set(pointers));
        expect(syntaxError).toBeNull();
        for (const pointer of pointers) {
          const offset = offsetOf(text, positions.get(pointer));
          const found = valueAt(JSON.parse(text), pointer);
          const key = JSON.stringify(pointer.split("/").at(-1) ?? "");
          const rest = text.slice(offset);
          // A member is found by its key, anything else by its value.
          const byKey = rest.startsWith(key.replaceAll("~1", "/").replaceAll("~0", "~"));
          expect(byKey || rest.startsWith(JSON.stringify(found)[0] ?? "")).toBe(true);
        }
      }),
    );
  });

  it("rejects exactly what JSON.parse rejects", () => {
    fc.assert(
      fc.property(nearlyJson, fc.nat(4), (text, length) => {
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        const { syntaxError } = scanJson(inPieces(text, length + 1));
        expect(syntaxError === null).toBe(valid);
        // However it comes in pieces, the place and the words are the same.
        expect(syntaxError).toEqual(scanJson(textOf(text)).syntaxError);
      }),
      { numRuns: runs(5000) },
    );
  });

  it.each([
    ['{"a": 1,\n "b": }', 2, 7, "expected a value"],
    ["[1,\n2,\n]", 3, 1, "expected a value"],
    ['{"a": 1,}', 1, 9, "expected a key in double quotes"],
    ['{"a" 1}', 1, 6, "expected a colon after the key"],
    ["[1 2]", 1, 4, "expected a comma or the end of the array"],
    ["{} x", 1, 4, "text after the end of the document"],
    ['{"a": [', 1, 8, "the text ends too early"],
    ["", 1, 1, "the text ends too early"],
    ['["a\nb"]', 1, 2, "a string that does not end on its line"],
    ["tru", 1, 1, "expected a value"],
    ["[1é]", 1, 3, "expected a comma or the end of the array"],
    ['["\\x"]', 1, 2, "a string with an invalid escape or a control character"],
  ])("says where %j stops being JSON", (text, line, column, message) => {
    expect(scanJson(textOf(text)).syntaxError).toEqual({ line, column, message });
  });

  it("survives deep nesting and long strings", () => {
    const deep = "[".repeat(200_000) + "]".repeat(200_000);
    expect(scanJson(textOf(deep)).syntaxError).toBeNull();
    const { positions } = scanJson(textOf(deep), new Set(["", "/0/0", "/0/1"]));
    expect([...positions]).toEqual([
      ["", { line: 1, column: 1 }],
      ["/0/0", { line: 1, column: 3 }],
    ]);
    const long = JSON.stringify(["\n".repeat(8_000_000), "x".repeat(3_000_000)]);
    expect(scanJson(textOf(long)).syntaxError).toBeNull();
    for (const [text, message] of [
      [`["${"x".repeat(3_000_000)}\\x"]`, "a string with an invalid escape or a control character"],
      [`["${"x".repeat(3_000_000)}\n"]`, "a string that does not end on its line"],
      [`["${"x".repeat(3_000_000)}`, "a string that does not end on its line"],
    ] as const)
      expect(scanJson(textOf(text)).syntaxError).toEqual({ line: 1, column: 2, message });
  });
});
