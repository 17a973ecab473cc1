import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { composeFiles, type Files, pointedAt, refusal, rowTexts } from "../in-memory.ts";

const rows = (files: Files, overrides: readonly string[] = []) =>
  rowTexts(composeFiles(files, overrides).composition);
const choices = (files: Files, overrides: readonly string[] = []) =>
  Object.fromEntries(
    [...composeFiles(files, overrides).composition.choices].filter(
      ([key]) => !key.startsWith("hydra/"),
    ),
  );

const DB: Files = { "db/mysql": "port: 1", "db/pg": "port: 2", "db/lite": "port: 3" };

describe("the defaults tree", () => {
  it("puts a config's own content where _self_ stands", () => {
    expect(rows({ ...DB, config: "defaults: [_self_, db: mysql]\nx: 1" })).toEqual([
      "config@ (self)",
      "db/mysql@db",
    ]);
    expect(rows({ ...DB, config: "defaults: [db: mysql, _self_]\nx: 1" })).toEqual([
      "db/mysql@db",
      "config@ (self)",
    ]);
  });

  it("puts it last where the list has none, and warns if that is the primary config", () => {
    const files = {
      ...DB,
      config: "defaults: [db: mysql, inner]\nx: 1",
      inner: "defaults: [db/pg]",
    };
    const { composition } = composeFiles(files);
    expect(rowTexts(composition)).toEqual([
      "db/mysql@db",
      "db/pg@db",
      "inner@ (self)",
      "config@ (self)",
    ]);
    expect(composition.warnings.map(({ code, message }) => [code, message.split(".")[0]])).toEqual([
      ["missing_self", "In 'config': Defaults list is missing `_self_`"],
    ]);
    const { origin } = composition.warnings[0] ?? {};
    expect(origin?.kind === "file" && origin.source.text.slice(origin.start, origin.end)).toBe(
      "db: mysql",
    );
  });

  it("does not warn where there is no list, or one of overrides alone, and the command line appends", () => {
    const override = "defaults: [override hydra/job_logging: none]\nx: 1";
    for (const config of ["x: 1", override]) {
      const { composition } = composeFiles({ ...DB, config }, ["+db=pg"]);
      expect(composition.warnings).toEqual([]);
      expect(composition.choices.get("db")).toBe("pg");
    }
  });

  it("takes a list of any number of options of one group", () => {
    const options = Array.from({ length: 130_000 }, () => "lite");
    const config = `defaults: [db: [${options.join(",")}], _self_]`;
    expect(composeFiles({ ...DB, config }).get("db.port")).toBe(3);
  });

  it("takes +group=_self_ for one more _self_, and refuses it beside one of the list", () => {
    const files = {
      ...DB,
      config: "defaults: [db: mysql]\nx: 1",
      own: "defaults: [_self_, db: mysql]",
      bare: "x: 1",
      group: "defaults: [db: _self_]",
    };
    expect(rows(files, ["+db@x=_self_"])).toEqual([
      "db/mysql@db",
      "config@ (self)",
      "config@ (self)",
    ]);
    expect(choices(files, ["+db@x=_self_"])).toEqual({ db: "mysql" });
    const compose = (configName: string, overrides: readonly string[] = []) =>
      composeFiles(files, overrides, { configName });
    expect(rowTexts(compose("bare", ["+db=_self_"]).composition)).toHaveLength(2);
    for (const error of [
      refusal(() => compose("own", ["+db@x=_self_"])),
      refusal(() => compose("group")),
    ]) {
      expect(error.code).toBe("compose.invalid_defaults");
      expect(error.message).toBe("'_self_' cannot be selected: it is not an option of 'db'");
    }
  });

  it("refuses options that are no names where it comes to their group", () => {
    const files = { ...DB, config: "defaults: [nope, db: mysql, _self_]" };
    expect(refusal(() => composeFiles(files, ["db=[pg,1]"])).message).toBe(
      "Config group override must be a list of strings: 'db=[pg,1]'",
    );
    expect(refusal(() => composeFiles(files, ["db@x=[1]"])).message).toMatch(/^In 'config': Could/);
    expect(refusal(() => composeFiles(files, ["db=[1]", "++db=pg"])).message).toMatch(/^force-add/);
  });

  it("gives a list of overrides alone no _self_", () => {
    const files = {
      ...DB,
      config: "defaults: [db: mysql, exp, _self_]",
      exp: "defaults: [override db: pg]",
    };
    expect(rows(files)).toEqual(["db/pg@db", "exp@", "config@ (self)"]);
  });

  it("selects several options of one group", () => {
    const files = { ...DB, config: "defaults: [db: [pg, mysql], _self_]" };
    expect(rows(files)).toEqual(["db/pg@db", "db/mysql@db", "config@ (self)"]);
    expect(rows(files, ["db=[lite]"])).toEqual(["db/lite@db", "config@ (self)"]);
    expect(rows(files, ["db=lite"])).toEqual(["db/lite@db", "config@ (self)"]);
    // Without a single choice there is none to refer to.
    expect(choices(files)).toEqual({});
  });

  // As Hydra does, whose path of a null is that of `None`.
  it("reads the None.yaml of a group that is null, and does nothing with it", () => {
    const files = { ...DB, config: "defaults: [db: null, _self_]" };
    expect(rows({ ...files, "db/None": "port: 9" })).toEqual(["config@ (self)"]);
    expect(refusal(() => rows({ ...files, "db/None": "port: [" })).code).toMatch(/^yaml\./);
  });

  it("leaves out what is null, optional and absent, or deleted", () => {
    const config = "defaults: [db: null, optional db@a: nope, db@b: pg, _self_]";
    expect(rows({ ...DB, config })).toEqual(["db/pg@b", "config@ (self)"]);
    expect(rows({ ...DB, config }, ["~db@b"])).toEqual(["config@ (self)"]);
    expect(rows({ ...DB, config }, ["~db@b=pg"])).toEqual(["config@ (self)"]);
    expect(refusal(() => rows({ ...DB, config }, ["~db@b=mysql"])).message).toBe(
      "Could not delete 'db@b=mysql'. No match in the defaults list",
    );
  });

  it("lets the command line win over overrides in lists, and those over the list itself", () => {
    const files = {
      ...DB,
      config: "defaults: [db: mysql, exp: a, _self_]",
      "exp/a": "# @package _global_\ndefaults: [override /db: pg]\nfrom: a",
    };
    expect(choices(files)).toEqual({ exp: "a", db: "pg" });
    expect(choices(files, ["db=lite"])).toEqual({ exp: "a", db: "lite" });
  });

  it("does not know an override that comes after its group was expanded", () => {
    const files = {
      ...DB,
      config: "defaults: [exp: a, db: mysql, _self_]",
      "exp/a": "# @package _global_\ndefaults: [override /db: pg]",
    };
    const error = refusal(() => rows(files));
    expect(error.code).toBe("compose.unused_override");
    expect(error.message).toBe(
      "In 'exp/a': Could not override 'db'.\nDid you mean to override db?",
    );
    expect(pointedAt(error)).toBe("override /db: pg");
  });

  it("lets _self_ stand behind overrides, which are for what comes later", () => {
    const files = {
      ...DB,
      config: "defaults: [db: mysql, exp: a, _self_]",
      "exp/a": "# @package _global_\ndefaults: [override /db: pg, _self_]\nfrom: a",
    };
    expect(rows(files)).toEqual(["db/pg@db", "exp/a@ (self)", "config@ (self)"]);
  });

  it("appends groups of the command line after everything", () => {
    const files = { ...DB, config: "defaults: [db: mysql, _self_]" };
    expect(rows(files, ["+db@x=pg", "+db@y=lite"])).toEqual([
      "db/mysql@db",
      "config@ (self)",
      "db/pg@x",
      "db/lite@y",
    ]);
    expect(rows({ ...DB, config: "x: 1" }, ["+db=pg"])).toEqual(["config@ (self)", "db/pg@db"]);
    const { composition } = composeFiles(DB, ["+db=pg"], { configName: null });
    expect(rowTexts(composition)).toEqual(["db/pg@db"]);
  });

  it("tells a config and a group of one name apart", () => {
    const files = { config: "defaults: [a, a: b]", a: "x: 1", "a/b": "y: 1" };
    expect(rows(files)).toEqual(["a@", "a/b@a", "config@ (self)"]);
  });

  it("resolves interpolations once all other choices of a list are made", () => {
    const files = {
      "db/pg": "",
      "table/pg_a": "",
      "kind/a": "",
      config: "defaults: [table: '${db}_${kind}', db: pg, kind: a, _self_]",
    };
    expect(choices(files)).toEqual({ table: "pg_a", db: "pg", kind: "a" });
  });

  it("lets the path of a config refer to items of the list by number, as they are written", () => {
    const files = { ...DB, "for/pg": "", "for/lan": "", "net/lan": "" };
    const paths = (list: string, ...overrides: string[]) =>
      rows({ ...files, config: `defaults: [${list}]` }, overrides);
    expect(paths("db: pg, 'for/${defaults.0.db}'")).toContain("for/pg@for");
    expect(paths("_self_, db: pg, 'for/${defaults.1.db}'")).toContain("for/pg@for");
    expect(paths("/net: lan, 'for/${defaults.0.net}'")).toContain("for/lan@for");
    // The _self_ that the list does not have is not counted; what the command line appends is.
    expect(paths("db: pg, 'for/${defaults.2.net}'", "+net=lan")).toContain("for/lan@for");
  });

  it("lets an interpolation see the environment", () => {
    const config = "defaults: [db: '${oc.env:DB}', _self_]";
    const { composition } = composeFiles({ ...DB, config }, [], { env: { DB: "pg" } });
    expect(composition.choices.get("db")).toBe("pg");
  });

  it("takes ??? that an interpolation answers for a group that is left open", () => {
    const files = { ...DB, config: "defaults:\n- db@x: ${oc.env:DB,???}\n- _self_" };
    expect(refusal(() => composeFiles(files)).message.split("\n")[0]).toBe(
      "You must specify 'db@x', e.g, db@x=<OPTION>",
    );
    expect(choices(files, ["db@x=pg"])).toEqual({ "db@x": "pg" });
    const { composition } = composeFiles(files, [], { mode: "multirun" });
    expect(rowTexts(composition)).toEqual(["config@ (self)"]);
  });

  it("leaves open groups open only for a sweep", () => {
    const files = { ...DB, config: "defaults:\n- db: ???\n- _self_" };
    const { composition } = composeFiles(files, [], { mode: "multirun" });
    expect(rowTexts(composition)).toEqual(["config@ (self)"]);
    const error = refusal(() => composeFiles(files));
    expect(error.code).toBe("compose.missing_option");
    expect(error.message).toBe(
      "You must specify 'db', e.g, db=<OPTION>\nAvailable options:\n\tlite\n\tmysql\n\tpg",
    );
  });
});

