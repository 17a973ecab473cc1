import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  FUNCTIONS,
  isOverrideOfHydra,
  type OverrideFunction,
  parseOverride,
} from "../../../../src/engine/overrides/index.ts";
import { DIALECTS } from "../../../../src/engine/values/dialect.ts";
import { errorOf, plain } from "../plain.ts";

const parsed = (text: string, random?: () => number): unknown => {
  const { value } = parseOverride(`key=${text}`, random === undefined ? {} : { random });
  return value === undefined ? undefined : plain(value);
};

const NAN = Number.NaN;

describe("choice", () => {
  it.each<[string, unknown]>([
    ["choice(a)", { choice: ["a"], simple: false }],
    ["choice('1',2,[a],{b:c})", { choice: ["1", 2n, ["a"], new Map([["b", "c"]])], simple: false }],
    ["choice(sort(2,1))", { choice: [1n, 2n], simple: false }],
    ["choice(a,choice(b))", { choice: ["a", { choice: ["b"], simple: false }], simple: false }],
  ])("%s", (text, value) => {
    expect(parsed(text)).toEqual(value);
  });

  it("drops the quotes of its own arguments only", () => {
    const { value } = parseOverride("key=choice('a',['b'])");
    const items = value?.kind === "choice" ? value.items : [];
    expect(items[0]).not.toHaveProperty("quote");
    expect(items[1]).toMatchObject({ items: [{ quote: "'" }] });
  });
});

describe("range and interval", () => {
  it.each<[string, unknown]>([
    ["range(3)", { range: [0n, 3n, 1n] }],
    ["range(1,3)", { range: [1n, 3n, 1n] }],
    ["range(start=1,step=0.5,stop=3)", { range: [1n, 3n, 0.5] }],
    ["range(2,null)", { range: [0n, 2n, 1n] }],
    ["range(true)", { range: [0n, true, 1n] }],
    ["interval(0,1)", { interval: [0, 1] }],
    ["interval(end=true,start=0.5)", { interval: [0.5, 1] }],
    ["int(interval(0.5,2))", { interval: [0n, 2n] }],
  ])("%s", (text, value) => {
    expect(parsed(text)).toEqual(value);
  });
});

describe("glob and tag", () => {
  it.each<[string, unknown]>([
    ["glob(*)", { glob: [["*"], []] }],
    ["glob([a*,b],exclude='c*')", { glob: [["a*", "b"], ["c*"]] }],
    ["glob(a,null)", { glob: [["a"], []] }],
    ["tag(b,a,b,choice(x))", { choice: ["x"], simple: false, tags: ["a", "b"] }],
    ["tag(a,tag(b,range(2)))", { range: [0n, 2n, 1n], tags: ["a"] }],
    ["tag(a,sweep=interval(0,1))", { interval: [0, 1], tags: ["a"] }],
    ["tag(t,int(1,2))", { choice: [1n, 2n], simple: true, tags: ["t"] }],
  ])("%s", (text, value) => {
    expect(parsed(text)).toEqual(value);
  });
});

