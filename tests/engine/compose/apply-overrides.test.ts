import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { composeConfig } from "../../../src/engine/compose/compose.ts";
import type { Override } from "../../../src/engine/overrides/ast.ts";
import { parseOverride } from "../../../src/engine/overrides/index.ts";
import { getAt, map, scalar } from "../../../src/engine/values/node.ts";
import { fromCode } from "../../../src/engine/values/origin.ts";
import { withFlags } from "../../../src/engine/values/place.ts";
import { toObject } from "../../../src/engine/values/plain-objects.ts";
import { createResolveContext } from "../../../src/engine/values/resolution/context.ts";
import { growth } from "../../growth.ts";
import { composeFiles, refusal, snapshotOf } from "./in-memory.ts";

describe("apply overrides", () => {
  const CONFIG = `
a: {b: {c: 1}, n: null}
l: [1, 2]
d: {x: 1, y: 2}
ref: \${d}
text: hello
`;

  const compose = (...overrides: string[]) => composeFiles({ config: CONFIG }, overrides);
  const valueAt = (key: string, ...overrides: string[]) => compose(...overrides).get(key);
  const refused = (...overrides: string[]) => refusal(() => compose(...overrides));

  describe("an override of a value", () => {
    it.each([
      ["a.b.c=2", "a.b.c", 2],
      ["text=null", "text", null],
      ["l=[3]", "l", [3]],
      ["l.1=5", "l", [1, 5]],
      ["d={y:3}", "d", { x: 1, y: 3 }],
      ["+d.z=3", "d", { x: 1, y: 2, z: 3 }],
      ["+l=[9]", "l", [9]],
      ["+new.deep.key=1", "new", { deep: { key: 1 } }],
      ["++text=bye", "text", "bye"],
      ["++fresh=1", "fresh", 1],
      ["+a.n=1", "a.n", 1],
      ["a='${text}'", "a", "hello"],
    ])("%s", (override, key, expected) => {
      expect(valueAt(key, override)).toEqual(expected);
    });

    it("applies in the order in which it was given", () => {
      expect(valueAt("d", "d.x=2", "d.x=3", "~d.y")).toEqual({ x: 3 });
    });

    it("takes its share of the time, however many there are and however wide the config gets", async () => {
      const overrides = (count: number) =>
        Array.from({ length: count }, (_, at) => `+key_${at}=${at}`);
      expect(await growth((count) => compose(...overrides(count)), 500)).toBeLessThan(40);
      const deleted = (count: number) => [
        ...overrides(count),
        ...Array.from({ length: count }, (_, at) => `~key_${at}`),
      ];
      expect(await growth((count) => compose(...deleted(count)), 1000)).toBeLessThan(40);
    });

    it("takes its share of the time for each part of its key, also where that is far too deep", async () => {
      const deep = (depth: number) => refused(`+${"a.".repeat(depth)}a=1`);
      expect(deep(600)).toMatchObject({
        message: expect.stringContaining("at most 500 are allowed"),
      });
      expect(await growth(deep, 1000)).toBeLessThan(40);
    });

    it("deletes keys, and with a value only that value", () => {
      expect(valueAt("d", "~d.x")).toEqual({ y: 2 });
      expect(valueAt("d", "~d.x=1")).toEqual({ y: 2 });
      expect(valueAt("d", "~d.x=1.0")).toEqual({ y: 2 });
      expect(valueAt("d", "~d.x=null")).toEqual({ y: 2 });
      expect(compose("~a").get("a")).toBeUndefined();
    });

    it("deletes by value what Python takes for equal: numbers of any type, maps in any order", () => {
      const files = {
        config: "v: {flag: true, one: 1, text: '1', none: null, list: [1, {a: 2, b: [x]}]}",
      };
      const isDeleted = (override: string) =>
        composeFiles(files, [override]).get(override.replace(/^~|=.*/gu, "")) === undefined;
      for (const equal of [
        "~v.flag=1",
        "~v.one=true",
        "~v.one=1.0",
        "~v.list=[true,{b:[x],a:2.0}]",
      ])
        expect(isDeleted(equal), equal).toBe(true);
      for (const other of [
        "~v.text=1",
        "~v.one='1'",
        "~v.one=2",
        "~v.list=[1,2]",
        "~v.list=[1,{a:2,b:[]}]",
        "~v.list=[1,{a:2}]",
        "~v.list=[1,{a:2,b:x}]",
      ])
        expect(refusal(() => isDeleted(other)).message, other).toMatch(/^Could not delete/);
    });

    it("deletes keys of a map that stands in a list", () => {
      const files = { config: "l: [{x: 1, y: 2}, {x: 3, y: 4}]" };
      expect(composeFiles(files, ["~l.1.x"]).get("l")).toEqual([{ x: 1, y: 2 }, { y: 4 }]);
    });

    it("deletes where an interpolation on the way leads", () => {
      expect(valueAt("d", "~ref.x")).toEqual({ y: 2 });
    });

    it("does not delete by value where something in it cannot be resolved", () => {
      const odd = { config: "d: {x: '${nope}', y: 2}" };
      expect(refusal(() => composeFiles(odd, ["~d=[1]"])).message).toBe(
        "Could not delete from config. The value of 'd' is {'x': '${nope}', 'y': 2} and not [1].",
      );
      expect(refusal(() => composeFiles(odd, ["~d={x:1}"])).message).toBe(
        "Could not delete from config. The value of 'd' is {'x': '${nope}', 'y': 2} and not {'x': 1}.",
      );
      expect(refusal(() => composeFiles(odd, ["~d={x:1,y:2}"])).message).toBe(
        "Could not delete from config. The value of 'd' is {'x': '${nope}', 'y': 2} and not {'x': 1, 'y': 2}.",
      );
    });

    // As Hydra does: two mappings are first compared by how many keys they have.
    it("asks a resolver only where the value has the shape of the expected one", () => {
      const asked = (override: string) => {
        let times = 0;
        const count = { name: "count", resolve: () => BigInt(++times) };
        const files = { config: "d: {x: '${count:}', y: 2}\nl: ['${count:}']\ns: '${count:}'" };
        expect(
          refusal(() => composeFiles(files, [override], { resolvers: [count] })).message,
        ).toMatch(/^Could not delete from config. The value/);
        return times > 0;
      };
      expect(["~d={x:1}", "~d=[1]", "~l=[1,2]", "~l={a:1}"].map(asked)).toEqual([
        false,
        false,
        false,
        false,
      ]);
      expect(["~d={x:1,y:3}", "~l=[2]"].map(asked)).toEqual([true, true]);
    });

    it("shows the value that was not deleted as it was written", () => {
      const config = "text: hello\nd: {x: '${text}'}";
      expect(refusal(() => composeFiles({ config }, ["~d={x:1}"])).message).toBe(
        "Could not delete from config. The value of 'd' is {'x': '${text}'} and not {'x': 1}.",
      );
      expect(composeFiles({ config }, ["~d={x:hello}"]).get("d")).toBeUndefined();
    });

    it("leaves the tree alone where a resolver made the mapping to delete from", () => {
      const made = { config: "made: '${oc.create:{x: 3}}'\nx: 1" };
      expect(composeFiles(made, ["~made.x"]).toYaml()).toBe(composeFiles(made).toYaml());
    });

    it("finds nothing to delete in what a resolver returned", () => {
      const given = {
        name: "given",
        resolve: () => map([["x", scalar(1n, fromCode("test"))]], fromCode("test")),
      };
      const files = { config: "made: '${given:}'" };
      expect(refusal(() => composeFiles(files, ["~made.x"], { resolvers: [given] })).message).toBe(
        "Could not delete from config. 'made.x' does not exist.",
      );
    });

    it("adds a container only where the key could be looked up", () => {
      const lost = { config: "w: '${..z}'\nz: {}" };
      const lookup = refusal(() => composeFiles(lost, ["+w.x=[1]"]));
      expect(lookup.message.split("\n")[0]).toBe("Error merging override +w.x=[1]");
      expect(composeFiles(lost, ["++w.x=[1]"]).get("w")).toEqual({ x: [1] });
    });

    it("leaves everything it does not touch as it is, shared", () => {
      const base = compose().root;
      const changed = compose("text=x").root;
      expect(changed.entries.get("d")?.value).toEqual(base.entries.get("d")?.value);
    });
  });

  describe("an override in a config that a program stored read-only", () => {
    const node = withFlags(map([["x", scalar(1n, fromCode("test"))]], fromCode("test")), {
      readonly: true,
    });
    const store = new Map([["config", { node }]]);

    it("is refused, except in Hydra's own", () => {
      for (const override of ["x=2", "+y=1"])
        expect(refusal(() => composeFiles({}, [override], { store })).message).toBe(
          `Error merging override ${override}\nCannot change read-only config container`,
        );
      const { hydra } = composeFiles({}, ["hydra.job.name=me"], { store }).composition;
      expect(getAt(hydra, ["job", "name"])).toMatchObject({ value: "me" });
    });
  });

  describe("an override of a value is refused", () => {
    it("with all that is known of why: the key in it, and what would fit", () => {
      expect(refused("hydra.job={num: abc}").details.key).toBe("hydra.job.num");
      expect(refused("hydra.mode=sideways").details).toMatchObject({
        key: "hydra.mode",
        available: ["RUN", "MULTIRUN"],
      });
      expect(refused("~hydra.job").message).toMatch(
        /HydraConf \(DictConfig\) does not support deletion$/,
      );
    });

    it("where there is no such key, with the way to add it and the nearest key", () => {
      const error = refused("a.b.cc=1");
      expect(error.code).toBe("compose.override_failed");
      expect(error.message).toBe(
        "Could not override 'a.b.cc'.\nTo append to your config use +a.b.cc=1\nKey 'cc' is not in struct",
      );
      expect(error.details).toMatchObject({
        key: "a.b.cc",
        origin: { kind: "override", text: "a.b.cc=1" },
        available: ["a.b.c"],
      });
      expect(refused("textt=1").details.nearest).toBe("text");
      expect(refused("textt=1").details.hint).toBe("use text=1, or +textt=1 to add the key");
    });

    it("does not suggest a key that is not there either", () => {
      expect(refused("aa.b.cc=1").details).toMatchObject({ nearest: "a.b.c" });
      const { details } = refused("hydra.jobb.x=1");
      expect(details).not.toHaveProperty("nearest");
      expect(details.hint).toBe("use +hydra.jobb.x=1 to add the key");
      expect(details.available).toContain("hydra.job");
    });

    it("where there is no such key to delete, with the nearest", () => {
      expect(refused("~textt").details).toMatchObject({ nearest: "text", hint: "use ~text" });
      expect(refused("~entirely.other").details).not.toHaveProperty("hint");
    });

    it("where a dict brings a new key", () => {
      expect(refused("d={z:1}").message.split("\n")[0]).toBe("Could not override 'd'.");
    });

    it("where + meets a value", () => {
      const error = refused("+text=1");
      expect(error.message).toBe(
        [
          "Could not append to config. An item is already at 'text'.",
          "Either remove + prefix: 'text=1'",
          "Or add a second + to add or override 'text': '++text=1'",
        ].join("\n"),
      );
    });

    it.each([
      ["~nope", "Could not delete from config. 'nope' does not exist."],
      ["~text.x", "Could not delete from config. 'text.x' does not exist."],
      ["~a.n", "Could not delete from config. 'a.n' does not exist."],
      ["~d.x=2", "Could not delete from config. The value of 'd.x' is 1 and not 2."],
      [
        "~d={x:1}",
        "Could not delete from config. The value of 'd' is {'x': 1, 'y': 2} and not {'x': 1}.",
      ],
      ["~l.0", "Could not delete from config. 'l.0' is not a key of a mapping."],
      ["~hydra.job", "Error merging override ~hydra.job"],
      ["~hydra.run.dir", "Error merging override ~hydra.run.dir"],
      ["hydra.job=null", "Error merging override hydra.job=null"],
      ["hydra.overrides.task=5", "Error merging override hydra.overrides.task=5"],
      ["l={a:1}", "Error merging override l={a:1}"],
      ["l.7=1", "Error merging override l.7=1"],
      ["d={null:1}", "Error merging override d={null:1}"],
      [
        "d@x=1",
        "Override d@x=1 looks like a config group override, but config group 'd' does not exist.",
      ],
      ["hydra.job.num=abc", "Error merging override hydra.job.num=abc"],
      ["hydra.sweeper.params={a:b}", "Error merging override hydra.sweeper.params={a:b}"],
    ])("%s", (override, firstLine) => {
      const error = refused(override);
      expect(error.code).toBe("compose.override_failed");
      expect(error.message.split("\n")[0]).toBe(firstLine);
      expect(error.details.origin).toMatchObject({ kind: "override", text: override });
    });
  });

  /** What Hydra does with a mapping that its schema declares and that is null, errors of Python's included. */
  describe("a declared mapping that is null", () => {
    const key = "hydra.sweeper.params";
    const overridden = (override: string) =>
      composeFiles({ config: CONFIG }, [override]).composition;

    it.each(["=null", "={}"])("stays null with KEY%s, whatever the sign", (value) => {
      for (const sign of ["", "+", "++"]) {
        const params = getAt(overridden(`${sign}${key}${value}`).hydra, ["sweeper", "params"]);
        expect(params).toMatchObject({ kind: "scalar", value: null });
      }
    });

    it.each([
      ["=5", "Cannot assign int to Dict[str, str]"],
      ["=[]", "Cannot merge DictConfig with ListConfig"],
      ["=[1]", "Cannot merge DictConfig with ListConfig"],
      ["={a:b}", `'${key}' is null, so nothing can be merged into it`],
      [".a=1", `'${key}' is null, so nothing can be merged into it`],
      [".a.b={}", `'${key}' is null, so nothing can be merged into it`],
      [".a=[1]", `'${key}' is null, so nothing can be merged into it`],
    ])("refuses KEY%s, whatever the sign", (rest, why) => {
      for (const sign of ["", "+", "++"]) {
        const error = refusal(() => overridden(`${sign}${key}${rest}`));
        expect(error.message).toBe(`Error merging override ${sign}${key}${rest}\n${why}`);
        expect(error.details.key).toBe(key);
      }
    });

    it.each(["", "=null", ".a"])("cannot be deleted from: ~KEY%s", (rest) => {
      expect(refusal(() => overridden(`~${key}${rest}`)).message).toMatch(
        /^Could not delete from config/,
      );
    });
  });

  it("a declared mapping that is missing takes new keys only where they are added", () => {
    const params = (...overrides: readonly string[]) => {
      const given = ["hydra.sweeper.params='???'", ...overrides];
      return getAt(composeFiles({ config: CONFIG }, given).composition.hydra, [
        "sweeper",
        "params",
      ]);
    };
    const shown = (override: string) =>
      toObject(params(override) ?? scalar(null, fromCode("test")));
    expect(refusal(() => params("hydra.sweeper.params={a: b}")).message).toBe(
      "Could not override 'hydra.sweeper.params'.\nTo append to your config use +hydra.sweeper.params={a: b}\nKey 'a' is not in struct",
    );
    for (const sign of ["+", "++"])
      expect(shown(`${sign}hydra.sweeper.params={a: b}`)).toEqual({ a: "b" });
    expect(shown("hydra.sweeper.params={}")).toEqual({});
  });

  describe("a sweep", () => {
    it("is refused in a run", () => {
      const error = refused("d.x=1,2");
      expect(error.code).toBe("override.sweep_not_allowed");
      expect(error.message.split("\n")).toEqual([
        "Ambiguous value for argument 'd.x=1,2'",
        "1. To use it as a list, use key=[value1,value2]",
        "2. To use it as string, quote the value: key='value1,value2'",
        "3. To sweep over it, add --multirun to your command line",
      ]);
      expect(refused("d.x=choice(1,2)").message).toBe(
        "Sweep parameters 'd.x=choice(1,2)' requires --multirun",
      );
      expect(refused("d.x=range(3)").message).toBe(
        "Sweep parameters 'd.x=range(3)' requires --multirun",
      );
    });

    it("is left out of a multirun, except over Hydra itself", () => {
      const multirun = (override: string) =>
        composeFiles({ config: CONFIG }, [override], { mode: "multirun" });
      expect(multirun("d.x=5,6").get("d.x")).toBe(1);
      expect(refusal(() => multirun("hydra.job.name=a,b")).message).toBe(
        "Sweeping over Hydra's configuration is not supported : 'hydra.job.name=a,b'",
      );
    });
  });
});

