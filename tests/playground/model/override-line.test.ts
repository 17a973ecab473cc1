import fc from "fast-check";
import { expect, test } from "vitest";
import { lineWords } from "../../../src/playground/model/line-words.ts";
import {
  commandLine,
  markedPart,
  withChoice,
  wordAt,
} from "../../../src/playground/model/override-line.ts";

test.each([
  ["db=my", 5, { text: "db=my", start: 0, preceding: [] }],
  ["a=1 db=my b=2", 9, { text: "db=my", start: 4, preceding: ["a=1"] }],
  ["a=1 ", 4, { text: "", start: 4, preceding: ["a=1"] }],
  ["a='x y", 6, { text: "a=x y", start: 0, preceding: [] }],
  ["", 0, { text: "", start: 0, preceding: [] }],
])("the word of %j at %i", (line, cursor, word) => {
  expect(wordAt(line, cursor)).toEqual(word);
});

test("a mistake is marked in the line, through its quotes", () => {
  const line = "a=1 'b=x y' b=2";
  const place = { kind: "override", text: "", override: "b=x y", index: 1 } as const;
  expect(markedPart(line, { ...place, span: undefined })).toEqual([4, 11]);
  expect(markedPart(line, { ...place, span: [2, 3] })).toEqual([7, 8]);
  // At the end of a word there is nothing to mark.
  expect(markedPart(line, { ...place, span: [5, 6] })).toEqual([4, 11]);
  // After aliases the index may be another one.
  expect(markedPart(line, { ...place, index: 2, span: undefined })).toEqual([4, 11]);
  expect(markedPart(line, { ...place, override: "c", span: undefined })).toBeUndefined();
  expect(markedPart(line, { kind: "other", text: "x" })).toBeUndefined();
});

test("the copied command line has the words of the line", () => {
  const program = { words: ["python", "my train.py"], configName: "config", jobName: "x" };
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1 })), (overrides) => {
      const line = commandLine(program, { configName: "config", overrides }, false);
      const words = lineWords(line).map(({ text }) => text);
      expect(words).toEqual([...program.words, ...overrides]);
    }),
  );
  const other = { configName: "other", overrides: ["a=${b}"] };
  expect(commandLine(program, other, false)).toBe(
    "python 'my train.py' --config-name other 'a=${b}'",
  );
  expect(commandLine(program, other, true)).toBe(
    "python 'my train.py' --config-name other --multirun 'a=${b}'",
  );
});

test("a choice takes the place of the one before, and other words stay as they are typed", () => {
  expect(withChoice("a='1' db=x  +db=y b", "db", "db=z")).toBe("a='1' db=z b");
  expect(withChoice("db@b=x", "db", "db=z")).toBe("db@b=x db=z");
  expect(withChoice("", "db", "db='z'")).toBe("'db='\\''z'\\'''");
});
