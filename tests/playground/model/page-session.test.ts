import fc from "fast-check";
import { expect, test } from "vitest";
import { choiceMenus, lineWithOption } from "../../../src/playground/model/choice-menus.ts";
import { configLines, valueHistory } from "../../../src/playground/model/config-lines.ts";
import { defaultsRows } from "../../../src/playground/model/defaults-rows.ts";
import { differencesOf } from "../../../src/playground/model/differences.ts";
import { overridesIn } from "../../../src/playground/model/override-line.ts";
import {
  openSession,
  type TreeSession,
  withoutMistakes,
} from "../../../src/playground/model/page-session.ts";
import { compose } from "../../../src/portable-engine.ts";
import { SAMPLE, treeOf } from "../sample.ts";

const open = (texts = SAMPLE): TreeSession =>
  openSession(treeOf(texts), new Map(Object.entries(texts)));

function composed(line: string, session = open()) {
  const result = session.compose({ configName: "config", overrides: overridesIn(line) });
  if (result.kind === "failed") throw new Error(JSON.stringify(result.problems));
  return result;
}

function problems(line: string, session = open()) {
  const result = session.compose({ configName: "config", overrides: overridesIn(line) });
  return result.kind === "failed" ? result.problems : [];
}

const history = (line: string, key: string) => {
  const { composition, context } = composed(line);
  return valueHistory(composition, context, { directory: "conf", key });
};

test("a config has the lines that hydraconf prints, each with the key that begins in it", () => {
  const { composition, context } = composed("db.port=1 +text='a: b'");
  const lines = configLines(composition, context, { resolve: false });
  const files = Object.fromEntries(
    Object.entries(SAMPLE).map(([path, text]) => [`c/${path}`, text]),
  );
  const overrides = ["db.port=1", "+text='a: b'"];
  const printed = compose({
    files,
    configDir: "c",
    configName: "config",
    overrides: ["db.port=1"],
  });
  const expected = printed.toYaml().trimEnd().split("\n");
  expect(lines.map(({ text }) => text).slice(0, expected.length)).toEqual(expected);
  expect(overrides).toHaveLength(2);
  const keyed = lines.map(({ key, text }) => [text.trim().replace(/:.*/, ""), key]);
  expect(keyed).toEqual([
    ["db", "db"],
    ["driver", "db.driver"],
    ["port", "db.port"],
    ["model", "db.model"],
    ["_target_", "db.model._target_"],
    ["name", "name"],
    ["root", "root"],
    ["debug", "debug"],
    ["text", "text"],
  ]);
  expect(lines.flatMap(({ isOverride, key }) => (isOverride ? [key] : []))).toEqual([
    "db.port",
    "text",
  ]);
});

test("a value that stands in two places has the key of each", () => {
  const texts = { "config.yaml": "a: &x\n  k: 1\nb: *x\nl:\n- *x\n- k: 2\n" };
  const { composition, context } = composed("", open(texts));
  const keys = configLines(composition, context, { resolve: false }).map(({ key }) => key);
  expect(keys).toEqual(["a", "a.k", "b", "b.k", "l", "l.0.k", "l.1.k"]);
});

test("what can be resolved is, and the rest stays as it is written", () => {
  const { composition, context } = composed("");
  const lines = configLines(composition, context, { resolve: true }).map(({ text }) => text);
  expect(lines).toContain("name: mysql-x");
  expect(lines).toContain("root: ${oc.env:HOME}");
});

test("a value tells what set it, how its file came in, and what it replaced", () => {
  expect(history("db=pg db.port=1", "db.port")).toEqual({
    key: "db.port",
    value: "1",
    resolved: undefined,
    note: undefined,
    setBy: {
      place: {
        kind: "override",
        text: "override 'db.port=1'",
        override: "db.port=1",
        index: 1,
        span: expect.anything(),
      },
      broughtInBy: [],
    },
    replaced: [
      {
        value: "5432",
        place: { kind: "file", text: "conf/db/pg.yaml:2:7", path: "db/pg.yaml", line: 2 },
        broughtInBy: [
          {
            text: "chosen by db=pg",
            place: expect.objectContaining({ text: "override 'db=pg'" }),
          },
          { text: "in the composition of config", place: undefined },
        ],
      },
    ],
  });
  expect(history("", "name")?.resolved).toEqual({ text: '"mysql-x"', isProblem: false });
  expect(history("", "root")?.resolved).toMatchObject({ isProblem: true });
  expect(history("", "root")?.resolved?.text).toContain("HOME");
  expect(history("", "db.model._target_")?.note).toContain("not looked up");
  expect(history("", "nothing.there")).toBeUndefined();
});

