import { describe, expect, it } from "vitest";
import { toObject } from "../../../../src/engine/values/plain-objects.ts";
import { createResolveContext } from "../../../../src/engine/values/resolution/context.ts";
import { resolveTree } from "../../../../src/engine/values/resolution/resolve-tree.ts";
import { resolver } from "../../../../src/engine/values/resolution/resolver.ts";
import { refusal } from "../../compose/in-memory.ts";
import { show, yaml } from "../trees.ts";

let calls = 0;
const resolvers = [
  resolver("plus_10", (x: number) => x + 10),
  resolver("concat", (...parts: readonly string[]) => parts.join("")),
  resolver("mylib.plus1", (x: number) => x + 1),
  resolver("greet", (name: string, greeting = "Hello") => `${greeting}, ${name}`),
  resolver("json", (value: unknown) => JSON.stringify(value)),
  resolver("pair", (value: unknown) => ({ first: value, rest: [1, 2.5, null] })),
  resolver("text", () => "${not.interpolated}"),
  resolver("count", () => ++calls),
  resolver("once", (_: string) => ++calls, { useCache: true }),
  resolver("later", () => Promise.resolve(1)),
  resolver("broken", () => {
    throw new RangeError("no such thing");
  }),
];
const context = () => createResolveContext({ resolvers, env: {} });
const resolve = (text: string): string => show(resolveTree(yaml(text), context()));

describe("resolver()", () => {
  it.each([
    { text: "a: ${plus_10:990}", gives: "a: 1000\n" },
    { text: "a: ${plus_10:0.5}", gives: "a: 10.5\n" },
    { text: "a: ${concat:Hello , World}", gives: "a: HelloWorld\n" },
    { text: "a: ${concat:}", gives: "a: ''\n" },
    { text: "f: plus1\na: '${mylib.${f}:3}'", gives: "f: plus1\na: 4\n" },
    { text: "a: ${greet:you}", gives: "a: Hello, you\n" },
    { text: "a: ${greet:you,Bye}", gives: "a: Bye, you\n" },
    { text: "a: '${text:}'", gives: "a: ${not.interpolated}\n" },
    {
      text: "x: 1\nm: {u: '${x}', l: ['${.[1]}', b], v: '???'}\na: '${json:${m}}'",
      gives:
        'x: 1\nm:\n  u: 1\n  l:\n  - b\n  - b\n  v: ???\na: \'{"u":1,"l":["b","b"],"v":"???"}\'\n',
    },
    { text: "a: '${json:{k: [1, true, null]}}'", gives: "a: '{\"k\":[1,true,null]}'\n" },
    {
      text: "x: 3\na: '${pair:${x}}'",
      gives: "x: 3\na:\n  first: 3\n  rest:\n  - 1\n  - 2.5\n  - null\n",
    },
  ])("$text", ({ text, gives }) => {
    expect(resolve(text)).toBe(gives);
  });

  it("gets a map with all of its interpolations resolved, or an error about the one that cannot be", () => {
    const { details } = refusal(() => resolve("m: {a: 1, b: '${nope}'}\nx: ${json:${m}}"));
    expect(details).toMatchObject({ code: "interpolation.not_found", key: "m.b" });
  });

  it("is warned of arguments that are missing, unless one in front of them fails", () => {
    const warningsOf = (text: string): readonly string[] => {
      const warnings: string[] = [];
      const resolvers = [resolver("f", (...args: unknown[]) => args.length)];
      const context = createResolveContext({
        env: {},
        resolvers,
        onWarning: (message) => warnings.push(message),
      });
      try {
        resolveTree(yaml(text), context);
      } catch {
        // What fails is another test's.
      }
      return warnings;
    };
    expect(warningsOf("a: ${f:1,,2,}")).toEqual([
      expect.stringContaining("In the sequence `1,,2,` some elements are missing"),
    ]);
    expect(warningsOf("a: ${f:${nope},}")).toEqual([]);
    expect(warningsOf("a: ${f:,${nope}}")).toHaveLength(1);
  });

  it("is called for every reference, or once with useCache", () => {
    calls = 0;
    const counted = resolveTree(
      yaml("a: ${count:}\nb: ${count:}\nc: ${once:x}\nd: ${once:x}"),
      context(),
    );
    const { a, b, c, d } = toObject(counted) as Record<string, number>;
    expect(a).not.toBe(b);
    expect(c).toBe(d);
  });

  it("is what the error about an unknown one names, unless another is near", () => {
    const details = (text: string) => refusal(() => resolve(text)).details;
    expect(details("a: ${quadruple:3}").hint).toBe(
      'register your own resolvers: resolvers: [resolver("quadruple", …)]; name those of a Python program in hydraconf.yaml: resolvers: {quadruple: python:MODULE}; without --resolve they stay as written',
    );
    expect(details("a: ${eval:'1+1'}").hint).toContain(
      "hydraconf.yaml: resolvers: {eval: ready}; or",
    );
    expect(details("a: ${plus_11:3}")).toMatchObject({ nearest: "plus_10" });
    expect(details("a: ${plus_11:3}").hint).toBeUndefined();
  });

  it.each([
    ["a: ${plus_10:}", "Resolver 'plus_10' failed: 0 of at least 1 argument given"],
    ["a: ${broken:}", "Resolver 'broken' failed: no such thing"],
    [
      "a: ${later:}",
      "Resolver 'later' failed: it returned a value that no config can hold: Value 'Promise' is not a supported primitive type",
    ],
  ])("%s is refused", (text, message) => {
    const error = refusal(() => resolve(text));
    expect(error).toMatchObject({ code: "resolver.failed", message });
  });
});
