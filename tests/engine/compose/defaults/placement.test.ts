import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  finalPackage,
  placeItem,
  rootOfLists,
} from "../../../../src/engine/compose/defaults/placement.ts";
import type { GroupItem } from "../../../../src/engine/compose/sources/config-source.ts";
import { DEFAULT_DIALECT, DIALECTS } from "../../../../src/engine/values/dialect.ts";
import { fromCode } from "../../../../src/engine/values/origin.ts";

const ROOT = rootOfLists(DEFAULT_DIALECT);

const groupItem = (group: string, pkg: string | null = null): GroupItem => ({
  kind: "group",
  group,
  value: "x",
  package: pkg,
  optional: false,
  override: false,
  appended: false,
  origin: fromCode("test"),
});

const place = (group: string, pkg: string | null, below = ROOT, header: string | null = null) => {
  const placed = placeItem(groupItem(group, pkg), "x", below);
  return [placed.configPath, finalPackage(placed, header), placed.overrideKey];
};

describe("a group in its place", () => {
  const below = { ...ROOT, group: "srv/web", package: "app.srv" };

  it.each([
    // at the root
    ["db", null, ROOT, ["db/x", "db", "db"]],
    ["db/engine", null, ROOT, ["db/engine/x", "db.engine", "db/engine"]],
    ["db", "src", ROOT, ["db/x", "src", "db@src"]],
    ["db", "_global_", ROOT, ["db/x", "", "db@_global_"]],
    ["db", "", ROOT, ["db/x", "", "db@_global_"]],
    ["db", "_group_.a", ROOT, ["db/x", "db.a", "db@db.a"]],
    // below a config that has been moved
    ["db", null, below, ["srv/web/db/x", "app.srv.db", "srv/web/db@app.srv.db"]],
    ["/db", null, below, ["db/x", "app.srv.db", "db@app.srv.db"]],
    ["/db", "_global_.db", below, ["db/x", "db", "db"]],
    ["db", "", below, ["srv/web/db/x", "app.srv", "srv/web/db@app.srv"]],
    ["db", "_group_", below, ["srv/web/db/x", "srv.web.db", "srv/web/db"]],
  ])("%s@%s", (group, pkg, around, expected) => {
    expect(place(group, pkg, around)).toEqual(expected);
  });

  it("takes the package of its header from the root, unless the list names one", () => {
    expect(place("db", null, below, "top")[1]).toBe("top");
    expect(place("db", null, below, "_global_")[1]).toBe("");
    expect(place("db", "mine", below, "top")[1]).toBe("app.srv.mine");
  });

  it("is addressed by the same key whatever its header says", () => {
    expect(place("db", null, below, "top")[2]).toBe(place("db", null, below)[2]);
  });
});

describe("keywords in packages", () => {
  const legacy = rootOfLists(DIALECTS["1.1"]);

  it.each([
    // group, package in the list, header: package, override key
    ["db", null, "_group_", "db", "db"],
    ["db", null, "_group_._name_", "db.x", "db"],
    ["db", null, "src._name_", "src.x", "db"],
    ["db", null, "_global_._name_", "x", "db"],
    ["db/engine", null, "_group_", "db.engine", "db/engine"],
    ["db", "_name_", null, "x", "db@x"],
    ["db", "_group_._name_", null, "db.x", "db@db.x"],
    // a group whose name contains a keyword is no exception
    ["same_name_as", null, null, "samexas", "same_name_as@samexas"],
  ])("in 1.1: %s@%s # @package %s", (group, pkg, header, wanted, key) => {
    expect(place(group, pkg, legacy, header).slice(1)).toEqual([wanted, key]);
  });

  it("counts the default package from the place of the list, and other headers from the root", () => {
    const below = { ...legacy, group: "srv", package: "app.srv" };
    expect(place("db", null, below, "_group_")[1]).toBe("app.srv.db");
    expect(place("db", null, below, "_group_.a")[1]).toBe("srv.db.a");
  });

  it.each(["1.2", "1.3"] as const)("are names in %s", (name) => {
    const root = rootOfLists(DIALECTS[name]);
    expect(place("db", null, root, "_group_")[1]).toBe("_group_");
    expect(place("db", null, root, "_name_")[1]).toBe("_name_");
    expect(place("db", "_name_", root)[1]).toBe("_name_");
  });
});

describe("a config in its place", () => {
  const below = { ...ROOT, group: "srv/web", package: "app.srv" };

  it.each([
    ["db/x", null, ["srv/web/db/x", "srv/web/db", "app.srv.db"]],
    ["x", null, ["srv/web/x", "srv/web", "app.srv"]],
    ["/db/x", null, ["db/x", "db", "app.srv.db"]],
    ["/x", null, ["x", "", "app.srv"]],
    ["db/x", "_group_", ["srv/web/db/x", "srv/web/db", "srv.web.db"]],
    ["/db/x", "_group_", ["db/x", "db", "db"]],
    ["/db/x", "_global_", ["db/x", "db", ""]],
  ])("%s@%s", (path, pkg, expected) => {
    const item = { kind: "config", path, package: pkg, optional: false } as const;
    const placed = placeItem({ ...item, origin: fromCode("test") }, null, below);
    expect([placed.configPath, placed.group, finalPackage(placed, null)]).toEqual(expected);
    expect([placed.name, placed.overrideKey]).toEqual(["x", null]);
  });
});

describe("an override key", () => {
  const name = fc.stringMatching(/^[a-z]{1,4}$/);
  const group = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
  const pkg = fc.array(name, { maxLength: 3 }).map((parts) => parts.join("."));

  it("has a package exactly where the group is not at its default one", () => {
    fc.assert(
      fc.property(group, pkg, (path, target) => {
        const key = place(path, `_global_.${target}`)[2];
        const byDefault = target === path.replaceAll("/", ".");
        expect(key).toBe(byDefault ? path : `${path}@${target === "" ? "_global_" : target}`);
      }),
    );
  });

  it("leads an absolute path to the same choice from any place", () => {
    fc.assert(
      fc.property(group, pkg, group, pkg, (path, target, elsewhere, around) => {
        const fromRoot = place(path, `_global_.${target}`);
        const below = { ...ROOT, group: elsewhere, package: around };
        expect(place(`/${path}`, `_global_.${target}`, below)).toEqual(fromRoot);
      }),
    );
  });
});
