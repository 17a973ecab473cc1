import { describe, expect, it } from "vitest";
import {
  packageHeader,
  readDefaultsItems,
} from "../../../../src/engine/compose/sources/load-config.ts";
import { DEFAULT_DIALECT } from "../../../../src/engine/values/dialect.ts";
import { readYaml } from "../../../../src/engine/values/yaml/reader.ts";
import { composeFiles, pointedAt, refusal } from "../in-memory.ts";

const chosen = (config: string, env: Readonly<Record<string, string>> = {}) =>
  composeFiles({ "db/pg": "port: 2", config }, [], { env }).composition.choices.get("db");

describe("a defaults list that an interpolation gives", () => {
  it("stands elsewhere in the file", () => {
    expect(chosen("defaults: ${lists.small}\nlists: {small: [db: pg, _self_]}")).toBe("pg");
  });

  it("or comes from the environment, where a resolver makes it part of a config", () => {
    expect(chosen("defaults: ${oc.create:${oc.env:LIST}}", { LIST: "[db: pg]" })).toBe("pg");
  });

  it.each([
    { gives: "${oc.decode:'[{db:pg}]'}", type: "list" },
    { gives: "${oc.env:LIST}", type: "str" },
    { gives: "${oc.env:NOPE,null}", type: "NoneType" },
  ])("$gives: is none, being a $type", ({ gives, type }) => {
    const { code, message } = refusal(() => chosen(`defaults: ${gives}`, { LIST: "db" }));
    expect(code).toBe("compose.invalid_defaults");
    expect(message).toBe(
      `Invalid defaults list in 'config', defaults must be a list (got ${type})`,
    );
  });
});

const header = (text: string) => packageHeader({ name: "db.yaml", text });

describe("the package header", () => {
  it.each([
    ["# @package foo.bar\na: 1", "foo.bar"],
    ["#@package   foo\n", "foo"],
    ["\n\n   # @package foo\n", "foo"],
    ["# @package _global_\r\na: 1", "_global_"],
    ["# @author me\n# @package foo\n", "foo"],
    ["# @package one\n# @package two\n", "two"],
  ])("is found in %j", (text, expected) => {
    expect(header(text)).toBe(expected);
  });

  it.each([
    ["", "an empty file"],
    ["a: 1\n# @package foo\n", "content first"],
    ["# a comment\n# @package foo\n", "an ordinary comment first"],
    ["---\n# @package foo\n", "a document start first"],
    ["\uFEFF# @package foo\n", "a byte order mark first"],
    ["# @package: foo bar\n".replace(" bar", ""), "a colon after the key"],
    [`${"\n".repeat(600)}# @package foo\n`, "a header beyond the first 512 characters"],
  ])("is not found in %j (%s)", (text) => {
    expect(header(text)).toBeNull();
  });

  it("counts the line ends that Python counts", () => {
    expect(header("# @author me\u2028# @package foo")).toBe("foo");
  });

  it("counts characters as Python reads them: the end of a line of Windows is one", () => {
    const below = (lines: number) => header(`${"\r\n".repeat(lines)}# @package foo\r\n`);
    expect([400, 500, 512].map(below)).toEqual(["foo", "f", null]);
  });

  it("counts a character outside of the basic plane as one", () => {
    const below = (count: number) => header(`# @by ${"😀".repeat(count)}\n# @package foo\n`);
    expect([300, 490, 520].map(below)).toEqual(["foo", "foo", null]);
  });

  it.each([
    ["# @package\n", "Expected header format: KEY VALUE, got '@package'"],
    ["# @package a b\n", "Too many components in '@package a b'"],
  ])("is refused at its place in %j", (text, message) => {
    const error = refusal(() => header(text));
    expect(error.code).toBe("compose.invalid_config");
    expect(error.message).toBe(message);
    expect(error.details.origin).toMatchObject({ kind: "file", start: 2 });
  });
});

const read = (text: string) => readDefaultsItems("here", readYaml(text), DEFAULT_DIALECT);
const one = (text: string) => read(`- ${text}`)[0];

describe("an item of a defaults list", () => {
  it.each([
    ["_self_", { kind: "self" }],
    ["db/mysql", { kind: "config", path: "db/mysql", package: null }],
    ["/db/mysql@srv", { kind: "config", path: "/db/mysql", package: "srv" }],
    ["db: mysql", { kind: "group", group: "db", value: "mysql", package: null }],
    ["db@a.b: mysql", { group: "db", package: "a.b" }],
    ["db@_here_: mysql", { group: "db", package: "" }],
    ["db: null", { value: null }],
    ["db: [a, b]", { value: ["a", "b"] }],
    ["optional db: a", { optional: true, override: false, group: "db" }],
    ["override db: a", { optional: false, override: true, group: "db" }],
    ["override optional db: a", { optional: true, override: true, group: "db" }],
    // Keywords stand before the group's name; other words before it are dropped, and what follows them.
    ["override my optional db: a", { optional: false, override: true, group: "db" }],
    ["db: _self_", { kind: "self", group: "db" }],
  ])("%s", (text, expected) => {
    expect(one(text)).toMatchObject(expected);
  });

  it("drops what Hydra 1.0 renamed to", () => {
    expect(one('"db@src:dst": mysql')).toMatchObject({ group: "db", package: "src" });
  });

  it.each([
    ["1", "Unsupported type in defaults : int"],
    ["[a]", "Unsupported type in defaults : ListConfig"],
    ["null", "Unsupported type in defaults : NoneType"],
    ["{}", "In here: Missing group name in {}"],
    [
      "{db: a, optional: true}",
      "In here: Too many keys in default item {'db': 'a', 'optional': True}",
    ],
    ["{db: 1}", "Unsupported item value in defaults : int. Supported: string or list"],
    ["{db: {a: b}}", "Unsupported item value in defaults : dict. Supported: string or list"],
    ["{db: [1]}", "Unsupported item value in defaults : int, nested list items must be strings"],
    ["_self_@pkg", "_self_@PACKAGE is not supported"],
  ])("%s is refused at its place", (text, message) => {
    const error = refusal(() => one(text));
    expect(error.code).toBe("compose.invalid_defaults");
    expect(error.message).toBe(message);
    expect(text).toContain(pointedAt(error)?.trim());
  });
});

describe("a defaults list", () => {
  it.each([
    ["a: b", "mapping"],
    ["word", "str"],
    ["", "NoneType"],
  ])("is not %j", (text, type) => {
    expect(refusal(() => read(text)).message).toBe(
      `Invalid defaults list in 'here', defaults must be a list (got ${type})`,
    );
  });
});
