import { describe, expect, it } from "vitest";
import { compose as composeTexts } from "../../../../src/portable-engine.ts";
import { composeFiles, pointedAt, refusal } from "../in-memory.ts";

const FILES = {
  "db/mysql": "",
  "db/pg": "",
  "net/lan": "",
  "cloud/aws/zone/eu": "",
  "disk/ssd1": "",
  "disk/ssd/part/a": "",
  "kind/pg": "defaults: [override /db: mysql]",
  "kind/mysql": "defaults: [override /db@y: null]",
  base: "",
  "sub/main": "",
  a: "defaults: [b]",
  b: "defaults: [c]",
  c: "defaults: [b]",
  inner: "defaults: [/db@x: mysql]",
};

describe("a primary config that is not there", () => {
  it.each([
    ["bas", "base", "choose it with --config-name base"],
    ["sub/mian", "main", "choose it with --config-name sub/main"],
    [
      "conf/sub/main.yaml",
      undefined,
      "config names are relative to the config directory: use --config-name sub/main",
    ],
    [
      "x/base",
      undefined,
      "config names are relative to the config directory: use --config-name base",
    ],
    [
      "far_away",
      undefined,
      "--config-name NAME (-cn) gives the name of the config, --config-path DIR (-cp) its directory",
    ],
  ])("%s", (configName, nearest, hint) => {
    const { code, details } = refusal(() =>
      composeFiles(FILES, [], { configName, fromShell: true }),
    );
    const { key, nearest: named, hint: hinted } = details;
    expect([code, key, named, hinted]).toEqual([
      "compose.missing_config",
      configName,
      nearest,
      hint,
    ]);
  });
});

/** The item that is wrong, the key, the nearest name and what to do. */
const STORED =
  "there is no such file; a Python program may register it in its ConfigStore: read that with 'hydraconf python sync' (if that was done, choose the program with --app FILE), write it as a YAML file, or give it to the store of a program of yours";

describe("an option that an environment variable chooses", () => {
  const compose = (entry: string, env: Readonly<Record<string, string>>) =>
    composeTexts({
      files: {
        "conf/config.yaml": `defaults:\n- _self_\n- ${entry}\n`,
        "conf/env/dev.yaml": "a: 1\n",
        "conf/env/production.yaml": "a: 2\n",
      },
      configDir: "conf",
      configName: "config",
      env,
    });
  const hint = (entry: string, env: Readonly<Record<string, string>>) =>
    refusal(() => compose(entry, env)).details.hint;
  const entry = "env: ${oc.env:NODE_ENV,dev}";

  it("is named by the variable where it is empty, or has no file", () => {
    const options = "set the environment variable NODE_ENV to dev, or production";
    expect(hint(entry, { NODE_ENV: "" })).toBe(
      `the option is empty: ${options}; or unset it, for dev`,
    );
    expect(hint("env: ${oc.env:NODE_ENV}", { NODE_ENV: "" })).toBe(
      `the option is empty: ${options}`,
    );
    expect(hint(entry, { NODE_ENV: "qa" })).toBe(`${options}; or add a file for 'qa'`);
    expect(hint(entry, { NODE_ENV: "prodution" })).toBe(
      "set the environment variable NODE_ENV to production; or add a file for 'prodution'",
    );
    // As the hints say.
    expect(compose(entry, {}).get("env.a")).toBe(1);
    expect(compose(entry, { NODE_ENV: "production" }).get("env.a")).toBe(2);
  });
});

