import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pointerTo } from "../../src/report/issue.ts";
import { positionAt, scanJson } from "../../src/report/json-positions.ts";
import { runs } from "../runs.ts";

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

describe("scanJson", () => {
  it("finds every place of any document", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const pointers = pointersOf(JSON.parse(text));
        const { offsets, syntaxError } = scanJson(text, new Set(pointers));
        expect(syntaxError).toBeNull();
        for (const pointer of pointers) {
          const offset = offsets.get(pointer) ?? -1;
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
    const piece = fc.constantFrom(
      ...'[]{}:,"\\ \n1-.eE0',
      '"a"',
      "true",
      "null",
      "tru",
      "\\u12",
      "1e5",
      "01",
      "\t",
      "\u0001",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = pieces.join("");
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        expect(scanJson(text).syntaxError === null).toBe(valid);
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
    ['["\\x"]', 1, 2, "a string with an invalid escape or a control character"],
  ])("says where %j stops being JSON", (text, line, column, message) => {
    const { syntaxError } = scanJson(text);
    expect(syntaxError?.message).toBe(message);
    expect(positionAt(text, syntaxError?.offset ?? -1)).toEqual({ line, column });
  });

  it("survives deep nesting and long strings", () => {
    const deep = "[".repeat(200_000) + "]".repeat(200_000);
    expect(scanJson(deep).syntaxError).toBeNull();
    const long = JSON.stringify(["\n".repeat(3_000_000), "x".repeat(3_000_000)]);
    expect(scanJson(long).syntaxError).toBeNull();
  });
});