describe("sort", () => {
  it.each<[string, unknown]>([
    ["sort(3,1,2)", { choice: [1n, 2n, 3n], simple: true }],
    ["sort(3,1,2,reverse=true)", { choice: [3n, 2n, 1n], simple: true }],
    ["sort(2,1.5,true)", { choice: [true, 1.5, 2n], simple: true }],
    ["sort(1.0,1,true,reverse=true)", { choice: [1, 1n, true], simple: true }],
    ["sort(b,a,B)", { choice: ["B", "a", "b"], simple: true }],
    ["sort('b','a')", { choice: ["a", "b"], simple: true }],
    ["sort([2,1])", [1n, 2n]],
    ["sort(list=[b,a],sweep=choice(z))", ["a", "b"]],
    ["sort([[2],[1,5],[1]])", [[1n], [1n, 5n], [2n]]],
    ["sort(['b'])", ["b"]],
    ["sort([ab,a,abc])", ["a", "ab", "abc"]],
    // What is equal is compared no further: true and 1, quoted strings with the same quotes, null, lists and dicts.
    [
      "sort([[true,2],[1,1]])",
      [
        [1n, 1n],
        [true, 2n],
      ],
    ],
    [
      "sort([['a',2],['a',1]])",
      [
        ["a", 1n],
        ["a", 2n],
      ],
    ],
    [
      "sort([[null,2],[null,1]])",
      [
        [null, 1n],
        [null, 2n],
      ],
    ],
    [
      "sort([[[1,2],2],[[1],1]])",
      [
        [[1n], 1n],
        [[1n, 2n], 2n],
      ],
    ],
    [
      "sort([[[1],2],[[1],1]])",
      [
        [[1n], 1n],
        [[1n], 2n],
      ],
    ],
    [
      "sort([[{a:1},2],[{a:1.0},1]])",
      [
        [new Map([["a", 1]]), 1n],
        [new Map([["a", 1n]]), 2n],
      ],
    ],
    ["sort(5,6,nan,3)", { choice: [5n, 6n, NAN, 3n], simple: true }],
    ["sort(choice(b,a))", { choice: ["a", "b"], simple: false }],
    ["sort(1)", 1n],
    ["sort({a:1})", new Map([["a", 1n]])],
    ["sort(range(10,0,-3))", { range: [3n, 13n, 3n] }],
    ["sort(range(0,10,3),reverse=true)", { range: [7n, -3n, -3n] }],
    ["sort(range(0,2,0.5),reverse=true)", { range: [1.5, -0.5, -0.5] }],
    [
      "sort(tag(t,shuffle(choice(b,a))))",
      { choice: ["a", "b"], simple: false, tags: ["t"], shuffle: true },
    ],
  ])("%s", (text, value) => {
    expect(parsed(text)).toEqual(value);
  });

  it("orders strings by code point, as Python does", () => {
    expect(parsed('sort("\u{1f600}","\uff01")')).toMatchObject({
      choice: ["\uff01", "\u{1f600}"],
    });
  });

  it("orders any ints, and reverses them, whatever their number", () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 2 }), (numbers) => {
        const sorted = numbers.toSorted((a, b) => a - b).map(BigInt);
        expect(parsed(`sort([${numbers}])`)).toEqual(sorted);
        expect(parsed(`sort([${numbers}],reverse=true)`)).toEqual(sorted.toReversed());
      }),
    );
  });
});

describe("shuffle", () => {
  it.each<[string, unknown]>([
    ["shuffle(a,b)", { choice: ["a", "b"], simple: true, shuffle: true }],
    ["shuffle(choice(a,b))", { choice: ["a", "b"], simple: false, shuffle: true }],
    ["shuffle(range(3))", { range: [0n, 3n, 1n], shuffle: true }],
    ["shuffle(1)", [1n]],
    ["shuffle(1,2,list=null)", { choice: [1n, 2n], simple: true, shuffle: true }],
    ["shuffle(a,sweep=choice(b,c))", { choice: ["b", "c"], simple: false, shuffle: true }],
    ["shuffle()", { choice: [], simple: true, shuffle: true }],
  ])("%s", (text, value) => {
    expect(parsed(text)).toEqual(value);
  });

  it("shuffles a list at once, with the numbers it is given", () => {
    expect(parsed("shuffle([1,2,3])", () => 0)).toEqual([2n, 3n, 1n]);
    expect(parsed("shuffle(list=[1,2,3])", () => 0.999)).toEqual([1n, 2n, 3n]);
  });
});