describe("dotted key", () => {
  const CONFIG = `
log:
  db.pool: {level: DEBUG, sizes: {max: 1}}
  db.pool.slow: {level: INFO}
  other: {level: INFO}
  odd$name.x: 1
top.level: 1
`;

  const compose = (override: string) => composeFiles({ config: CONFIG }, [override]);

  const hintOf = (override: string): string => refusal(() => compose(override)).details.hint ?? "";

  test.each([
    ["log.db.pool.level=INFO", "log={db.pool:{level:INFO}}", "db.pool"],
    ["log.db.pool={level:INFO}", "log={db.pool:{level:INFO}}", "db.pool"],
    ["log.db.pool.sizes.max='a, b'", "log={db.pool:{sizes:{max:'a, b'}}}", "db.pool"],
    ["log.db.pool.slow.level=WARN", "log={db.pool.slow:{level:WARN}}", "db.pool.slow"],
  ])("%s is answered with the override that sets the key", (override, remedy, key) => {
    const { details, message } = refusal(() => compose(override));
    expect(details.hint).toBe(
      `'${key}' is a single key, but in an override its dot separates keys: use ${remedy}, or a config file`,
    );
    // Hydra's advice would add a key beside the one that is meant.
    expect(message).toMatch(/^Could not override '.*'\.\nKey 'db' is not in struct/);
    expect(message).not.toContain("To append");
    const before = composeFiles({ config: CONFIG }).get("log") as object;
    const after = compose(remedy).get("log") as object;
    expect(Object.keys(after)).toEqual(Object.keys(before));
    expect(after).not.toEqual(before);
  });

  test("where no override can be written, there is only the config file", () => {
    for (const override of ["top.level=2", "log.odd$name.x=2"])
      expect(hintOf(override)).toMatch(/its dot separates keys: set it in a config file$/);
  });

  test("a key that only begins alike, or is missing altogether, can be added", () => {
    for (const override of ["log.db.po.level=1", "log.db.pools=1", "log.dba.pool=1", "log.db=1"])
      expect(hintOf(override)).toContain(`+${override} to add the key`);
  });
});

