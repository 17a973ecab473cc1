import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type OverrideValue,
  parseOverride,
  parseOverrides,
} from "../../../src/engine/overrides/index.ts";
import { isConfigError } from "../../../src/engine/values/errors.ts";
import { runs } from "../../runs.ts";
import { overrideSyntaxText } from "./generate.ts";
import { errorOf, plain } from "./plain.ts";

describe("the key", () => {
  it.each([
    ["key=1", { type: "change", keyOrGroup: "key" }],
    ["+a.b.0=1", { type: "add", keyOrGroup: "a.b.0" }],
    ["++$x-y=1", { type: "force_add", keyOrGroup: "$x-y" }],
    ["~db", { type: "delete", keyOrGroup: "db" }],
    ["~db=mysql", { type: "delete", keyOrGroup: "db" }],
    ["hydra/job_logging=none", { type: "change", keyOrGroup: "hydra/job_logging" }],
    ["db@backup.main=mysql", { type: "change", keyOrGroup: "db", package: "backup.main" }],
    ["db@=mysql", { type: "change", keyOrGroup: "db", package: "" }],
    ["=1", { type: "change", keyOrGroup: "" }],
  ])("%s", (text, expected) => {
    expect(parseOverride(text)).toMatchObject(expected);
  });

  it("has no package where none was given", () => {
    expect(parseOverride("db=mysql")).not.toHaveProperty("package");
  });

  it("has no value in a bare deletion, but an empty string in an empty assignment", () => {
    expect(parseOverride("~key")).not.toHaveProperty("value");
    expect(parsed("key=")).toBe("");
    expect(parsed("key=   ")).toBe("");
  });
});

describe("scalars", () => {
  it.each<[string, unknown]>([
    ["1", 1n],
    ["-0", 0n],
    ["1_000", 1000n],
    ["007", "007"],
    ["0x10", "0x10"],
    ["9007199254740993", 9007199254740993n],
    ["1.", 1],
    [".5", 0.5],
    ["1_0e1_0", 1e11],
    ["1e999", Number.POSITIVE_INFINITY],
    ["-inf", Number.NEGATIVE_INFINITY],
    ["NaN", Number.NaN],
    ["-0.0", -0],
    ["1.2.3", "1.2.3"],
    ["TrUe", true],
    ["NULL", null],
    ["None", "None"],
    ["yes", "yes"],
    ["infinite", "infinite"],
    ["cuda:0", "cuda:0"],
    ["a b  c ", "a b  c"],
    ["1 2", "1 2"],
    ["/-\\+.$%*@?|", "/-\\+.$%*@?|"],
    ["\\ a\\,b\\=\\\\\\ ", " a,b=\\ "],
    ["${a.b}", "${a.b}"],
    ["x${a:{b,c}y", "x${a:{b,c}y"],
    ["'it\\'s'", "it's"],
    ["'a\\\\'", "a\\"],
    ["'a\\n'", "a\\n"],
    ['"é\n"', "é\n"],
    ["''", ""],
  ])("%s", (text, value) => {
    expect(parsed(`key=${text}`)).toEqual(value);
  });

  it("remembers the quotes of a string, since '1' must not become 1 again", () => {
    expect(parseOverride("key='1'").value).toMatchObject({ value: "1", quote: "'" });
    expect(parseOverride("key=a").value).not.toHaveProperty("quote");
  });
});

describe("containers and sweeps", () => {
  it.each<[string, unknown]>([
    ["[]", []],
    ["[ 1 , [a, 'b'] ]", [1n, ["a", "b"]]],
    ["{}", new Map()],
    [
      "{a: b:c, 1: {x:null}}",
      new Map<unknown, unknown>([
        ["a", "b:c"],
        [1n, new Map([["x", null]])],
      ]),
    ],
    [
      "{a b:1,true:2}",
      new Map<unknown, unknown>([
        ["a b", 1n],
        [true, 2n],
      ]),
    ],
    ["a,1 , [b]", { choice: ["a", 1n, ["b"]], simple: true }],
    ["choice (a)", { choice: ["a"], simple: false }],
  ])("%s", (text, value) => {
    expect(parsed(`key=${text}`)).toEqual(value);
  });

  it("keeps the first of equal keys and the last of their values, as a Python dict", () => {
    expect(parsed("key={1:a,x:0,1.0:b,true:c}")).toEqual(
      new Map<unknown, unknown>([
        [1n, "c"],
        ["x", 0n],
      ]),
    );
  });

  it("knows the place of every part", () => {
    const { value } = parseOverride("key=[a, 'b c' ,{d: 1}]");
    const items = value?.kind === "list" ? value.items : [];
    const texts = items.map(({ span }) => "key=[a, 'b c' ,{d: 1}]".slice(span.start, span.end));
    expect(texts).toEqual(["a", "'b c'", "{d: 1}"]);
  });
});