describe("the defaults tree refuses", () => {
  it.each([
    ["[db: mysq, _self_]", "compose.missing_option", "In 'config': Could not find 'db/mysq'"],
    ["[nope]", "compose.missing_config", "In 'config': Could not load 'nope'."],
    ["[_self_, _self_]", "compose.invalid_defaults", "Duplicate _self_ defined in config"],
    [
      "[db: pg, db: mysql]",
      "compose.invalid_defaults",
      "Multiple values for db. To override a value use 'override db: mysql'",
    ],
    [
      "[db: pg, db: pg]",
      "compose.invalid_defaults",
      "db appears more than once in the final defaults list",
    ],
    [
      "[override db: pg, db: mysql]",
      "compose.invalid_defaults",
      "In config: Override 'db : pg' is defined before 'db: mysql'.",
    ],
    [
      "[db: '${nope}', db@x: pg]",
      "compose.invalid_defaults",
      "Error resolving interpolation '${nope}', possible interpolation keys: db@x",
    ],
    [
      "[db: ['${x}']]",
      "compose.invalid_defaults",
      "In 'config': Defaults List interpolation is not supported in options list items",
    ],
    [
      "[db: '${defaults.0.db}']",
      "compose.invalid_defaults",
      "Defaults list element 'db=${defaults.0.db}' is using a deprecated interpolation form.",
    ],
    [
      "[/db: '${defaults.0.db}']",
      "compose.invalid_defaults",
      "Defaults list element 'db=${defaults.0.db}' is using a deprecated interpolation form.",
    ],
    [
      "[db@x: pg, db: 'a${defaults.0.db}']",
      "compose.invalid_defaults",
      "Error resolving interpolation 'a${defaults.0.db}', possible interpolation keys: db@x",
    ],
  ])("%s", (list, code, firstLine) => {
    const error = refusal(() => composeFiles({ ...DB, config: `defaults: ${list}` }));
    expect(error.code).toBe(code);
    expect(error.message.split("\n")[0]).toBe(firstLine);
    expect(error.details.origin?.kind).toBe("file");
  });

  it("a missing option with all options and the nearest one", () => {
    const { details } = refusal(() => composeFiles({ ...DB, config: "defaults: [db: mysq]" }));
    expect(details.available).toEqual(["lite", "mysql", "pg"]);
    expect(details.nearest).toBe("mysql");
    expect(details.hint).toBe("write `db: mysql`");
  });

  it("an interpolation that cannot be resolved, saying why where it is not for want of a group", () => {
    const refused = (list: string) =>
      refusal(() => composeFiles({ ...DB, config: `defaults: [${list}]` })).message.split("\n");
    expect(refused("db: '${oc.env:NOPE}', db@x: pg")).toEqual([
      "Error resolving interpolation '${oc.env:NOPE}', possible interpolation keys: db@x",
      "Resolver 'oc.env' failed: Environment variable 'NOPE' not found",
    ]);
    expect(refused("db: '${nope}'")).toEqual(["Error resolving interpolation '${nope}'"]);
  });

  it("a choice of Hydra's groups that is no override, saying how it is written", () => {
    const config = "defaults: [hydra/job_logging: default, db: pg]";
    const { message, details } = refusal(() => composeFiles({ ...DB, config }));
    expect(message).toBe("hydra/job_logging appears more than once in the final defaults list");
    expect(details.hint).toContain("write `override hydra/job_logging: default`");
  });

  it("a choice of one's own group below hydra that is made twice, not as one of Hydra's", () => {
    const config = "defaults: [hydra/own: a, hydra/own: a]";
    const { details } = refusal(() => composeFiles({ "hydra/own/a": "b: 1", config }));
    expect(details.hint).toMatch(/^keep only one of the two/);
    const twice = { "hydra/own/b": "defaults: [/db: a, /db: a]", "db/a": "" };
    const files = { ...twice, config: "defaults: [hydra/own: b]" };
    expect(refusal(() => composeFiles(files)).details.hint).toMatch(/^keep only one of the two/);
  });

  it("a missing option where there is a single one, naming it", () => {
    const files = { config: "defaults: [net: wan]", "net/lan": "" };
    const [found, ...options] = refusal(() => composeFiles(files)).message.split("\n", 4);
    expect(found).toBe("In 'config': Could not find 'net/wan'");
    expect(options).toEqual(["", "Available options in 'net':", "\tlan"]);
  });

  it("a second _self_ and a second choice at the second, with what to do", () => {
    const refused = (list: string) =>
      refusal(() => composeFiles({ ...DB, config: `defaults:\n${list}` }));
    const selves = refused("- _self_\n- db: pg\n- _self_");
    expect(selves.details.origin).toMatchObject({
      start: "defaults:\n- _self_\n- db: pg\n- ".length,
    });
    expect(refused("- db@x: pg\n- db@x: pg").details.hint).toBe(
      "keep only one of the two, or put one into another package (db@PACKAGE)",
    );
  });

  it("a circle, naming it", () => {
    const error = refusal(() =>
      composeFiles({ config: "defaults: [a]", a: "defaults: [b, c]", b: "", c: "defaults: [a]" }),
    );
    expect(error.code).toBe("compose.invalid_defaults");
    expect(error.message).toContain("a -> c -> a");
  });

  it("overrides below an interpolated choice", () => {
    const error = refusal(() =>
      composeFiles({
        ...DB,
        config: "defaults: [db: pg, kind: '${db}']",
        "kind/pg": "defaults: [override /db: lite]",
      }),
    );
    expect(error.message).toContain("kind/pg: Default List Overrides are not allowed");
  });
});

