import { describe, expect, it } from "vitest";
import { errorOf } from "../engine/overrides/plain.ts";
import { type ParserRule, parseRule } from "./parse-rule.ts";

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
