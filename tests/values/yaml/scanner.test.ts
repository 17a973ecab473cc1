import { describe, expect, it } from "vitest";
import { createScanner } from "../../../src/values/yaml/scanner.ts";

/** Token types of a text; scalars by their value. */
function tokens(text: string): readonly string[] {
  const scanner = createScanner({ name: "test", text });
  const found: string[] = [];
  for (;;) {
    const token = scanner.next();
    if (token.type === "<stream end>") return found;
    found.push(token.type === "<scalar>" ? `=${token.value}` : token.type);
  }
}

const MAP = "<block mapping start>";
const LIST = "<block sequence start>";
const END = "<block end>";

describe("createScanner", () => {
  it("puts the key in front of a scalar once its colon is found", () => {
    expect(tokens("a: 1")).toEqual([MAP, "?", "=a", ":", "=1", END]);
  });

  it("closes blocks by indentation", () => {
    expect(tokens("a:\n  - x\nb: y")).toEqual([
      ...[MAP, "?", "=a", ":", LIST, "-", "=x", END],
      ...["?", "=b", ":", "=y", END],
    ]);
  });

  it("ignores indentation inside brackets", () => {
    expect(tokens("a: [\n1,\n2]")).toEqual([
      ...[MAP, "?", "=a", ":", "[", "=1", ",", "=2", "]", END],
    ]);
  });

  it("takes ? and : for indicators inside brackets, whatever follows", () => {
    expect(tokens("[?a, b]")).toEqual(["[", "?", "=a", ",", "=b", "]"]);
    expect(tokens('{"a":b}')).toEqual(["{", "?", "=a", ":", "=b", "}"]);
    expect(tokens("?a")).toEqual(["=?a"]);
  });

  it.each(["\n", "\r\n", "\r", "\x85", "\u2028", "\u2029"])(
    "takes %j for a line break",
    (lineBreak) => {
      expect(tokens(`a: 1${lineBreak}b: 2`)).toEqual(tokens("a: 1\nb: 2"));
    },
  );

  it("accepts implicit keys of 1024 characters and no more", () => {
    expect(tokens(`${"k".repeat(1024)}: 1`)).toHaveLength(6);
    expect(() => tokens(`${"k".repeat(1025)}: 1`)).toThrow("mapping values are not allowed here");
    // Characters, not UTF-16 units.
    expect(tokens(`${"😀".repeat(1024)}: 1`)).toHaveLength(6);
  });

  it("keeps the text of tokens that it was not asked for unread", () => {
    const scanner = createScanner({ name: "test", text: "a\n--- @" });
    expect(scanner.next()).toMatchObject({ type: "<scalar>", value: "a" });
    expect(scanner.next().type).toBe("<document start>");
    expect(() => scanner.next()).toThrow("cannot start any token");
  });
});
