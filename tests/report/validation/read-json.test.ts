import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readJson } from "../../../src/report/validation/check-text.ts";
import { textOf } from "../../../src/report/validation/json-text.ts";
import { runs } from "../../runs.ts";
import { inPieces } from "../in-pieces.ts";
import { nearlyJson } from "./nearly-json.ts";

const outcome = (read: () => unknown): unknown => {
  try {
    return { value: read() };
  } catch (error) {
    return error instanceof SyntaxError ? "not JSON" : error;
  }
};

describe("readJson", () => {
  it("gives what JSON.parse gives, however the text comes and is taken apart", () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.nat(3),
        fc.integer({ min: 1, max: 9 }),
        fc.nat(30),
        (value, indent, length, part) => {
          const text = JSON.stringify(value, null, indent);
          expect(readJson(inPieces(text, length), part)).toEqual(JSON.parse(text));
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it("rejects exactly what JSON.parse rejects", () => {
    fc.assert(
      fc.property(nearlyJson, fc.integer({ min: 1, max: 3 }), fc.nat(4), (text, length, part) => {
        expect(outcome(() => readJson(inPieces(text, length), part))).toEqual(
          outcome(() => JSON.parse(text)),
        );
      }),
      { numRuns: runs(5000) },
    );
  });

  it("takes the last of equal keys, and __proto__ for a key", () => {
    const text = '{"a":[1,2],"__proto__":{"b":[3]},"a":[4]}';
    const value = readJson(textOf(text), 0) as object;
    expect(Object.entries(value)).toEqual(Object.entries(JSON.parse(text)));
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it("takes long strings, wherever they are cut", () => {
    const value = ["x".repeat(5000), '\\"'.repeat(5000)];
    const text = JSON.stringify(value);
    for (const length of [100, 101]) expect(readJson(inPieces(text, length), 50)).toEqual(value);
    const long = ["\n".repeat(8_000_000)];
    expect(readJson(textOf(JSON.stringify(long)))).toEqual(long);
  });

  it("refuses large documents that are deeper than any report", () => {
    const deep = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect(readJson(textOf(deep(80)), 10)).toEqual(JSON.parse(deep(80)));
    expect(() => readJson(textOf(deep(1_000_000)))).toThrow(/^nested more than 100 deep$/);
    expect(() => readJson(textOf("\0".repeat(2_000_000)))).toThrow(SyntaxError);
  });
});
