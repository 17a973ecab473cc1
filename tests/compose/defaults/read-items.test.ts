import { describe, expect, it } from "vitest";
import { readDefaultsItems } from "../../../src/compose/defaults/read-items.ts";
import { readYaml } from "../../../src/values/reader.ts";
import { pointedAt, refusal } from "../in-memory.ts";

const read = (text: string) => readDefaultsItems("here", readYaml(text));
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