test("a mistake is told with its place, the nearest name and what to do, without the search path", () => {
  const [option] = problems("db=pq");
  expect(option).toMatchObject({
    code: "compose.missing_option",
    nearest: "pg",
    available: ["mysql", "pg"],
    place: { kind: "override", override: "db=pq", index: 0 },
  });
  expect(option?.message.join("\n")).not.toMatch(/provider|Available/);
  const [syntax] = problems("db=pg x=[1");
  expect(syntax).toMatchObject({ code: "override.syntax", place: { index: 1 } });
  expect(problems("db.prot=1")[0]).toMatchObject({ nearest: "db.port" });
  const broken = { ...SAMPLE, "db/mysql.yaml": "a: 1\nb: [1\n" };
  expect(problems("", open(broken))[0]).toMatchObject({
    place: { kind: "file", path: "db/mysql.yaml" },
  });
  expect(problems("-m db=pg")[0]?.hint).toBe(
    "write overrides alone: the page takes no flags of the program",
  );
});

test("a sweep has its jobs as Hydra makes them, and the config of the first one", () => {
  const result = composed("db=pg,mysql debug=true +x=range(1,3)");
  expect(result.jobs).toEqual([
    ["db=pg", "debug=True", "+x=1"],
    ["db=pg", "debug=True", "+x=2"],
    ["db=mysql", "debug=True", "+x=1"],
    ["db=mysql", "debug=True", "+x=2"],
  ]);
  expect(result.composition.choices.get("db")).toBe("pg");
  expect(composed("db=pg").jobs).toEqual([]);
  expect(composed("db=glob(*)").jobs).toEqual([["db=mysql"], ["db=pg"]]);
});

test("a sweep leaves out what hydra.sweeper.exclude does", () => {
  const excluding = {
    ...SAMPLE,
    "config.yaml": `${SAMPLE["config.yaml"]}hydra:\n  sweeper:\n    exclude:\n    - {db: pg}\n`,
  };
  expect(composed("db=pg,mysql", open(excluding)).jobs).toEqual([["db=mysql"]]);
});

test("what no sweep can be is told, at its job where that is wrong", () => {
  expect(problems("debug=range(0,1000000)")[0]?.message).toEqual([
    "The sweep has 1,000,000 jobs; the page shows sweeps of up to 10,000 jobs",
  ]);
  expect(problems("+x=interval(0,1)")[0]).toMatchObject({
    code: "override.sweep_not_allowed",
    place: { kind: "override", override: "+x=interval(0,1)" },
  });
  expect(problems("hydra/sweeper=random db=pg,mysql")[0]).toMatchObject({
    code: "override.sweep_not_allowed",
    hint: "add hydra/sweeper=basic to see all combinations",
  });
  expect(problems("debug=true db=pq,mysql")[0]).toMatchObject({
    nearest: "pg",
    place: { kind: "other", text: "override 'db=pq'" },
  });
});

test("warnings and notes of a composition are told once", () => {
  const texts = { "config.yaml": "default:\n- db: mysql\n", "db/mysql.yaml": "a: 1\n" };
  const [note, ...others] = composed("", open(texts)).warnings;
  expect(note).toMatchObject({ code: "note", place: { path: "config.yaml", line: 2 } });
  expect(note?.message.join()).toContain("`defaults:`");
  expect(others).toEqual([]);
  expect(composed("").warnings).toEqual([]);
});

test("words are completed as in a shell", () => {
  const texts = (word: string, ...before: readonly string[]) =>
    open()
      .complete(word, before, "config")
      .map(({ text }) => text);
  expect(texts("d")).toEqual(["db.", "db=", "debug="]);
  expect(texts("db=")).toEqual(["db=mysql", "db=pg"]);
  expect(texts("db.p", "db=pg")).toEqual(["db.port="]);
  expect(texts("db.port=", "db=pg")).toEqual(["db.port=5432"]);
  expect(texts("debug=")).toEqual(expect.arrayContaining(["debug=true", "debug=false"]));
  expect(texts("+extra=")).toEqual(["+extra=more"]);
  expect(texts("~d")).toEqual(expect.arrayContaining(["~db", "~debug"]));
  expect(texts("db.", "x=[1")).toEqual([]);
  expect(texts("deb", "db=pg,mysql")).toEqual(["debug="]);
  // Files of this machine are not the page's.
  expect(texts("debug=/")).toEqual([]);
});

