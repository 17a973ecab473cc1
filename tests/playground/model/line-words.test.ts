import fc from "fast-check";
import { expect, test } from "vitest";
import { shellCommand } from "../../../src/foundation/text/shell-words.ts";
import { lineWord, lineWords } from "../../../src/playground/model/line-words.ts";

test("the words of a quoted command line are those that were quoted", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme", minLength: 1 })), (words) => {
      expect(lineWords(shellCommand(words)).map(({ text }) => text)).toEqual(words);
      expect(lineWords(words.map(lineWord).join(" ")).map(({ text }) => text)).toEqual(words);
    }),
  );
});

test.each([
  ["", []],
  ["  ", []],
  ["a=1  b=2 ", ["a=1", "b=2"]],
  ["x=${y} lr=choice(1,2) a=$b;c|d", ["x=${y}", "lr=choice(1,2)", "a=$b;c|d"]],
  ["x='a b' y=\"c 'd'\"", ["x=a b", "y=c 'd'"]],
  ["x='' y", ["x=", "y"]],
  ["x=\\'a\\' y=a\\ b", ["x='a'", "y=a b"]],
  ["x='open until the end", ["x=open until the end"]],
  ['x="\\"\\n"', ['x="\\n']],
  ["x=\\", ["x=\\"]],
])("the words of %j", (line, words) => {
  expect(lineWords(line).map(({ text }) => text)).toEqual(words);
});

test("each character of a word has its place in the line", () => {
  const line = "a 'b c'=\"d\" e\\ f";
  for (const { end, offsets, start, text } of lineWords(line)) {
    expect(offsets).toHaveLength(text.length + 1);
    expect([...text].every((char, at) => line[offsets[at] ?? -1] === char)).toBe(true);
    expect(offsets.at(-1)).toBe(end);
    expect(start).toBeLessThanOrEqual(offsets[0] ?? end);
  }
});