describe("errors of syntax", () => {
  it.each<[string, number, RegExp]>([
    ["key", 3, /expected '=' but found the end at column 4/],
    ["key=[1,", 7, /expected a value but found the end/],
    ["key=[1 2", 8, /expected ',' or '\]' but found the end/],
    ["key={'a':1}", 5, /expected a key without quotes/],
    ["key={a}", 6, /expected ':' after the key/],
    ["key='a' ", 7, /expected the end of the override but found a blank/],
    ["key=a=b", 5, /found '='/],
    ["key=é", 4, /'é' is not allowed in an unquoted value at column 5/],
    ["key='é'é", 7, /'é' is not allowed in an unquoted value at column 8/],
    ["key='😀'é", 8, /at column 8/],
    ["my key=1", 2, /a blank is not allowed in a key at column 3/],
    ["key='a", 4, /the quote ' is never closed/],
    // Behind the second item Hydra does not read on.
    ["key=a,[2 'b'\"c]", 12, /the quote " is never closed/],
    ["key=a,[1,2 'b'\"c]", 11, /expected ',' or '\]' but found 'b'/],
    ["key=a,f(1,2 'b'\"c)", 12, /expected ',' or '\)' but found 'b'/],
    ["key=a,{a:1,b:2 'b'\"c)", 15, /expected ',' or '}' but found 'b'/],
    ["/db=x", 0, /expected a key but found '\/'/],
    ["a/b.c=x", 2, /the name of a group after '\/'/],
    ["key=f(a=1,2)", 10, /positional argument follows keyword argument/],
    ["key=${a.${b}}", 12, /expected the end of the override but found '}'/],
  ])("%s", (text, start, message) => {
    const { code, details } = errorOf(() => parseOverride(text, {}, 3));
    expect(code).toBe("override.syntax");
    expect(details.message).toMatch(message);
    expect(details.origin).toMatchObject({ kind: "override", text, index: 3, start });
  });

  it("are reported before errors of functions", () => {
    expect(errorOf(() => parseOverride("key=foo(1)]")).code).toBe("override.syntax");
  });

  it("name the override in a list that is wrong", () => {
    const { details } = errorOf(() => parseOverrides(["a=1", "b=[", "c=("]));
    expect(details.origin).toMatchObject({ text: "b=[", index: 1 });
  });

  it("stop a text that nests too deep instead of overflowing the stack", () => {
    for (const open of ["[", "{a:", "f("])
      expect(errorOf(() => parseOverride(`key=${open.repeat(100_000)}`)).code).toBe(
        "override.syntax",
      );
    expect(parsed(`key=${"[".repeat(100)}${"]".repeat(100)}`)).toBeDefined();
  });

  it("refuse an int that Python would not convert", () => {
    expect(errorOf(() => parseOverride(`key=${"1".repeat(4301)}`)).code).toBe("override.syntax");
  });
});

describe("any text", () => {
  it("is parsed, or refused with a coded error that points into it", () => {
    fc.assert(
      fc.property(fc.oneof(overrideSyntaxText, fc.string({ unit: "binary" })), (text) => {
        try {
          parseOverride(text);
        } catch (error) {
          if (!isConfigError(error)) throw error;
          const { origin } = error.details;
          expect(origin?.kind === "override" && (origin.start ?? -1) <= text.length).toBe(true);
        }
      }),
      { numRuns: runs(3000) },
    );
  });

  it("in quotes is a string of exactly these characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.constantFrom("'", '"'), (inner, quote) => {
        fc.pre(!inner.includes("\\") && !inner.includes(quote));
        expect(parsed(`key=${quote}${inner}${quote}`)).toBe(inner);
      }),
    );
  });
});

const parsed = (text: string): unknown => {
  const value: OverrideValue | undefined = parseOverride(text).value;
  return value === undefined ? undefined : plain(value);
};
