import { describe, expect, it } from "vitest";
import { composeFiles, refusal } from "../in-memory.ts";

const FILES = {
  config: "defaults: [db@a: pg, db@b: pg, net: lan, _self_]",
  "db/pg": "",
  "net/lan": "",
  "disk/ssd": "",
};

const DB = { "db/mysql": "port: 1", "db/pg": "port: 2" };

const GLOBAL = "# @package _global_\n";

const refused = (...overrides: string[]) => refusal(() => composeFiles(FILES, overrides));

describe("a group override that meets no group", () => {
  it("names the keys under which the group appears", () => {
    const error = refused("db=pg");
    expect(error.code).toBe("compose.ambiguous_override");
    expect(error.message).toBe(
      "Could not override 'db'.\nDid you mean to override one of db@a, db@b?\nTo append to your default list use +db=pg",
    );
    expect(error.details.available).toEqual(["db@a", "db@b"]);
  });

  it("says how to address the only one", () => {
    const error = refused("net@x=lan");
    expect(error.code).toBe("compose.unused_override");
    expect(error.message.split("\n")[1]).toBe("Did you mean to override net?");
    expect(error.details.hint).toBe("use net=lan, or +net@x=lan");
    const far = refused("net@some.other.place=lan").details;
    expect(far).toMatchObject({ nearest: "net", available: ["net"] });
  });

  it("says how to append a group that is nowhere in the list", () => {
    const error = refused("disk=ssd");
    expect(error.message).toBe(
      "Could not override 'disk'. No match in the defaults list.\nTo append to your default list use +disk=ssd",
    );
    expect(error.details.hint).toBe("use +disk=ssd");
    expect(error.details.available).toEqual(expect.arrayContaining(["db@a", "db@b", "net"]));
    expect(error.details.available).not.toContain("disk");
  });

  it("quotes a list of options as Hydra does, and hints at what can be typed", () => {
    const error = refused("disk=[ssd,ssd]");
    expect(error.message.split("\n")[1]).toBe(
      "To append to your default list use +disk=['ssd', 'ssd']",
    );
    expect(error.details.hint).toBe("use +disk=[ssd,ssd]");
  });

  it.each([
    ["[1,2]", "[1, 2]"],
    ["[ssd,1.5]", "['ssd', 1.5]"],
    ["[null]", "[None]"],
    ["[ssd,[hdd]]", "['ssd', ['hdd']]"],
  ])("shows %s as it was given, and says that options have names", (given, shown) => {
    const error = refused(`disk=${given}`);
    expect(error.message.split("\n")[1]).toBe(`To append to your default list use +disk=${shown}`);
    expect(error.details.hint).toBe("quote option names that look like numbers");
  });

  it.each([
    ["override db: pg", "# @package _global_\n", "override /db: pg"],
    ["override /db: pg", "", "override /db@_global_.db: pg"],
    ["override db: pg", "", "override /db@_global_.db: pg"],
    ["override hydra/launcher: basic", "# @package _global_\n", "override /hydra/launcher: basic"],
    [
      "override /hydra/launcher: basic",
      "",
      "override /hydra/launcher@_global_.hydra.launcher: basic",
    ],
  ])(
    "of a file in a group, %s (header %j): the hint is a line that works",
    (line, header, fixed) => {
      const composed = (text: string) => () =>
        composeFiles(
          { ...DB, config: "defaults: [_self_, db: mysql]", "e/x": `${header}defaults: [${text}]` },
          ["+e=x"],
        );
      const { details } = refusal(composed(line));
      expect(details.hint).toBe(`write \`${fixed}\``);
      expect(fixed).toContain(`/${details.nearest}`);
      expect(composed(fixed)).not.toThrow();
    },
  );

  it.each([
    ["override db: pg", GLOBAL, "write `override /db@a: pg`, or `override /db@b: pg`"],
    ["override db@b: pg", GLOBAL, "write `override /db@b: pg`"],
    ["override db@b: pg", "", "write `override /db@_global_.b: pg`"],
    [
      "override /db@_global_.c: pg",
      GLOBAL,
      "write `override /db@_global_.a: pg`, or `override /db@_global_.b: pg`",
    ],
  ])(
    "of a file in a group, where the group is in several packages: %s (header %j)",
    (line, header, hint) => {
      const files = { ...FILES, "e/x": `${header}defaults: [${line}]` };
      expect(refusal(() => composeFiles(files, ["+e=x"])).details.hint).toBe(hint);
    },
  );

  it("of a file that stands above the group: the hint is the order that works", () => {
    const composed = (list: string) => () =>
      composeFiles({
        ...DB,
        config: `defaults: [_self_, ${list}]`,
        "e/x": "# @package _global_\ndefaults: [override /db: pg]",
      });
    expect(refusal(composed("e: x, db: mysql")).details.hint).toBe(
      "an override reaches what stands above its file in the list: put db above e/x",
    );
    expect(composed("db: mysql, e: x")).not.toThrow();
  });

  it("of a group that the list has not yet is added without `override`", () => {
    const files = { ...DB, config: "defaults: [override db: pg]" };
    expect(refusal(() => composeFiles(files)).details.hint).toBe(
      "the list has no such group yet: without `override`, the line adds it",
    );
  });

  it("does not hint at an option that is not there", () => {
    expect(refused("disk=hdd").details.hint).toBeUndefined();
    expect(refused("disk=[ssd,hdd]").details.hint).toBeUndefined();
    expect(refused("net@x=wan").details.hint).toBe("to choose an option, use net=lan");
  });

  it("leads from a folder to the groups in it", () => {
    const files = {
      config: "defaults: [model/small/arch@model: a, model/small/infer@infer: b, _self_]",
      "model/small/arch/a": "",
      "model/small/infer/b": "",
    };
    const hint = (override: string) => refusal(() => composeFiles(files, [override])).details.hint;
    expect(hint("model=small")).toBe(
      "'model/small' contains config groups; choose each of them: model/small/arch@model=a, model/small/infer@infer=b",
    );
    composeFiles(files, ["model/small/arch@model=a", "model/small/infer@infer=b"]);
    expect(hint("+model=small")).toBe(
      "'model/small' is not an option but a config group with the groups arch, infer",
    );
    expect(hint("model=a")).toBe("to choose an option, use model/small/arch@model=a");
    const empty = { config: "defaults: [g/small/arch: null]", "g/small/arch/deeper/a": "" };
    expect(refusal(() => composeFiles(empty, ["g=small"])).details.hint).toBe(
      "'g/small' contains config groups; choose each of them: g/small/arch=OPTION",
    );
  });

  it("names the nearest of the groups that are in the list", () => {
    const files = { ...FILES, "nett/lan": "" };
    const { details } = refusal(() => composeFiles(files, ["nett=lan"]));
    expect(details).toMatchObject({ nearest: "net", hint: "use net=lan, or +nett=lan" });
    const deletion = refusal(() => composeFiles(files, ["~nett"])).details;
    expect(deletion).toMatchObject({ nearest: "net", hint: "use ~net" });
  });

  it("is refused as a deletion too", () => {
    const error = refused("~db");
    expect(error.code).toBe("compose.unused_override");
    expect(error.message).toBe("Could not delete 'db'. No match in the defaults list");
    expect(error.details.origin).toMatchObject({ kind: "override", text: "~db" });
  });
});
