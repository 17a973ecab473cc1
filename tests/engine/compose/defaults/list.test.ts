import { describe, expect, it } from "vitest";
import { splitOverrides } from "../../../../src/engine/compose/defaults/list.ts";
import { parseOverrides } from "../../../../src/engine/overrides/index.ts";
import { DEFAULT_DIALECT } from "../../../../src/engine/values/dialect.ts";
import { pointedAt, refusal } from "../in-memory.ts";

const groups = new Set(["db", "db/engine"]);
const split = (...texts: string[]) =>
  splitOverrides(
    parseOverrides(texts),
    { groupExists: (path) => groups.has(path), configExists: () => false },
    DEFAULT_DIALECT,
  );

describe("the overrides of a command line", () => {
  it("are about groups where a group of that name exists", () => {
    const { selected, values } = split("db=pg", "db@x=pg", "db/engine=[a,b]", "lr=1", "db.port=2");
    expect([...selected].map(([key, { value }]) => [key, value])).toEqual([
      ["db", "pg"],
      ["db@x", "pg"],
      ["db/engine", ["a", "b"]],
    ]);
    expect(values.map(({ origin }) => origin.text)).toEqual(["lr=1", "db.port=2"]);
  });

  it("append and delete", () => {
    const { appended, deleted } = split("+db@x=pg", "~db", "~db@y=pg");
    expect(appended).toMatchObject([{ group: "db", package: "x", value: "pg", appended: true }]);
    expect([...deleted].map(([key, { name }]) => [key, name])).toEqual([
      ["db", null],
      ["db@y", "pg"],
    ]);
  });

  it("are about values where a dict is assigned, and take no part as sweeps", () => {
    const result = split("db={port:1}", "db=a,b", "lr=choice(1,2)");
    expect(result.values.map(({ origin }) => origin.text)).toEqual(["db={port:1}"]);
    expect(result.selected.size).toBe(0);
  });

  it("refuse a group without a name for its option, and say how it is written", () => {
    const hint = (text: string) => refusal(() => split(text)).details.hint;
    expect(hint("db=null")).toBe("to remove the config group, use ~db");
    expect(hint("db@x=1")).toBe(`quote the name of the option: db@x="'1'"`);
    expect(hint("~db@x=1")).toBe("to delete the group whatever its option, use ~db@x");
    expect(hint("++db=pg")).toMatch(/^write db=pg, or \+db=pg if/);
    // What is asked for is what is understood.
    expect([...split(`db@x='1'`).selected]).toMatchObject([["db@x", { value: "1" }]]);
    expect([...split("~db@x=null").deleted]).toMatchObject([["db@x", { name: null }]]);
  });

  it.each([
    ["db=null", "Config group override must be a string or a list. Got NoneType"],
    ["db=1", "Config group override must be a string or a list. Got int"],
    ["db=1.5", "Config group override must be a string or a list. Got float"],
    ["+db=true", "Config group override must be a string or a list. Got bool"],
    ["~db=[a]", "Config group override deletion value must be a string : ~db=[a]"],
    ["++db=pg", "force-add of config groups is not supported: '++db=pg'"],
  ])("refuse %s", (text, message) => {
    const error = refusal(() => split(text));
    const isMeaningless = text.startsWith("++");
    expect(error.code).toBe(isMeaningless ? "compose.override_failed" : "override.wrong_value");
    expect(error.message).toBe(message);
    expect(pointedAt(error)).toBe(text);
  });
});