describe("casts", () => {
  it.each<[string, unknown]>([
    ["int('10')", 10n],
    ["int(-1.9)", -1n],
    ["int(1e20)", 100000000000000000000n],
    ["int(true)", 1n],
    ["int(' 1_0 ')", 10n],
    ["int(1.5,'2')", { choice: [1n, 2n], simple: true }],
    ["int([1.5,{a:'2'}])", [1n, new Map([["a", 2n]])]],
    ["int(tag(t,choice(1.5)))", { choice: [1n], simple: false }],
    ["int(range(0.5,3.5))", { range: [0n, 3n, 1n] }],
    ["float(1)", 1],
    ["float('inf')", Number.POSITIVE_INFINITY],
    ["float(range(1,3))", { range: [1, 3, 1] }],
    ["float(tag(t,interval(1,2)))", { interval: [1, 2], tags: ["t"] }],
    ["str(1e-5)", "1e-05"],
    ["str(true)", "true"],
    ["str([1,{a:2.0}])", ["1", new Map([["a", "2.0"]])]],
    ["bool(0.0)", false],
    ["bool(nan)", true],
    ["bool('FALSE')", false],
    ["bool(null)", false],
    ["bool(value=1)", true],
    ["str(int(bool('true')))", "1"],
  ])("%s", (text, value) => {
    expect(parsed(text)).toEqual(value);
  });
});

describe("errors of functions", () => {
  it.each<[string, RegExp]>([
    ["choice()", /at least one value/],
    ["choice(null)", /argument 1 must be a value or a choice, not null/],
    ["choice(choice(a,b))", /cannot be made of a choice/],
    ["choice(x=a)", /there is no argument 'x'/],
    ["range()", /the argument 'start' is missing/],
    ["range(1,2,3,4)", /more than 3 arguments/],
    ["range(1,start=2)", /the argument 'start' is given twice/],
    ["range('1')", /must be a number, not the string '1'/],
    ["interval(0)", /the argument 'end' is missing/],
    ["interval(end=1)", /the argument 'start' is missing/],
    ["interval(a)", /the argument 'end' is missing/],
    ["interval(1,x=2)", /the argument 'end' is missing/],
    ["interval(1,2,3,start=4)", /the argument 'start' is given twice/],
    ["logrange(1)", /the argument 'stop' is missing/],
    ["logrange(stop=1)", /the argument 'start' is missing/],
    [`interval(0,1${"0".repeat(400)})`, /too large for a float/],
    ["glob(1)", /must be a string or a list of strings, not the int 1/],
    ["tag(a)", /the last argument must be/],
    ["tag(choice(a),choice(b))", /a tag must be a string/],
    ["tag(a,glob(*))", /not a glob/],
    ["sort()", /nothing to sort/],
    ["sort(1,a)", /cannot compare the string 'a' with the int 1/],
    ["sort(['b','a'])", /strings in quotes/],
    ["sort([1],[2])", /must be numbers or strings/],
    ["sort(1,2,reverse=1)", /must be true or false, not the int 1/],
    ["sort([1,null])", /cannot compare null with the int 1/],
    ["sort([[0],[null]])", /cannot compare null with the int 0/],
    ["sort([[1,2],[a,1]])", /cannot compare the string 'a' with the int 1/],
    [`sort([['a',2],["a",1]])`, /strings in quotes/],
    ["sort([[{a:1},2],[{a:2},1]])", /cannot compare a dict with a dict/],
    ["sort([[{a:1},2],[{b:1},1]])", /cannot compare a dict with a dict/],
    ["sort([[{a:1,b:1},2],[{a:1},1]])", /cannot compare a dict with a dict/],
    ["sort([[[1],2],[{a:1},1]])", /cannot compare a dict with a list/],
    ["shuffle(interval(0,1))", /not an interval/],
    ["shuffle(1,choice(2,3))", /several arguments must be values, not sweeps/],
    ["int(1,choice(2,3))", /several arguments must be values, not sweeps/],
    ["zip(a=1)", /the same in all jobs as a separate override/],
    ["zip(a=interval(0,1))", /an interval has no values to pair/],
    ["int()", /nothing to cast/],
    ["int(1,value=2)", /both by position and by name/],
    ["int(a)", /'a' is not an int/],
    ["int('1.5')", /'1.5' is not an int/],
    ["int(inf)", /infinity is not an int/],
    ["int(nan)", /nan is not an int/],
    ["int(null)", /null cannot be cast to int/],
    ["float(x)", /'x' is not a float/],
    ["bool(yes)", /neither true nor false/],
    ["str(range(3))", /only be cast to int or float/],
    ["bool(interval(0,1))", /an interval cannot be cast to bool/],
    ["int([glob(*)])", /a glob cannot be cast/],
    ["int(choice(1,choice(2)))", /a sweep inside a choice/],
  ])("%s", (text, message) => {
    const { code, details } = errorOf(() => parseOverride(`key=${text}`));
    expect(code).toBe("override.function");
    expect(details.message).toMatch(message);
    expect(details.message).toContain(text);
    expect(details.origin).toMatchObject({ start: 4, end: 4 + text.length });
  });

  it("point at the inner call that failed", () => {
    const { details } = errorOf(() => parseOverride("key=choice(1,int(x))"));
    expect(details.origin).toMatchObject({ start: 13, end: 19 });
  });

  it("name the functions there are, and the nearest one", () => {
    const { details } = errorOf(() => parseOverride("key=Choise(a)"));
    expect(details.nearest).toBe("choice");
    expect(details.available).toEqual([...FUNCTIONS.keys()].sort());
  });

  it("that another version of Hydra has is said so", () => {
    expect(errorOf(() => parseOverride("key=extend_list(a)")).details.hint).toBe(
      `extend_list is a function of Hydra 1.4; as text it needs quotes: key='extend_list(a)' (in a shell: 'key="extend_list(a)"')`,
    );
  });

  it.each([
    ["key=[a,f('y')]", `key=[a,"f('y')"]`, `'key=[a,"f('\\''y'\\'')"]'`],
    ['key=f("y"),b', `key='f("y")',b`, `'key="f(\\"y\\")",b'`],
  ])("where none is like it, how it is written as text: %s", (text, written, inShell) => {
    const { nearest, hint } = errorOf(() => parseOverride(text)).details;
    expect(nearest).toBeUndefined();
    expect(hint).toBe(`as text it needs quotes: ${written} (in a shell: ${inShell})`);
    expect(() => parseOverride(written)).not.toThrow();
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
    expect(parseOverride("key=answer()", { functions }).value).toMatchObject({ value: 42n });
    const { details } = errorOf(() => parseOverride("key=anser()", { functions }));
    expect(details.nearest).toBe("answer");
    expect(errorOf(() => parseOverride("key=answer()")).code).toBe("override.function");
  });
});