describe("overrides that jobs of a sweep have in common", () => {
  const CONFIG = "a: {x: 1, l: [1]}\nb: {x: 1}\nref: ${b}\nrefl: ${a.l}\n";
  const TEXTS = [
    ...["a.x=2", "b.x='${a.x}'", "+ref.y=1", "ref.x=3", "+a.sub={p:1,q:{r:2}}", "+a.sub.q.r=3"],
    ...["~b.x", "+b.x=9", "a.l.0=2", "refl.0=7", "a={x:5}", "b=[1]", "ref=null"],
  ];
  const pool = TEXTS.map((text) => parseOverride(text, {}));

  const composer = () => {
    const context = createResolveContext({ env: {} });
    const snapshot = snapshotOf({ config: CONFIG });
    return (overrides: readonly Override[]) => {
      const request = { snapshot, context, overrides, configName: "config", mode: "run" } as const;
      try {
        const facts = { fromShell: false, jobName: "app", cwd: "/nowhere" };
        return toObject(composeConfig({ ...request, ...facts }).root);
      } catch (error) {
        return String(error);
      }
    };
  };

  it("come to the same in every job, whatever the jobs before it had", () => {
    const overrides = fc.array(fc.constantFrom(...pool), { maxLength: 4 });
    // The jobs of a sweep differ in their last overrides.
    const jobs = fc
      .tuple(overrides, fc.array(overrides, { minLength: 2, maxLength: 6 }))
      .map(([common, own]) => own.map((last) => [...common, ...last]));
    fc.assert(
      fc.property(jobs, (sweep) => {
        const compose = composer();
        for (const job of sweep) expect(compose(job)).toEqual(composer()(job));
      }),
      { numRuns: 25 },
    );
  });

  it("are applied once", () => {
    const [common, ...others] = pool;
    if (common === undefined) throw new Error("no override");
    let reads = 0;
    const counted = new Proxy(common, {
      get(target, name, self) {
        if (name === "value") reads++;
        return Reflect.get(target, name, self);
      },
    });
    const compose = composer();
    const readsOf = (own: Override | undefined): number => {
      reads = 0;
      compose(own === undefined ? [counted] : [counted, own]);
      return reads;
    };
    const [first, second, ...later] = others.map(readsOf);
    expect(second).toBeLessThanOrEqual(first ?? 0);
    for (const count of later) expect(count).toBeLessThan(first ?? 0);
  });
});
