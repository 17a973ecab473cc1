import { describe, expect, it } from "vitest";
import { DIALECTS } from "../../../../src/engine/values/dialect.ts";
import { ConfigError } from "../../../../src/engine/values/errors.ts";
import { createResolveContext } from "../../../../src/engine/values/resolution/context.ts";
import { resolveTree } from "../../../../src/engine/values/resolution/resolve-tree.ts";
import { show, yaml } from "../trees.ts";

const env = { NAME: "envv", EMPTY: "", LIST: "[1, a]", REF: "${x}" };

function resolve(text: string, warnings: string[] = []): string {
  const context = createResolveContext({ env, onWarning: (message) => warnings.push(message) });
  return show(resolveTree(yaml(text), context));
}

describe("the built-in resolvers", () => {
  it.each([
    "a: ${oc.create:{null:1}}",
    "a: \"${oc.create:{x:'${'}}\"",
    "a: ${oc.create:{x:'\\${'}}",
  ])("%s: refuses what cannot be a config", (text) => {
    expect(() => resolve(text)).toThrow(ConfigError);
  });

  it.each([
    { text: "a: ${oc.env:NAME}", gives: "a: envv\n" },
    { text: "a: ${oc.env:EMPTY}", gives: "a: ''\n" },
    { text: "a: ${oc.env:NOPE,1}", gives: "a: '1'\n" },
    { text: "a: ${oc.env:NOPE,null}", gives: "a: null\n" },
    { text: "a: ${oc.env:REF}", gives: "a: ${x}\n" },
    { text: "a: ${oc.env:toString,own}", gives: "a: own\n" },
    { text: "a: ${oc.decode:${oc.env:LIST}}", gives: "a:\n- 1\n- a\n" },
    { text: "x: 5\na: ${oc.decode:${oc.env:REF}}", gives: "x: 5\na: 5\n" },
    { text: "a: ${oc.decode:null}", gives: "a: null\n" },
    { text: "a: '${oc.create:{x: 1, r: \"\\${.x}\"}}'", gives: "a:\n  x: 1\n  r: 1\n" },
    { text: "a: \"${oc.create:'b: [1]'}\"", gives: "a:\n  b:\n  - 1\n" },
    { text: "a: ${oc.select:b,7}", gives: "a: 7\n" },
    { text: "a: ${oc.select:b}", gives: "a: null\n" },
    { text: "a: ${oc.select:m,7}\nm: ???", gives: "a: 7\nm: ???\n" },
    { text: "a: ${oc.select:z,7}\nz: null", gives: "a: null\nz: null\n" },
    { text: "a: ${oc.dict.keys:d}\nd: {x: 1, 2: 3}", gives: "a:\n- x\n- 2\nd:\n  x: 1\n  2: 3\n" },
    {
      text: "a: {v: '${oc.dict.values:.d}', d: {x: 1, r: '${.x}'}}",
      gives: "a:\n  v:\n  - 1\n  - 1\n  d:\n    x: 1\n    r: 1\n",
    },
  ])("resolve $text", ({ text, gives }) => {
    expect(resolve(text)).toBe(gives);
  });

  it.each([
    { text: "a: ${oc.env:NOPE}", names: "NOPE" },
    { text: "a: ${oc.env:}", names: "'key'" },
    { text: "a: ${oc.env:a,b,c}", names: "3 arguments" },
    { text: "a: ${oc.decode:''}", names: "at the end" },
    { text: "a: ${oc.decode:1}", names: "'1'" },
    { text: "a: ${oc.create:5}", names: "int" },
    { text: "a: ${oc.dict.keys:l}\nl: [1]", names: "ListConfig" },
    { text: "a: ${oc.dict.keys:nope}", names: "nope" },
    { text: "a: ${oc.dict.keys:'['}", names: "list index out of range" },
    { text: "a: ${oc.select:'.[b',7}", names: "list index out of range" },
    { text: "a: ${oc.dict.values:d}\nd: {x: 1, )z: 2}", names: ")z" },
    { text: "a: ${oc.deprecated:nope}", names: "nope" },
  ])("refuse $text", ({ text, names }) => {
    expect(() => resolve(text)).toThrowError(
      expect.objectContaining({
        code: "resolver.failed",
        message: expect.stringContaining(names),
      }),
    );
  });

  it("name a variable that is similar to one that is not there", () => {
    const nearest = expect.objectContaining({ nearest: "EMPTY" });
    expect(() => resolve("a: ${oc.env:EMTPY}")).toThrowError(
      expect.objectContaining({ details: nearest }),
    );
    expect(() => resolve("a: ${oc.env:SOMETHING_ELSE}")).toThrowError(
      expect.objectContaining({
        details: expect.not.objectContaining({ nearest: expect.anything() }),
      }),
    );
  });

  it("say how to set a variable that is not there", () => {
    expect(() => resolve("d:\n  a: x/${oc.env:NOPE}")).toThrowError(
      expect.objectContaining({
        message: "Resolver 'oc.env' failed: Environment variable 'NOPE' not found",
        details: expect.objectContaining({
          key: "d.a",
          origin: expect.objectContaining({ kind: "file" }),
          hint: expect.stringMatching(
            /^put NOPE=VALUE before the command.*\$\{oc\.env:NOPE,VALUE\}$/,
          ),
        }),
      }),
    );
  });

  it.each([
    ["no shell", "no-pe", /^put env no-pe=VALUE before the command/],
    [
      "no shell",
      "-nope",
      /^put env -- -nope=VALUE before the command.*\$\{oc\.env:'-nope',VALUE\}$/,
    ],
    ["no shell", "'a,b'", /^put env a,b=VALUE before the command.*\$\{oc\.env:'a,b',VALUE\}$/],
    ["a shell", "'null'", /^put null=VALUE before the command.*\$\{oc\.env:'null',VALUE\}$/],
    ["no shell", "'a\\'b'", /\$\{oc\.env:NAME,VALUE\}$/],
    ["nobody", "'no=pe'", /^give a default: /],
    ["nobody", "''", /^give a default: /],
  ])("show how a variable is set whose name %s can set: %s", (_, name, hint) => {
    expect(() => resolve(`a: \${oc.env:${name}}`)).toThrow(
      expect.objectContaining({
        details: expect.objectContaining({ hint: expect.stringMatching(hint) }),
      }),
    );
  });

  // Each is a part of the text of Python's KeyError.
  it.each([
    ["plain", "'plain'"],
    ["'it\\'s'", `"it's"`],
    ["'a\"b'", `'a"b'`],
    ["'a\\nb'", "'a\\\\nb'"],
    ["'a\tb'", "'a\\tb'"],
  ])("shows the name of a variable that is not set as Python writes a text: %s", (name, shown) => {
    const read = () => resolve(`a: ${JSON.stringify(`\${oc.env:${name}}`)}`);
    expect(read).toThrow(`Environment variable ${shown} not found`);
  });

  it("warn at the use of a deprecated key", () => {
    const warnings: string[] = [];
    const text =
      "old: ${oc.deprecated:new.key}\nnew: {key: 1}\nagain: '${oc.deprecated:new, \"$NEW_KEY $$ $X\"}'";
    expect(resolve(text, warnings)).toContain("old: 1\n");
    expect(warnings).toEqual([
      "'old' is deprecated. Change your code and config to use 'new.key'",
      "new $ $X",
    ]);
  });

  it.each([
    ["${oc.coerce:'5',int}", "the type comes first: ${oc.coerce:int,…}"],
    ["${oc.coerce:5,int}", "the type comes first: ${oc.coerce:int,…}"],
    ["${oc.coerce:list,5}", undefined],
  ])("%s names the types that a value can be converted to", (text, hint) => {
    const context = createResolveContext({ dialect: DIALECTS["1.4"] });
    const available = ["bool", "bytes", "float", "int", "str", "pathlib.Path"];
    expect(() => resolveTree(yaml(`a: ${text}`), context)).toThrow(
      expect.objectContaining({
        code: "resolver.failed",
        details: expect.objectContaining({ available, ...(hint !== undefined && { hint }) }),
      }),
    );
  });

  it("of another version are named with it", () => {
    expect(() => resolve("a: ${oc.coerce:int,5}")).toThrow(
      expect.objectContaining({
        code: "resolver.unknown",
        details: expect.toSatisfy(
          ({ hint, nearest }) =>
            hint === "only Hydra 1.4 has oc.coerce (version_base, --version-base 1.4)" &&
            nearest === undefined,
        ),
      }),
    );
  });
});
