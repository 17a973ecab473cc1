import { expect, test } from "vitest";
import {
  conflictsOf,
  editsOf,
  withRead,
  withSaved,
  withText,
} from "../../../src/playground/model/edits.ts";

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