describe("an item that is refused", () => {
  it.each<[string, string, string | undefined, string | undefined, string | undefined]>([
    ["bas", "bas", "bas", "base", "write `base`"],
    ["far_away", "far_away", "far_away", undefined, STORED],
    ["sub/man", "sub/man", "sub/man", "main", "write `sub/main`"],
    ["db: mysq", "db: mysq", "db/mysq", "mysql", "write `db: mysql`"],
    ["db@x: mysq", "db@x: mysq", "db/mysq", "mysql", "write `db@x: mysql`"],
    ["db: far_away", "db: far_away", "db/far_away", undefined, STORED],
    [
      "cloud: aws",
      "cloud: aws",
      "cloud/aws",
      undefined,
      "'cloud/aws' is not an option but a config group with the groups zone",
    ],
    ["db: '???'", "db: '???'", "db", undefined, "add db=mysql"],
    ["disk: ssd", "disk: ssd", "disk/ssd", "ssd1", "write `disk: ssd1`"],
    ["db@x: '???'", "db@x: '???'", "db@x", undefined, "add db@x=mysql"],
    ["none: '???'", "none: '???'", "none", undefined, undefined],
    [
      "'???'",
      "'???'",
      "???",
      undefined,
      "only the option of a config group can be left open: `group: ???`",
    ],
    [
      "override db: pg, db: mysql",
      "override db: pg",
      "db",
      undefined,
      "move the override below 'db'",
    ],
    [
      "db: pg, override db: mysql, base",
      "override db: mysql",
      "db",
      undefined,
      "move the override below 'base'",
    ],
    [
      "db: pg, kind: '${db}'",
      "override /db: mysql",
      "db@kind.db",
      undefined,
      "choose the parent by name, or move the override into the list with the interpolation",
    ],
    [
      "db: ['${net}']",
      "db: ['${net}']",
      "db",
      undefined,
      "name the options, or interpolate only one: `group: ${other}`",
    ],
    ["net: null, db: '${net}'", "db: '${net}'", "db", undefined, undefined],
    [
      "db: pg, db: mysql",
      "db: mysql",
      "db",
      undefined,
      "write `override /db: mysql` at the end of the list",
    ],
    [
      "inner, /db@x: pg",
      "/db@x: pg",
      "db@x",
      undefined,
      "write `override /db@x: pg` at the end of the list",
    ],
    ["1: pg", "1: pg", undefined, undefined, "quote the name of the config group"],
    ["'': pg", "'': pg", undefined, undefined, "name a group"],
  ])("[%s]: at %s", (list, at, key, nearest, hint) => {
    const error = refusal(() => composeFiles({ ...FILES, config: `defaults: [${list}]` }));
    const { details } = error;
    expect([pointedAt(error), details.key, details.nearest, details.hint]).toEqual([
      at,
      key,
      nearest,
      hint,
    ]);
  });

  it.each([
    [["+db=mysql"], "+db=mysql", "the config group already has a value: use db=mysql without +"],
    [["+db@x=pg", "+db@x=mysql"], "+db@x=mysql", "keep only one: db@x is added twice"],
    [
      ["+cloud=aws"],
      "+cloud=aws",
      "'cloud/aws' is not an option but a config group with the groups zone",
    ],
    [["db=[pg,1]"], "db=[pg,1]", "quote names that look like numbers"],
  ])("%j on the command line", (overrides, at, hint) => {
    const config = "defaults: [db: pg]";
    const error = refusal(() => composeFiles({ ...FILES, config }, overrides));
    expect([pointedAt(error), error.details.hint]).toEqual([at, hint]);
  });

  it.each([
    ["a", "c -> b -> c"],
    ["config", "config -> config"],
  ])("a circle from %s, without what leads to it", (first, loop) => {
    const error = refusal(() => composeFiles({ ...FILES, config: `defaults: [${first}]` }));
    expect(error.message).toBe(`Defaults lists include each other endlessly: ${loop}`);
  });

  it("an option of a group that has none, without a list of them", () => {
    const error = refusal(() => composeFiles({ ...FILES, config: "defaults: [none: a]" }));
    expect(error.message).toMatch(
      /^In 'config': Could not find 'none\/a'\n\nConfig search path:\n/,
    );
  });

  it("a chain of lists that is deeper than any real tree, by its end", () => {
    const chain = Object.fromEntries(
      Array.from({ length: 450 }, (_, at) => [`c${at}`, `defaults: [c${at + 1}]`]),
    );
    const { message } = refusal(() => composeFiles({ ...chain, config: "defaults: [c0]" }));
    expect(message).toMatch(
      /^Defaults lists include each other endlessly: c395 -> (c\d+ -> ){4}c400$/,
    );
  });

  it.each([
    [
      "override db@x: null, db@x: mysql",
      "In config: Override 'db@x : None' is defined before 'db@x: mysql'.",
    ],
    [
      "db: pg, override db: mysql, net: null",
      "In config: Override 'db : mysql' is defined before 'net: None'.",
    ],
    ["db: mysql, kind: '${db}'", "of an in interpolated config group (override db@kind.y=None)."],
    ["db: pg, kind: '${db}'", "of an in interpolated config group (override db@kind.db=mysql)."],
    [
      "net: lan, override net: null, sub/main",
      "In config: Override 'net : None' is defined before 'sub: main'.",
    ],
    [
      "net: lan, override net: null, sub/main@x",
      "In config: Override 'net : None' is defined before 'sub@x: main'.",
    ],
    [
      "db: pg, net: lan, override net: null, net@z: null, net@z: lan",
      "In config: Override 'net : None' is defined before 'net@z: None'.",
    ],
    [
      "net: lan, net: null",
      "Multiple values for net. To override a value use 'override net: None'",
    ],
  ])("[%s]: in Hydra's words, null is None", (list, line) => {
    const error = refusal(() => composeFiles({ ...FILES, config: `defaults: [${list}]` }));
    expect(error.message.split("\n")).toContain(line);
  });
});
