/** How files and functions introduce themselves: a sentence on top of each file, and names that say what they hold. */
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { pointingNames } from "../../scripts/measures.mjs";
import { listFiles } from "./files.ts";

const SOURCES = fileURLToPath(new URL("../../src", import.meta.url));
const sources = listFiles(SOURCES, ".ts").map((file) => ({
  name: relative(SOURCES, file),
  text: readFileSync(file, "utf8"),
}));

it("every file says in its first lines what it is, or what made it", () => {
  const silent = sources.filter(({ text }) => !/^(?:\/\*\*|\/\/ Made by )/.test(text));
  expect(silent.map(({ name }) => name)).toEqual([]);
});

// The files of src have none: a measure of scripts/measures.mjs, with its bound in measures.test.ts.
describe("names that only point", () => {
  it.each([
    ["export function f(at: number) {}", ["1: at"]],
    ["const f = (of: string) => (known = 1) => of;", ["1: of", "1: known"]],
    ["const f = async function (one) {\n  const { own } = one;\n};", ["1: one", "2: own"]],
    ["for (const [at, { given: value }] of list.entries()) use(at, value);", ["1: at"]],
    ["function given() {}", ["1: given"]],
    ["interface List { at(index: number): string; readonly of: string }", []],
    ["const list = { at: (index: number) => index }; list.at(1);", []],
    ["const f = ({ before: text }: Pair, place: Place) => text;", []],
  ])("are found in %s", (text, expected) => {
    expect(pointing(text)).toEqual(expected);
  });

  it("are not those of a pair of before and after in one function", () => {
    expect(pointing("const f = (before: Node, after: Node) => [before, after];")).toEqual([]);
    expect(pointing("const f = (before) => (after) => [before, after];")).toEqual([]);
    expect(pointing("const f = (before) => before;\nconst g = (after) => after;")).toEqual([
      "1: before",
    ]);
  });
});

const pointing = (text: string): readonly string[] =>
  pointingNames(ts.createSourceFile("file.ts", text, ts.ScriptTarget.Latest));
