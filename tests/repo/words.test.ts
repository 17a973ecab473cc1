/** How files and functions introduce themselves: a sentence on top of each file, and parameters named after what they are. */
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { listFiles } from "./files.ts";

const SOURCES = fileURLToPath(new URL("../../src", import.meta.url));
const sources = listFiles(SOURCES, ".ts").map((file) => ({
  name: relative(SOURCES, file),
  text: readFileSync(file, "utf8"),
}));

it("every file says in its first lines what it is", () => {
  const silent = sources.filter(({ text }) => !text.startsWith("/**"));
  expect(silent.map(({ name }) => name)).toEqual([]);
});

/** Words that point at something and do not say what it is. */
const POINTING = new Set(["of", "at", "one", "own", "known", "given", "before"]);

type AnyFunction = ts.FunctionDeclaration | ts.ArrowFunction | ts.FunctionExpression;

/** The functions that a file exports, and those that they return at once. */
function exportedFunctions(text: string): readonly AnyFunction[] {
  const { statements } = ts.createSourceFile("file.ts", text, ts.ScriptTarget.Latest);
  return statements.flatMap((statement): readonly AnyFunction[] => {
    if (!ts.canHaveModifiers(statement)) return [];
    const modifiers = ts.getModifiers(statement) ?? [];
    if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    if (ts.isFunctionDeclaration(statement)) return [statement];
    if (!ts.isVariableStatement(statement)) return [];
    return statement.declarationList.declarations.flatMap(({ initializer }) =>
      curried(initializer),
    );
  });
}

function curried(value: ts.Node | undefined): readonly AnyFunction[] {
  if (value === undefined || !(ts.isArrowFunction(value) || ts.isFunctionExpression(value)))
    return [];
  return [value, ...curried(value.body)];
}

const pointingParameters = (text: string): readonly string[] =>
  exportedFunctions(text).flatMap(({ parameters }) =>
    parameters.flatMap(({ name }) =>
      ts.isIdentifier(name) && POINTING.has(name.text) ? [name.text] : [],
    ),
  );

describe("parameters of exported functions", () => {
  it("are named after what they are", () => {
    const pointing = sources.flatMap(({ name, text }) =>
      pointingParameters(text).map((parameter) => `${name}: ${parameter}`),
    );
    expect(pointing).toEqual([]);
  });

  it.each([
    ["export function f(at: number) {}", ["at"]],
    ["export const f = (of: string) => (known = 1) => of;", ["of", "known"]],
    ["export const f = async function (one) {};", ["one"]],
    ["const f = (own: string) => own;", []],
    ["export const f = ({ before }: Pair, place: Place) => before;", []],
  ])("are found in %s", (text, expected) => {
    expect(pointingParameters(text)).toEqual(expected);
  });
});
