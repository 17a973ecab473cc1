import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import JSON5 from "json5";
import * as TOML from "smol-toml";
import { describe, expect, it } from "vitest";
import type { ConfigNode } from "../../../../src/engine/values/node.ts";
import { keyText } from "../../../../src/engine/values/python-text.ts";
import { compose, isConfigError, renderError, renderExplanation } from "../../../../src/index.ts";
import { compose as composeTexts } from "../../../../src/portable-engine.ts";
import { json, json5, toml } from "../../../../src/sources.ts";

const composed = (files: Readonly<Record<string, string>>, overrides: readonly string[] = []) =>
  composeTexts({
    files,
    configDir: "conf",
    configName: "config",
    overrides,
    formats: [toml(TOML), json(), json5(JSON5)],
  });

const errorOf = (make: () => unknown): string => {
  try {
    make();
  } catch (error) {
    if (isConfigError(error)) return renderError(error);
    throw error;
  }
  throw new Error("nothing was refused");
};

/** Keys in their order, those inside of a value after its own. */
const keysOf = (node: ConfigNode): readonly string[] => {
  if (node.kind === "scalar") return [];
  if (node.kind === "list") return node.items.flatMap(keysOf);
  return [...node.entries.values()].flatMap(({ key, value }) => [keyText(key), ...keysOf(value)]);
};

it("are put at the root by the header of TOML, or by the defaults list", () => {
  const config = { "conf/config.yaml": "defaults: [_self_, optional local: local]\nport: 1\n" };
  const atRoot = {
    "conf/config.yaml": "defaults: [_self_, optional local@_global_: local]\nport: 1\n",
  };
  const [tomlText, jsonText] = ["# @package _global_\nport = 2\n", '{ "port": 3 }'];
  expect(composed({ ...config, "conf/local/local.toml": tomlText }).get("port")).toBe(2);
  expect(composed({ ...atRoot, "conf/local/local.json": jsonText }).get("port")).toBe(3);
  expect(composed(atRoot).get("port")).toBe(1);
});

const TOML_TEXT = `
# @package _global_
title = "a\${name}"
name = """
x = 1
"""
[server]
port = 80
ratio = 1.0
big = 12345678901234567890
when = 2024-01-02
tags = ["a", "b"]
[server.tls]
on = true
[[users]]
name = "ada"
[[users]]
name = "bob"
`;

