import { describe, expect, it } from "vitest";
import { createScanner } from "../../../../src/engine/values/yaml/scanner.ts";

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

  it.each(["lr:0.1\nepochs: 3", "lr 0.1\nepochs: 3"])(
    "points at the mistake in %j, and says where PyYAML stopped",
    (text) => {
      expect(() => tokens(text)).toThrow(
        expect.objectContaining({
          message: "mapping values are not allowed here (line 2)",
          details: expect.objectContaining({ origin: expect.objectContaining({ start: 0 }) }),
        }),
      );
    },
  );

  it("accepts implicit keys of 1024 characters and no more", () => {
    expect(tokens(`${"k".repeat(1024)}: 1`)).toHaveLength(6);
    expect(() => tokens(`${"k".repeat(1025)}: 1`)).toThrow("mapping values are not allowed here");
    // Characters, not UTF-16 units.
    expect(tokens(`${"😀".repeat(1024)}: 1`)).toHaveLength(6);
  });

  it.each([
    ["!!%73tr", { handle: "!!", suffix: "str" }],
    ["!%C3%A9x%20", { handle: "!", suffix: "éx " }],
    ["!<%74ag:yaml.org,2002:int>", { handle: null, suffix: "tag:yaml.org,2002:int" }],
    ["!e!%69nt", { handle: "!e!", suffix: "int" }],
  ])("reads the escapes of the tag %s", (text, tag) => {
    expect(createScanner({ name: "test", text: `${text} x` }).next()).toMatchObject(tag);
  });

  // In PyYAML's words, the character that is none of what is wanted included.
  it.each([
    [
      "!!%7 x",
      "while scanning a tag",
      "expected URI escape sequence of 2 hexadecimal numbers, but found ' '",
    ],
    [
      "!!%zz x",
      "while scanning a tag",
      "expected URI escape sequence of 2 hexadecimal numbers, but found 'z'",
    ],
    ["!!%ff x", "while scanning a tag", "the escaped bytes are not UTF-8"],
    ["!<a x", "while parsing a tag", "expected '>', but found ' '"],
    ["!a^ x", "while scanning a tag", "expected ' ', but found '^'"],
    ["!<> x", "while parsing a tag", "expected URI, but found '>'"],
    ["%TAG e tag:x:\n---\n", "while scanning a directive", "expected '!', but found 'e'"],
    ["%TAG !e tag:x:\n---\n", "while scanning a directive", "expected '!', but found ' '"],
    ["%TAG !e! %7\n---\n", "while scanning a directive", "2 hexadecimal numbers, but found '\\n'"],
    ["%TAG !e! ^\n---\n", "while parsing a directive", "expected URI, but found '^'"],
    ["%TAG !e! tag:x:^\n---\n", "while scanning a directive", "expected ' ', but found '^'"],
    [
      "%YAML 1.1 x\n---\n",
      "while scanning a directive",
      "expected a comment or a line break, but found 'x'",
    ],
    ["%YAML 1x\n---\n", "while scanning a directive", "expected a digit or '.', but found 'x'"],
    ["%YAML x\n---\n", "while scanning a directive", "expected a digit, but found 'x'"],
    ["%YAML 1.\n---\n", "while scanning a directive", "expected a digit, but found '\\n'"],
  ])("says what is wrong with %j", (text, context, problem) => {
    expect(() => tokens(text)).toThrow(context);
    expect(() => tokens(text)).toThrow(problem);
  });

  it("keeps the text of tokens that it was not asked for unread", () => {
    const scanner = createScanner({ name: "test", text: "a\n--- @" });
    expect(scanner.next()).toMatchObject({ type: "<scalar>", value: "a" });
    expect(scanner.next().type).toBe("<document start>");
    expect(() => scanner.next()).toThrow("cannot start any token");
  });
});
