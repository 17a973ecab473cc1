import { describe, expect, it } from "vitest";
import type { OverrideFunction, ParserRule } from "../../src/overrides/index.ts";
import { FUNCTIONS, parseOverride, parseRule } from "../../src/overrides/index.ts";
import { errorOf } from "./plain.ts";

describe("parseRule", () => {
  it.each<[ParserRule, string, object | string]>([
    ["key", "db/x@pkg=1", { keyOrGroup: "db/x", package: "pkg" }],
    ["package", "a.b/c", "a.b"],
    ["packageOrGroup", "a/b", "a/b"],
    ["value", " a b ", { kind: "scalar", value: "a b" }],
    ["element", "a,b", { kind: "scalar", value: "a" }],
    ["primitive", "1]", { kind: "scalar", value: 1n }],
    ["simpleChoiceSweep", "a,b", { kind: "choice", simple: true }],
    ["listContainer", "[1]x", { kind: "list" }],
    ["dictContainer", "{a:1}", { kind: "dict" }],
    ["function", "int('1')", { kind: "scalar", value: 1n }],
  ])("%s reads the beginning of %j", (rule, text, expected) => {
    const result = parseRule(text, rule);
    if (typeof expected === "string") expect(result).toBe(expected);
    else expect(result).toMatchObject(expected);
  });

  it.each<[ParserRule, string]>([
    ["primitive", "   "],
    ["primitive", ""],
    ["simpleChoiceSweep", "a"],
    ["function", "f"],
    ["key", "/a"],
    ["listContainer", "{}"],
  ])("%s refuses %j", (rule, text) => {
    expect(errorOf(() => parseRule(text, rule)).code).toBe("override.syntax");
  });
});

describe("another set of functions", () => {
  const answer: OverrideFunction = {
    name: "answer",
    parameters: { named: [] },
    evaluate: (_args, { span }) => ({ kind: "scalar", value: 42n, span }),
  };

  it("is used in place of Hydra's", () => {
    const functions = new Map([...FUNCTIONS, [answer.name, answer]]);
    expect(parseOverride("key=answer()", 0, { functions }).value).toMatchObject({ value: 42n });
    const { details } = errorOf(() => parseOverride("key=anser()", 0, { functions }));
    expect(details.nearest).toBe("answer");
    expect(errorOf(() => parseOverride("key=answer()")).code).toBe("override.function");
  });
});

describe("the token behind what a rule reads", () => {
  it.each<[ParserRule, string]>([
    ["key", "a/b@c(d"],
    ["key", "a%"],
    ["function", "int([1])`"],
    ["primitive", "'a''"],
    ["primitive", "'a'\n"],
    ["listContainer", "[1]é"],
    ["dictContainer", "{a:1}#"],
    ["value", "{a:1}'b"],
  ])("must be one: %s refuses %j", (rule, text) => {
    expect(errorOf(() => parseRule(text, rule)).code).toBe("override.syntax");
  });

  it("need not fit", () => {
    expect(parseRule("a=1", "key")).toMatchObject({ keyOrGroup: "a" });
    expect(parseRule("[1]'b'`", "listContainer")).toMatchObject({ kind: "list" });
  });
});

it("quotes what cannot be cast as Python does", () => {
  expect(() => parseRule("int('a\\b')", "function")).toThrow("'a\\\\b' is not an int");
});
