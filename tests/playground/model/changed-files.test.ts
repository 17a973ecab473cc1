import fc from "fast-check";
import { expect, test } from "vitest";
import {
  conflictsOf,
  editable,
  editsOf,
  withLineEnds,
  withRead,
  withSaved,
  withText,
} from "../../../src/playground/model/changed-files.ts";

const A = { path: "a.yaml", text: "a: 1\n", version: "a1" };
const B = { path: "b.yaml", text: "b: 1\n", version: "b1" };
const edited = { files: [A, B], edits: { "a.yaml": { text: "a: 2\n", version: "a1" } } };

test("an edit keeps the version that it began with, whatever is read since", () => {
  const changed = { ...A, text: "a: theirs\n", version: "a2" };
  const read = withRead(edited, [changed, B]);
  expect(read).toEqual({ files: [changed, B], edits: edited.edits });
  expect(conflictsOf(read.edits, [changed, B])).toEqual(["a.yaml"]);
  expect(withText(read, "a.yaml", "a: 3\n")).toEqual({
    "a.yaml": { text: "a: 3\n", version: "a1" },
  });
  // What is typed after a revert begins with what is on the disk.
  const reverted = { ...read, edits: {} };
  expect(withText(reverted, "a.yaml", "a: 3\n")).toEqual({
    "a.yaml": { text: "a: 3\n", version: "a2" },
  });
});

test("an edit of a file that is gone stays, with its file", () => {
  const read = withRead(edited, [B]);
  expect(read).toEqual(edited);
  expect(conflictsOf(read.edits, [B])).toEqual(["a.yaml"]);
  // Read again it is the same, and without the edit it is gone.
  expect(withRead(read, [B])).toEqual(edited);
  expect(withRead({ ...read, edits: {} }, [B])).toEqual({ files: [B], edits: {} });
});

test("an edit that is on the disk as well is none", () => {
  const same = { ...A, text: "a: 2\n", version: "a2" };
  expect(withRead(edited, [same, B])).toEqual({ files: [same, B], edits: {} });
  expect(withText(edited, "a.yaml", A.text)).toEqual({});
});

test("what is typed during a save is an edit of what was saved", () => {
  const saved = { path: "a.yaml", text: "a: 2\n", version: "a2" };
  expect(withSaved(edited, saved)).toEqual({ files: [saved, B], edits: {} });
  const typed = { ...edited, edits: { "a.yaml": { text: "a: 23\n", version: "a1" } } };
  expect(withSaved(typed, saved)).toEqual({
    files: [saved, B],
    edits: { "a.yaml": { text: "a: 23\n", version: "a2" } },
  });
});

test("edits of other trees are left out", () => {
  const edits = { ...edited.edits, "other.yaml": { text: "x", version: "x" } };
  expect(editsOf([A, B], edits)).toEqual(edited.edits);
  expect(withText(edited, "other.yaml", "x")).toEqual(edited.edits);
});

const lines = fc.array(fc.constantFrom("a: 1", "b: 2", "c: 3", ""), { minLength: 1, maxLength: 6 });

test("an edit is written with the line ends of its file", () => {
  const ends = fc.array(fc.constantFrom("\n", "\r\n", "\r"), { minLength: 6, maxLength: 6 });
  fc.assert(
    fc.property(lines, ends, lines, (old, endings, edited) => {
      const last = old.length - 1;
      const file = old.map((line, at) => (at === last ? line : line + endings[at])).join("");
      // What is not changed stays as it is, to the byte.
      expect(withLineEnds(editable(file), file)).toBe(file);
      const text = edited.join("\n");
      expect(editable(withLineEnds(text, file))).toBe(text);
    }),
  );
  fc.assert(
    fc.property(lines, lines, fc.constantFrom("\n", "\r\n", "\r"), (old, edited, end) => {
      const file = `first${end}${old.join(end)}`;
      expect(withLineEnds(edited.join("\n"), file)).toBe(edited.join(end));
    }),
  );
});

test("in a file with several kinds of line ends only the changed lines get the most frequent", () => {
  const file = "a: 1\r\nb: 2\nc: 3\r\nd: 4\n";
  expect(withLineEnds("a: 1\nb: 2\nnew: 1\nc: 30\nd: 4\n", "a: 1\r\nb: 2\nc: 3\r\nd: 4\r\n")).toBe(
    "a: 1\r\nb: 2\nnew: 1\r\nc: 30\r\nd: 4\r\n",
  );
  expect(withLineEnds("a: 1\nb: 5\nc: 3\nd: 4\n", file)).toBe("a: 1\r\nb: 5\nc: 3\r\nd: 4\n");
});

test("a file with CRLF is not changed by being opened", () => {
  const files = [{ ...A, text: "a: 1\r\n" }, B];
  expect(withText({ files, edits: {} }, "a.yaml", "a: 1\n")).toEqual({});
  expect(editsOf(files, { "a.yaml": { text: "a: 1\n", version: "a1" } })).toEqual({});
  const edits = withText({ files, edits: {} }, "a.yaml", "a: 2\n");
  const saved = { path: "a.yaml", text: "a: 2\r\n", version: "a2" };
  expect(withSaved({ files, edits }, saved)).toEqual({ files: [saved, B], edits: {} });
});