describe("for any list of choices", () => {
  const option = fc.constantFrom("mysql", "pg", "lite");
  const packages = fc.uniqueArray(fc.stringMatching(/^x[a-e]$/), { minLength: 1, maxLength: 5 });

  it("rows come in the order of the list, with _self_ in its place", () => {
    fc.assert(
      fc.property(
        packages,
        fc.array(option, { minLength: 5, maxLength: 5 }),
        fc.nat(5),
        (names, options, at) => {
          const items = names.map((name, index) => `db@${name}: ${options[index]}`);
          const where = Math.min(at, items.length);
          const expected = names.map((name, index) => `db/${options[index]}@${name}`);
          items.splice(where, 0, "_self_");
          expected.splice(where, 0, "config@ (self)");
          expect(rows({ ...DB, config: `defaults: [${items.join(", ")}]` })).toEqual(expected);
        },
      ),
    );
  });

  it("an override on the command line changes that choice and no other", () => {
    fc.assert(
      fc.property(packages, option, fc.nat(), (names, chosen, pick) => {
        const items = names.map((name) => `db@${name}: pg`);
        const config = `defaults: [${items.join(", ")}, _self_]`;
        const target = names[pick % names.length];
        const after = choices({ ...DB, config }, [`db@${target}=${chosen}`]);
        const before = choices({ ...DB, config });
        expect(after).toEqual({ ...before, [`db@${target}`]: chosen });
      }),
    );
  });
});
