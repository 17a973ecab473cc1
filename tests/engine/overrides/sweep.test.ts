import { describe, expect, it } from "vitest";
import {
  globMatches,
  isEndless,
  isSweep,
  parseOverride,
  type SweepOptions,
  sweepStrings,
} from "../../../src/engine/overrides/index.ts";
import { errorOf } from "./plain.ts";

const strings = (text: string, options: SweepOptions = {}): readonly string[] => [
  ...sweepStrings(parseOverride(text), options),
];

describe("isSweep", () => {
  it.each(["key=a,b", "key=choice(a)", "key=range(3)", "key=glob(*)", "~key=interval(0,1)"])(
    "%s is one",
    (text) => expect(isSweep(parseOverride(text))).toBe(true),
  );

  it.each(["key=a", "~key", "key=[a,b]", "key=[choice(a,b)]", "key='a,b'", "key=shuffle([1])"])(
    "%s is none",
    (text) => expect(isSweep(parseOverride(text))).toBe(false),
  );
});

describe("sweepStrings", () => {
  it.each<[string, readonly string[]]>([
    ["key=a, 'b c' ,true,[1, x],{k: v}", ["a", "'b c'", "True", "[1,x]", "{k:v}"]],
    ["key=choice('a b',1.0)", ["a\\ b", "1.0"]],
    ["key=${x},b", ["$\\{x\\}", "b"]],
    ["key=range(3)", ["0", "1", "2"]],
    ["key=range(3,0,-2)", ["3", "1"]],
    ["key=range(0,3,1.0)", ["0.0", "1.0", "2.0"]],
    ["key=range(3,0)", []],
    ["key=range(0,0.3,0.1)", ["0.0", "0.1", "0.2"]],
    ["key=range(true)", ["0"]],
    ["key=a,glob(*)", ["a", "{include:[*],exclude:[]}"]],
    ["key=a,glob('[m v]*')", ["a", "{include:[\\[m\\ v\\]*],exclude:[]}"]],
    ["key=a,glob(b c,[1,true])", ["a", "{include:[b\\ c],exclude:[1,True]}"]],
  ])("%s", (text, expected) => {
    expect(strings(text)).toEqual(expected);
  });

  it("sums float ranges in decimals of the exact doubles", () => {
    expect(strings("key=range(0,1,0.1)")).toEqual(
      "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7000000000000001 0.8 0.9".split(" "),
    );
  });

  it("shuffles when it enumerates, with the numbers it is given", () => {
    const options = { random: () => 0 };
    expect(strings("key=shuffle(a,b,c)", options)).toEqual(["b", "c", "a"]);
    expect(strings("key=shuffle(range(3))", options)).toEqual(["1", "2", "0"]);
  });

  it("selects the options of the group that match a glob", () => {
    const groups: string[] = [];
    const groupOptions = (group: string) => {
      groups.push(group);
      return ["adam", "adamw", "sgd", ".hidden"];
    };
    expect(strings("opt/im@x=glob([a*,.*],*w)", { groupOptions })).toEqual(["adam", ".hidden"]);
    expect(groups).toEqual(["opt/im"]);
  });

  it.each([
    ["key=interval(0,1)", /only a choice, a range or a glob/],
    ["key=a", /only a choice, a range or a glob/],
    ["key=range(0,3,0)", /its step is zero/],
    ["key=range(0,3,0.0)", /its step is zero/],
    ["key=range(nan)", /nan cannot be compared/],
    ["key=choice(a,choice(b))", /a choice is a sweep/i],
    ["key=glob(*)", /options of the config group are unknown/],
    ["key=shuffle(range(0,inf))", /never ends/],
  ])("refuses %s", (text, message) => {
    const { code, message: actual } = errorOf(() => strings(text));
    expect(code).toBe("override.function");
    expect(actual).toMatch(message);
  });

  it("refuses patterns that are no strings", () => {
    const options = { groupOptions: () => ["1"] };
    expect(errorOf(() => strings("key=glob([1])", options)).code).toBe("override.function");
  });

  it("refuses quotes around patterns within a list, where they are reached", () => {
    const groupOptions = () => ["adam"];
    expect(strings("key=glob('a*')", { groupOptions })).toEqual(["adam"]);
    expect(strings("key=glob([a*,'b*'])", { groupOptions })).toEqual(["adam"]);
    for (const text of ["key=glob(['a*'])", "key=glob(*,exclude=[x,'b*'])"])
      expect(errorOf(() => strings(text, { groupOptions })).message).toMatch(/without quotes/);
  });
});

describe("isEndless", () => {
  it.each<[string, boolean]>([
    ["key=range(0,inf)", true],
    ["key=range(inf,0)", false],
    ["key=range(0,-inf)", false],
    ["key=range(0,-inf,-1)", true],
    ["key=range(-inf,0)", true],
    ["key=range(1e30,1e31,1.0)", true],
    ["key=range(0,1e15)", false],
    ["key=range(0,1,0)", false],
    ["key=a,b", false],
  ])("%s: %s", (text, endless) => {
    expect(isEndless(parseOverride(text))).toBe(endless);
  });

  it("yields an endless range lazily", () => {
    const values = sweepStrings(parseOverride("key=range(1,inf)"));
    expect([values.next().value, values.next().value]).toEqual(["1.0", "2.0"]);
  });
});

describe("globMatches", () => {
  it.each([
    ["*", ""],
    ["*", ".hidden"],
    ["a*c", "abbc"],
    ["a**c*", "ac"],
    ["*b*c", "abbcc"],
    ["?", "😀"],
    ["a?c", "a/c"],
    ["[abc]x", "bx"],
    ["[a-c0-9]", "7"],
    ["[!a-c]", "d"],
    ["[]]", "]"],
    ["[!]]", "a"],
    ["[a-]", "-"],
    ["[-a]", "-"],
    ["[a-c-e]", "-"],
    ["[", "["],
    ["[!", "[!"],
    ["[]", "[]"],
    ["a.b", "a.b"],
    ["[^a]", "^"],
    ["[\\]", "\\"],
    ["a\nb*", "a\nbc"],
  ])("%j matches %j", (pattern, name) => {
    expect(globMatches(name, pattern)).toBe(true);
  });

  it.each([
    ["", "a"],
    ["a", "A"],
    ["?", ""],
    ["a*c", "acb"],
    ["[c-a]", "b"],
    ["[!a]", "a"],
    ["[a-c-e]", "d"],
    ["a.b", "axb"],
    ["[^a]", "b"],
  ])("%j does not match %j", (pattern, name) => {
    expect(globMatches(name, pattern)).toBe(false);
  });

  it("takes no exponential time over many stars", () => {
    expect(globMatches("a".repeat(5000), `${"*a".repeat(200)}b`)).toBe(false);
  });
});