describe("TOML, JSON and JSON5", () => {
  it("are options of groups and primary configs, as YAML files are", () => {
    const files = {
      "conf/config.toml": 'defaults = [{db = "mysql"}, "_self_"]\nurl = "${db.host}:${db.port}"\n',
      "conf/db/mysql.json": '{\n\t"host": "localhost",\n\t"port": 3306\n}\n',
      "conf/db/pg.json5": "// Postgres\n{host: 'pg', port: 5432,}\n",
      "conf/db/lite.yaml": "host: file\nport: 0\n",
    };
    expect(composed(files).get("url")).toBe("localhost:3306");
    expect(composed(files, ["db=pg"]).get("url")).toBe("pg:5432");
    expect(composed(files, ["db=lite"]).get("url")).toBe("file:0");
    expect(errorOf(() => composed(files, ["db=x"]))).toContain("lite\n\tmysql\n\tpg");
  });

  it("keep TOML's types", () => {
    expect(composed({ "conf/config.toml": TOML_TEXT }).toYaml()).toBe(
      `title: a\${name}
name: 'x = 1

  '
server:
  port: 80
  ratio: 1.0
  big: 12345678901234567890
  when: '2024-01-02'
  tags:
  - a
  - b
  tls:
    'on': true
users:
- name: ada
- name: bob
`,
    );
  });

  it.each([
    ["title", "3:9"],
    ["server.port", "8:8"],
    ["server.tls.on", "14:6"],
    ["users.1.name", "18:8"],
  ])("tell the place of %s in TOML", (key, place) => {
    const why = composed({ "conf/config.toml": TOML_TEXT }).explain(key);
    expect(why && renderExplanation(why)).toContain(`set by conf/config.toml:${place}`);
  });

  it("tell the places of values in JSON5", () => {
    const text =
      "{\n  // one\n  'a': {b: [1, 'x', {c: +2}]}, /* two */\n  d: 0x10,\n  e: 1.0,\n}\n";
    const config = composed({ "conf/config.json5": text });
    const place = (key: string) => {
      const why = config.explain(key);
      return why && /:(\d+:\d+)/.exec(renderExplanation(why))?.[1];
    };
    expect(["a", "a.b.1", "a.b.2.c", "d"].map(place)).toEqual(["3:8", "3:16", "3:25", "4:6"]);
    expect(config.toYaml()).toBe("a:\n  b:\n  - 1\n  - x\n  - c: 2\nd: 16\ne: 1.0\n");
  });

  it("tell the places of names with escapes in JSON5", () => {
    const why = composed({ "conf/config.json5": "{\n\\u0061b: 1}" }).explain("ab");
    expect(why && renderExplanation(why)).toContain("set by conf/config.json5:2:10");
  });

  it("know where every value of a JSON text stands", () => {
    const value = fc
      .jsonValue({ maxDepth: 3 })
      .filter((one) => typeof one === "object" && one !== null);
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z"\\]{1,4}$/), value), (data) => {
        fc.pre(!JSON.stringify(data).includes("${") && !("defaults" in data));
        const text = JSON.stringify(data, null, "\t");
        const config = composed({ "conf/config.json": text });
        for (const { node } of config.origins()) {
          if (node.kind !== "scalar" || node.origin.kind !== "file") continue;
          const { end, start } = node.origin;
          const written = JSON.parse(text.slice(start, end));
          expect(written).toEqual(typeof node.value === "bigint" ? Number(node.value) : node.value);
        }
      }),
      { numRuns: 40 },
    );
  });

  it.each([
    ["json", '{"10": {"b": 1, "3": 2, "a": 3}, "x": 1, "2": [{"1": 0, "0": 1}]}'],
    ["json5", "{'10': {b: 1, '3': 2, a: 3,}, /* y: */ x: 1, '2': [{'1': 0, '0': 1}]}"],
    ["toml", "10 = {b = 1, \"3\" = 2, a = 3}\n'x' = 1\n2 = [ # 0 = 1\n  {1 = 0, 0 = 1},\n]\n"],
    ["toml", "[10]\nb = 1\n3 = 2\na = 3\n[x]\n[[2]]\n1 = 0\n0 = 1\n"],
    ["toml", "10.b = 1\n[x]\n[[2]]\n1 = 0\n0.y = 1\n[10.3]\n[10.a]\n"],
    ["yaml", "'10': {b: 1, '3': 2, a: 3}\nx: 1\n'2': [{'1': 0, '0': 1}]\n"],
  ])("keep the order of keys that look like integers in %s", (extension, text) => {
    const { root } = composed({ [`conf/config.${extension}`]: text });
    expect(keysOf(root).filter((key) => key !== "y")).toEqual([
      "10",
      "b",
      "3",
      "a",
      "x",
      "2",
      "1",
      "0",
    ]);
  });

  it("keep the order of any keys", () => {
    const name = fc.stringMatching(/^([a-c]|[0-9]{1,2}|__proto__)$/);
    const { tree } = fc.letrec<{ tree: Map<string, unknown> }>((tie) => ({
      tree: fc
        .uniqueArray(
          fc.tuple(name, fc.oneof({ depthSize: "small" }, fc.constant(1), tie("tree"))),
          { selector: ([key]) => key, maxLength: 5 },
        )
        .map((entries) => new Map<string, unknown>(entries)),
    }));
    const written = (value: unknown, between: string): string =>
      value instanceof Map
        ? `{${[...value].map(([key, one]) => `"${key}" ${between} ${written(one, between)}`).join(", ")}}`
        : String(value);
    const order = (value: unknown): readonly string[] =>
      value instanceof Map ? [...value].flatMap(([key, one]) => [String(key), ...order(one)]) : [];
    fc.assert(
      fc.property(tree, (data) => {
        const texts = {
          json: `{"all": ${written(data, ":")}}`,
          json5: `{"all": ${written(data, ":")}}`,
          toml: `all = ${written(data, "=")}`,
        };
        for (const [extension, text] of Object.entries(texts)) {
          const { root } = composed({ [`conf/config.${extension}`]: text });
          expect(keysOf(root)).toEqual(["all", ...order(data)]);
        }
      }),
      { numRuns: 30 },
    );
  });

  it.each([
    ["a", '"\\U0001F600" = 1\n"\\u0061" = 2\n', "2:12"],
    ["a.2.b", "a = [\n  [1],\n  [\n  2],\n  {b = 1},\n]\n", "5:8"],
    [
      "a.b",
      'x = """\n[a]\nb = 1\n""\\"""""\ny = \'\'\'\na.b = 1\'\'\'\na = {c = "}", b = 1}\n',
      "7:19",
    ],
    ["a.b", "x = 1979-05-27 07:32:00 # a.b = 1\r\na . 'b' = 1\r\n", "2:11"],
    ["a.c-d", 'a.b = ["]", \'"\', # ]\n1]\na."c-d" = 1\n', "3:11"],
  ])("tell the place of %s in the TOML text %j", (key, text, place) => {
    const why = composed({ "conf/config.toml": text }).explain(key);
    expect(why && renderExplanation(why)).toContain(`set by conf/config.toml:${place}`);
  });

  it("know where every value of a TOML text stands", () => {
    const key = fc.stringMatching(/^[a-z0-9"\\'é ]{1,4}$/);
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(key, tie("value"), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(key, value), (data) => {
        const text = TOML.stringify(data);
        fc.pre(!text.includes("${") && !("defaults" in data));
        const config = composed({ "conf/config.toml": text });
        for (const { node } of config.origins()) {
          if (node.kind !== "scalar" || node.origin.kind !== "file") continue;
          const { end, start } = node.origin;
          const { one } = TOML.parse(`one = ${text.slice(start, end)}`);
          const read = one instanceof Date ? one.toISOString() : one;
          expect(read).toEqual(typeof node.value === "bigint" ? Number(node.value) : node.value);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("are refused where they are wrong, with the place", () => {
    expect(errorOf(() => composed({ "conf/config.toml": "a = 1\nb = \n" }))).toContain(
      "conf/config.toml:2:",
    );
    expect(errorOf(() => composed({ "conf/config.json": '{\n  "a": 1,\n}\n' }))).toContain(
      "--> conf/config.json:3:1",
    );
    // Where V8 names no place.
    for (const [text, place] of [
      ['{"a": 1,\n "b": }\n', "2:7"],
      ['{"a": {"c": [1, 2,\n  {"d": nul}]}}', "2:9"],
      ['{"a": [1, {}],\n\n b: 2}', "3:2"],
      ['{"a": [],\n "b": "x", // text\n "c": 1}', "2:12"],
      ['{"a": 1}\n{"b": 2}', "2:1"],
      ["{\"a\": 'b'}", "1:7"],
      ['{"a": "b",\n "c": 01}', "2:8"],
      ['{"a": [1\n}', "2:1"],
      ['{"a": "\u007f",\n "b": }', "2:7"],
      // Where it names one, inside of what began before.
      ['{"a" 1}', "1:6"],
      ['{"a": "x\ty"}', "1:9"],
      ['{"a": "\\q"}', "1:9"],
      ['{"a": nul, "b": " at position 1"}', "1:7"],
    ]) {
      const error = errorOf(() => composed({ "conf/config.json": text ?? "" }));
      expect([text, error]).toEqual([
        text,
        expect.stringContaining(`--> conf/config.json:${place}\n`),
      ]);
      expect(error).not.toContain("JSON at position");
    }
    expect(errorOf(() => composed({ "conf/config.json5": "{\n a: b}" }))).toContain(
      "--> conf/config.json5:2:5",
    );
    expect(errorOf(() => composed({ "conf/config.json": "3" }))).toContain("a mapping or a list");
    expect(errorOf(() => composed({ "conf/config.json": '{"a": "${"}' }))).toContain(
      "conf/config.json:1:",
    );
    expect(
      errorOf(() => composed({ "conf/config.json": "{}", "conf/config.yaml": "a: 1\n" })),
    ).toContain("is in several files: conf/config.yaml, conf/config.json");
  });

  it("load their package where the program runs, or say how to install it", () => {
    const cwd = mkdtempSync(join(tmpdir(), "formats-"));
    mkdirSync(join(cwd, "conf"));
    writeFileSync(join(cwd, "conf", "config.toml"), "a = 1\n");
    const options = { configDir: join(cwd, "conf"), configName: "config", formats: [toml()] };
    expect(compose(options).get("a")).toBe(1);
    const refused = errorOf(() => compose({ ...options, cwd }));
    expect(refused).toContain(
      "conf/config.toml cannot be read: the package 'smol-toml' is not installed",
    );
    expect(refused).toContain("Hint: install it: npm install smol-toml");
  });

  it("may be a program's own", () => {
    const ini = {
      extension: ".ini",
      read: ({ text }: { readonly text: string }) =>
        Object.fromEntries(
          text
            .trim()
            .split("\n")
            .map((line) => line.split("=")),
        ),
    };
    const files = { "conf/config.ini": "a=1\nb=2\n" };
    const config = composeTexts({ files, configDir: "conf", configName: "config", formats: [ini] });
    expect(config.toObject()).toEqual({ a: "1", b: "2" });
  });
});