test("groups are menus, in the order of the config, then those that it does not have", () => {
  const menus = choiceMenus(composed("").composition).filter(({ isHydra }) => !isHydra);
  expect(menus).toEqual([
    { key: "db", options: ["mysql", "pg"], chosen: "mysql", isListed: true, isHydra: false },
    { key: "cache", options: ["redis"], chosen: null, isListed: true, isHydra: false },
    { key: "extra", options: ["more"], chosen: null, isListed: false, isHydra: false },
  ]);
});

test.each([
  ["", "db", "pg", "db=pg"],
  ["db=pg debug=true", "db", "mysql", "debug=true"],
  ["name='x y' db=pg debug=true", "db", "mysql", "name='x y' debug=true"],
  ["debug=true", "db", null, "debug=true ~db"],
  ["", "cache", "redis", "cache=redis"],
  ["cache=redis", "cache", null, ""],
  ["", "extra", "more", "+extra=more"],
  ["+extra=more db=pg", "extra", null, "db=pg"],
  ["~db debug=true", "db", "pg", "db=pg debug=true"],
])("the line %j with %s=%s is %j", (line, key, option, expected) => {
  const session = open();
  const made = lineWithOption(session, { configName: "config", line }, { key, option });
  expect(made).toBe(expected);
  const { choices } = composed(made, session).composition;
  expect(choices.get(key) ?? null).toBe(option);
});

test("a sweep of an alias is that of its key", () => {
  const texts = {
    ...SAMPLE,
    "config.yaml": `${SAMPLE["config.yaml"]}hydra:\n  override:\n    aliases:\n      p: db.port\n      pg: db=pg\n`,
  };
  const session = openSession(treeOf(texts, { dialect: "1.4" }), new Map(Object.entries(texts)));
  expect(composed("pg p=1,2", session).jobs).toEqual([
    ["db=pg", "db.port=1"],
    ["db=pg", "db.port=2"],
  ]);
  expect(problems("db.prot=1,2", session)[0]).toMatchObject({ nearest: "db.port" });
});

test("of any line, what is left out of its config is what is wrong in it", () => {
  const right = ["db=pg", "debug=true", "name=x", "+new=1", "cache=redis", "db.port=1,2"];
  const wrong = ["no.such=1", "extra=more", "x=[1", "db.prot=2", "db.model=[", "~nothing"];
  const session = open();
  fc.assert(
    fc.property(fc.shuffledSubarray([...right, ...wrong]), (overrides) => {
      const found = withoutMistakes(session, { configName: "config", overrides });
      expect(found?.left).toEqual(overrides.filter((one) => wrong.includes(one)));
      const kept = overrides.filter((one) => right.includes(one));
      const expected = session.compose({ configName: "config", overrides: kept });
      expect(found?.composed).toEqual(expected);
    }),
    { numRuns: 60 },
  );
});

test("a menu adds a group also to a line with a mistake", () => {
  const session = open();
  const call = { configName: "config", line: "db=pg no.such=1" };
  const chosen = (key: string, option: string) => lineWithOption(session, call, { key, option });
  expect(chosen("extra", "more")).toBe("db=pg no.such=1 +extra=more");
  expect(chosen("db", "mysql")).toBe("no.such=1");
});

test("two lines differ in keys, each with what set it", () => {
  const [older, newer] = [composed(""), composed("db=pg +x=1")];
  const found = differencesOf(older.composition, newer.composition, "conf");
  expect(found.map(({ key, kind }) => [key, kind])).toEqual([
    ["db.driver", "changed"],
    ["db.port", "changed"],
    ["db.model._target_", "removed"],
    ["x", "added"],
  ]);
  expect(found[1]).toMatchObject({
    older: { text: "3306", place: { path: "db/mysql.yaml", line: 2 } },
    newer: { text: "5432", place: { path: "db/pg.yaml", line: 2 } },
  });
});

test("the defaults tree is rows with their depth, state and file", () => {
  const { composition } = composed("");
  expect(defaultsRows(composition, { directory: "conf", withHydra: false })).toEqual([
    { depth: 0, label: "config", package: "", state: "used", path: "config.yaml" },
    { depth: 1, label: "db: mysql", package: "db", state: "used", path: "db/mysql.yaml" },
    { depth: 1, label: "cache", package: "cache", state: "none", path: undefined },
    { depth: 1, label: "_self_", package: "", state: "self", path: "config.yaml" },
  ]);
  const all = defaultsRows(composition, { directory: "conf", withHydra: true });
  expect(all.some(({ label }) => label.startsWith("hydra"))).toBe(true);
});