it("quotes what cannot be cast as Python does", () => {
  expect(() => parseOverride("key=int('a\\b')")).toThrow("'a\\\\b' is not an int");
});

describe("functions that Hydra lacks", () => {
  const ours = [...FUNCTIONS.values()].filter(({ isOurs }) => isOurs === true);

  it("are those that docs/compatibility.md lists", () => {
    const page = readFileSync(
      new URL("../../../../docs/compatibility.md", import.meta.url),
      "utf8",
    );
    const [, listed = ""] =
      /^- (.*) are our own functions of the override language/m.exec(page) ?? [];
    expect([...listed.matchAll(/`(\w+)\(\.\.\.\)`/g)].map(([, name]) => name)).toEqual(
      ours.map(({ name }) => name),
    );
  });

  it("are no overrides of Hydra, nor is what calls them", () => {
    const calls = new Map([
      ["logrange", "logrange(1,10,2)"],
      ["zip", "zip(x=choice(1,2))"],
    ]);
    expect([...calls.keys()]).toEqual(ours.map(({ name }) => name));
    for (const dialect of Object.values(DIALECTS)) {
      for (const call of calls.values())
        expect(isOverrideOfHydra(`k=${call}`, dialect)).toBe(false);
      expect(isOverrideOfHydra("k=int(logrange(1,10,2))", dialect)).toBe(false);
      expect(isOverrideOfHydra("k='zip(x=1)'", dialect)).toBe(true);
    }
  });
});
