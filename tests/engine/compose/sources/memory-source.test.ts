import { describe, expect, it } from "vitest";
import { memorySource } from "../../../../src/engine/compose/sources/memory-source.ts";
import { toObject } from "../../../../src/engine/values/plain-objects.ts";

const source = memorySource(
  { scheme: "structured", path: "", provider: "schema" },
  new Map([
    ["config", { text: "defaults: [db: mysql]\nx: 1\n" }],
    ["db/mysql", { text: "# @package srv\nport: 3306\n" }],
    ["db/engine/inno", { value: { pages: 16 }, package: "deep" }],
  ]),
);

describe("a source in memory", () => {
  it("loads texts, with header and defaults list taken out of the content", () => {
    const config = source.load("config");
    expect(config && toObject(config.node)).toEqual({ x: 1 });
    expect(config?.defaults).toMatchObject([{ kind: "group", group: "db", value: "mysql" }]);
    expect(source.load("db/mysql")?.package).toBe("srv");
  });

  it("loads plain data", () => {
    const inno = source.load("db/engine/inno");
    expect(inno && toObject(inno.node)).toEqual({ pages: 16 });
    expect(inno?.package).toBe("deep");
  });

  it("finds paths as Hydra's config store does", () => {
    expect(source.load("db//mysql.yaml")).toBeDefined();
    expect(source.load("db/mysql.yml")).toBeUndefined();
    expect(source.load("mysql")).toBeUndefined();
    for (const path of ["db/engine/../mysql", "./db/mysql"])
      expect(source.load(path)).toBeUndefined();
    expect(["/", "/db/", "db//engine"].map(source.isGroup)).toEqual([true, true, true]);
    expect(["db/.", "./db", "db/engine/.."].map(source.isGroup)).toEqual([false, false, false]);
    expect(source.list("/", "config")).toEqual(["config"]);
  });

  it("finds paths as a file system would, where it stands for one", () => {
    const files = memorySource(
      { scheme: "pkg", path: "some.conf", provider: "some" },
      new Map([
        ["config", { text: "" }],
        ["db/mysql", { text: "" }],
      ]),
    );
    for (const path of ["db//mysql", "./db/../db/mysql.yaml"])
      expect(files.load(path)).toBeDefined();
    expect(["", ".", "db/..", "./db"].map(files.isGroup)).toEqual([true, true, true, true]);
    expect(["..", "../db", "/", "/db"].map(files.isGroup)).toEqual([false, false, false, false]);
    expect(files.list("..", "config")).toEqual([]);
  });

  it("lists options and groups one level deep", () => {
    expect(source.list("db", "config")).toEqual(["mysql"]);
    expect(source.list("db", "group")).toEqual(["engine"]);
    expect(source.list("", "group")).toEqual(["db"]);
    expect(source.isGroup("db/engine")).toBe(true);
    expect(source.isGroup("db/mysql")).toBe(false);
    expect(source.isGroup("")).toBe(true);
  });
});
