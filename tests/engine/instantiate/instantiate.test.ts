import { describe, expect, expectTypeOf, it, test } from "vitest";
import { dialectNamed } from "../../../src/engine/values/dialect.ts";
import { createResolveContext } from "../../../src/engine/values/resolution/context.ts";
import {
  compose,
  createTargets,
  instantiate,
  instantiateAsync,
  loadYaml,
  nodeOf,
  resolver,
  target,
  toYaml,
} from "../../../src/index.ts";
import { refusal, Thing, targets, User, yaml } from "./library.ts";

describe("what is in a config", () => {
  test("inner targets come first, also in lists and in maps without a target", () => {
    const made = yaml(`
      _target_: echo
      one: {_target_: lib.Thing, n: 1}
      many: [{_target_: lib.Thing, n: 2}, 3]
      deep: {x: {_target_: lib.Thing, n: 4}, y: ~}`);
    expect(made).toEqual([
      {
        one: new Thing({ n: 1 }),
        many: [new Thing({ n: 2 }), 3],
        deep: { x: new Thing({ n: 4 }), y: null },
      },
    ]);
  });

  test("a map or list without a target is handed through, null is null", () => {
    expect(yaml("{a: {_target_: max, _args_: [1]}, b: 2}")).toEqual({ a: 1, b: 2 });
    expect(yaml("[{_target_: max, _args_: [1]}, 2]")).toEqual([1, 2]);
    expect(instantiate(null)).toBeNull();
    expect(refusal(() => instantiate("text")).code).toBe("instantiate.invalid");
  });

  test("how to instantiate is no data at the top, also without a target; below a map without one it is", () => {
    expect(yaml("{_convert_: all, _partial_: false, _recursive_: true, a: 1}")).toEqual({ a: 1 });
    expect(yaml("{a: {_convert_: all, b: 1}}")).toEqual({ a: { _convert_: "all", b: 1 } });
    expect(yaml("{_recursive_: false, a: {_target_: max, _args_: [1]}}")).toEqual({ a: 1 });
  });

  test("how to instantiate is as if it were not said where it is missing", () => {
    const text = "{_target_: echo, x: {_target_: max, _args_: [1]}, _convert_: '???'";
    expect(yaml(`${text}, _partial_: '???', _recursive_: '???'}`)).toEqual([{ x: 1 }]);
  });

  test("_convert_: null is none, also below another mode", () => {
    const [inner] = yaml("{_target_: echo, _convert_: null, x: {a: 1}}") as [{ x: object }];
    expect(Object.isFrozen(inner.x)).toBe(true);
    const [{ y }] = yaml(
      "{_target_: echo, _convert_: all, y: {_target_: echo, _convert_: null, x: {a: 1}}}",
    ) as [{ y: [{ x: object }] }];
    expect(Object.isFrozen(y[0].x)).toBe(true);
  });

  test("positional arguments are there, also where they stay config; converted, they are data", () => {
    const text = "{_target_: echo, _recursive_: false, _args_: [1, '???']";
    const missing = refusal(() => yaml(`${text}}`));
    expect([missing.code, missing.key]).toEqual(["value.missing", "_args_[1]"]);
    expect(yaml(`${text}, _convert_: all}`)).toEqual([1, "???"]);
    expect(yaml(`${text}}`, { args: [2] })).toEqual([2]);
    expect(yaml("{_target_: echo, _recursive_: false, _args_: [{a: '???'}]}")).toEqual([
      { a: "???" },
    ]);
  });

  test("nothing is called in a map without a target where a value is missing", () => {
    expect(refusal(() => yaml("{a: {_target_: fail}, b: '???'}")).key).toBe("b");
    expect(refusal(() => yaml("[{_target_: fail}, '???']")).key).toBe("[0]");
  });

  test("_recursive_: false gives configs, and is inherited", () => {
    const text = "{_target_: echo, _recursive_: false, inner: {_target_: lib.Thing, n: 1}}";
    expect(yaml(text)).toEqual([{ inner: { _target_: "lib.Thing", n: 1 } }]);
    expect(yaml("{_target_: echo, inner: {_target_: max, _args_: [1]}}")).toEqual([{ inner: 1 }]);
    expect(yaml(text, { overrides: { _recursive_: true } })).toEqual([
      { inner: new Thing({ n: 1 }) },
    ]);
  });

  test("what is resolved is found by what refers to it from there, from the root as it is in the tree", () => {
    let calls = 0;
    const context = createResolveContext({ resolvers: [resolver("count", () => ++calls)] });
    const text = "{a: {_target_: echo, x: '${count:}', y: '${.x}', z: '${a.x}'}}";
    expect(yaml(text, { key: "a", context })).toEqual([{ x: 1, y: 1, z: 2 }]);
  });

  test("interpolations are resolved where they stand, missing values elsewhere do not matter", () => {
    const config = loadYaml(`
      size: 3
      unused: ???
      model:
        _target_: echo
        size: \${size}
        same: \${.size}
        text: size \${model.size}
        inner: {_target_: echo, up: "\${..size}"}`);
    expect(instantiate(config, { targets, key: "model" })).toEqual([
      { size: 3, same: 3, text: "size 3", inner: [{ up: 3 }] },
    ]);
  });

  test("the key may lead through lists and interpolations", () => {
    const config = loadYaml("all: [{_target_: max, _args_: [4]}]\nchosen: ${all.0}");
    expect(instantiate(config, { targets, key: "all[0]" })).toBe(4);
    expect(instantiate(config, { targets, key: "chosen" })).toBe(4);
    expect(refusal(() => instantiate(config, { targets, key: "chosne" }))).toMatchObject({
      code: "key.not_found",
      nearest: "chosen",
    });
  });
});

describe("arguments of the call", () => {
  const text = "{_target_: echo, a: 1, b: {x: 1, y: 2}}";

  test("a list cannot take the place of a map, also of one that is referred to", () => {
    const config = loadYaml("n: {x: 1}\no: {_target_: echo, b: '${n}'}");
    expect(
      refusal(() => instantiate(config, { targets, key: "o", overrides: { b: [1] } })).code,
    ).toBe("merge.incompatible");
  });

  test("merge over the config", () => {
    expect(yaml(text, { overrides: { a: 9, b: { y: 8 }, c: [1] } })).toEqual([
      { a: 9, b: { x: 1, y: 8 }, c: [1] },
    ]);
  });

  test("objects of the program's are passed as they are, however deep", () => {
    const object = new Thing();
    const made = yaml(text, { overrides: { a: object, b: { y: object }, c: [object] } });
    const [{ a, b, c }] = made as [{ a: unknown; b: { y: unknown }; c: unknown[] }];
    expect(a).toBe(object);
    expect(b.y).toBe(object);
    expect(c[0]).toBe(object);
  });

  test("positional ones take the place of _args_", () => {
    const config = loadYaml("{_target_: echo, _args_: [1, 2]}");
    expect(instantiate(config, { targets, args: [3] })).toEqual([3]);
    expect(instantiate(config, { targets, overrides: { _args_: [4, 5] } })).toEqual([4, 5]);
    const none = loadYaml("{_target_: echo, _args_: null}");
    expect(refusal(() => instantiate(none, { targets, args: [3] })).message).toContain(
      "Unsupported _args_ type",
    );
    expect(instantiate(none, { targets, overrides: { _args_: [4] } })).toEqual([4]);
  });

  test("interpolations see what is merged relatively, and the tree as it was from its root", () => {
    const config = loadYaml("m: {_target_: echo, a: 1, near: '${.a}', far: '${m.a}'}");
    expect(instantiate(config, { targets, key: "m", overrides: { a: 2 } })).toEqual([
      { a: 2, near: 2, far: 1 },
    ]);
  });

  test("an override merges into what an interpolation leads to", () => {
    const config = loadYaml("base: {x: 1, y: 2}\nm: {_target_: echo, opts: '${base}'}");
    expect(instantiate(config, { targets, key: "m", overrides: { opts: { y: 3 } } })).toEqual([
      { opts: { x: 1, y: 3 } },
    ]);
  });

  test("a target and nested configs may be among them, and functions be targets", () => {
    expect(yaml(text, { overrides: { _target_: "math.half", x: 5 } })).toBe(2.5);
    expect(instantiate({ _target_: Thing, a: { _target_: Math.max, _args_: [1, 2] } })).toEqual(
      new Thing({ a: 2 }),
    );
    expect(instantiate({ _target_: target(User, { parameters: ["name"] }), name: "x" })).toEqual(
      new User("x", undefined as unknown as number),
    );
  });

  test("a list takes only those that say how", () => {
    const list = loadYaml("[{_target_: max, _args_: [1]}]");
    expect(instantiate(list, { targets, overrides: { _convert_: "all" } })).toEqual([1]);
    for (const overrides of [{ _partial_: true }, { a: 1 }])
      expect(refusal(() => instantiate(list, { targets, overrides })).code).toBe(
        "instantiate.invalid",
      );
  });

  test("data that contains itself is refused", () => {
    const cyclic: Record<string, unknown> = {};
    cyclic["self"] = cyclic;
    expect(refusal(() => yaml(text, { overrides: { cyclic } })).code).toBe("instantiate.invalid");
  });
});

describe("keys that are no texts", () => {
  it.each(["1: a", "true: a", "1.5: a"])("are no names of arguments: %s", (argument) => {
    const message = "Error in call to target 'echo': TypeError: keywords must be strings";
    expect(() => yaml(`{_target_: echo, ${argument}}`)).toThrowError(message);
    const make = yaml(`{_target_: echo, _partial_: true, ${argument}}`) as () => unknown;
    expect(make).toThrowError(message);
  });

  it("are passed on in what is an argument", () => {
    expect(yaml("{1: {_target_: echo, _args_: [{2: x}]}}")).toEqual({ 1: [{ 2: "x" }] });
  });
});

describe("_partial_", () => {
  test("gives a function that takes further arguments", () => {
    const make = yaml("{_target_: echo, _partial_: true, _args_: [1], a: 2, b: 3}") as (
      ...args: unknown[]
    ) => unknown;
    expect(make.name).toBe("partial(echo)");
    expect(make()).toEqual([1, { a: 2, b: 3 }]);
    expect(make("x", { b: 4, c: 5 })).toEqual([1, "x", { a: 2, b: 4, c: 5 }]);
  });

  test("leaves missing values to the call, and is not inherited", () => {
    const make = yaml(
      "_target_: echo\n_partial_: true\na: ???\ninner: {_target_: lib.Thing, n: 1}",
    ) as (named: object) => unknown;
    expect(make({ a: 1 })).toEqual([{ inner: new Thing({ n: 1 }), a: 1 }]);
  });

  test("a call that fails names the config", () => {
    const made = yaml("{opt: {_target_: fail, _partial_: true}}") as { opt: () => unknown };
    expect(refusal(made.opt)).toMatchObject({ code: "instantiate.failed", key: "opt" });
  });
});

describe("_convert_", () => {
  const text = (mode: string) => `
    _target_: echo
    _convert_: ${mode}
    map: {n: 1, f: 1.0, list: [a]}`;
  const mapOf = (mode: string) => (yaml(text(mode)) as [{ map: object }])[0].map;

  it("none, the default, passes read-only data that knows its config", () => {
    for (const map of [mapOf("none"), mapOf("NONE")]) {
      expect(map).toEqual({ n: 1, f: 1, list: ["a"] });
      expect(Object.isFrozen(map)).toBe(true);
      expect(toYaml(nodeOf(map))).toBe("'n': 1\nf: 1.0\nlist:\n- a\n");
    }
  });

  it.each(["all", "partial", "object"])("%s passes plain data", (mode) => {
    const map = mapOf(mode);
    expect(map).toEqual({ n: 1, f: 1, list: ["a"] });
    expect(Object.isFrozen(map)).toBe(false);
    expect(nodeOf(map)).toBeUndefined();
  });

  it("keeps no config for what has been instantiated, and keys such as __proto__ are data", () => {
    const [{ map }] = yaml("{_target_: echo, map: {x: {_target_: lib.Thing}}}") as [
      { map: object },
    ];
    expect(nodeOf(map)).toBeUndefined();
    const [named] = yaml("{_target_: echo, _convert_: all, __proto__: {a: 1}}") as [object];
    expect(Object.keys(named)).toEqual(["__proto__"]);
  });

  it("passes on what a target gives as it is, also what a config would resolve", () => {
    const own = createTargets({ echo: (x: unknown) => x, text: () => "${a}", none: () => "???" });
    const config = "{_target_: echo, list: [{_target_: text}, {_target_: none}]}";
    expect(yaml(config, { targets: own })).toEqual({ list: ["${a}", "???"] });
  });

  it("keeps the config of what _recursive_: false hands over, whose targets are config, too", () => {
    const [{ inner, list }] = yaml(`
      _target_: echo
      _recursive_: false
      inner: {_target_: echo, f: 1.0, deeper: {_target_: lib.Thing}}
      list: [{_target_: lib.Thing}]`) as [{ inner: object; list: object }];
    expect(toYaml(nodeOf(inner))).toBe("_target_: echo\nf: 1.0\ndeeper:\n  _target_: lib.Thing\n");
    expect(toYaml(nodeOf(list))).toBe("- _target_: lib.Thing\n");
    const thing = new Thing({});
    const options = { overrides: { own: { _target_: "echo", thing } } };
    const [{ own }] = yaml("{_target_: echo, _recursive_: false}", options) as [{ own: object }];
    expect(own).toEqual({ _target_: "echo", thing });
    expect(nodeOf(own)).toBeUndefined();
  });

  it("tells structured configs from others", () => {
    const node = loadYaml("{_target_: echo, db: {port: 1}}");
    if (node.kind !== "map") throw new Error("no map");
    const entry = node.entries.get("db");
    if (entry === undefined) throw new Error("no db");
    const type = { kind: "object", name: "Db", fields: new Map() } as const;
    const typed = {
      ...node,
      entries: new Map(node.entries).set("db", {
        key: "db",
        value: { ...entry.value, type },
      }),
    };
    class Db {
      readonly port: number;
      constructor({ port }: { port: number }) {
        this.port = port;
      }
    }
    const own = createTargets({ echo: targets.entries.echo, Db });
    const dbOf = (mode: string) =>
      (instantiate(typed, { targets: own, overrides: { _convert_: mode } }) as [{ db: object }])[0]
        .db;
    expect(Object.isFrozen(dbOf("partial"))).toBe(true);
    expect(dbOf("object")).toStrictEqual(new Db({ port: 1 }));
    const still = { _convert_: "object", _recursive_: false };
    expect(instantiate(typed, { targets: own, overrides: still })).toStrictEqual([
      { db: new Db({ port: 1 }) },
    ]);
    expect(dbOf("all")).not.toBeInstanceOf(Db);
    expect(Object.isFrozen(dbOf("all"))).toBe(false);
    const failing = createTargets({
      echo: targets.entries.echo,
      Db: class {
        constructor() {
          throw new Error("no such host");
        }
      },
    });
    const overrides = { _convert_: "object" };
    expect(() => instantiate(typed, { targets: failing, overrides })).toThrow(
      expect.objectContaining({
        message: expect.stringContaining("Error in call to target 'Db': Error: no such host"),
        details: expect.objectContaining({ code: "instantiate.failed", key: "db" }),
      }),
    );
  });
});

describe("instantiateAsync", () => {
  test("awaits the inner promise before the outer call; instantiate hands it on", async () => {
    const config = loadYaml("{_target_: echo, x: {_target_: promised, value: 5}}");
    await expect(instantiateAsync(config, { targets })).resolves.toEqual([{ x: 5 }]);
    const [{ x }] = instantiate(config, { targets }) as [{ x: unknown }];
    expect(x).toBeInstanceOf(Promise);
  });

  test("a rejection is the failure of its config", async () => {
    const own = createTargets({ reject: () => Promise.reject(new Error("no")) });
    await expect(
      instantiateAsync(loadYaml("{a: {_target_: reject}}"), { targets: own }),
    ).rejects.toMatchObject({ code: "instantiate.failed", details: { key: "a" } });
  });
});

describe("as Hydra 1.4", () => {
  const context = createResolveContext({ dialect: dialectNamed("1.4") });
  const made = (text: string, options: Parameters<typeof instantiate>[1] = {}) =>
    yaml(text, { context, ...options });

  it("also without a context", async () => {
    const data = { bad: "${nope}", "a.b": { _target_: "echo", x: 1 } };
    const options = { targets, dialect: "1.4", key: "a\\.b" } as const;
    expect(instantiate(data, options)).toEqual([{ x: 1 }]);
    expect(await instantiateAsync(data, options)).toEqual([{ x: 1 }]);
    const m = { _target_: "echo", x: { a: 1 } };
    const overrides = { x: { b: 2 } };
    expect(instantiate(m, { targets, overrides })).toEqual([{ x: { a: 1, b: 2 } }]);
    expect(instantiate(m, { targets, overrides, dialect: "1.4" })).toEqual([{ x: { b: 2 } }]);
    const older = { targets, overrides, context, dialect: "1.3" } as const;
    expect(instantiate(m, older)).toEqual([{ x: { a: 1, b: 2 } }]);
    const config = compose({ overrides: ["+m={_target_: echo, x: {a: 1}, n: '${now:%Y}'}"] });
    expect(instantiate(config, { targets, key: "m", overrides, dialect: "1.4" })).toEqual([
      { x: { b: 2 }, n: String(new Date().getFullYear()) },
    ]);
    const wrong = { targets, dialect: "1.5" as "1.4" };
    expect(refusal(() => instantiate(data, wrong)).code).toBe("compose.unsupported");
  });

  it("resolves what it needs, when its turn comes", () => {
    expect(made("{bad: '${nope}', m: {_target_: echo, x: 1}}", { key: "m" })).toEqual([{ x: 1 }]);
    expect(made("{_target_: echo, x: '${nope}'}", { overrides: { x: 2 } })).toEqual([{ x: 2 }]);
    const called: number[] = [];
    const own = createTargets({ log: () => called.push(1) });
    const text = "{a: {_target_: log}, b: '${nope}'}";
    expect(refusal(() => made(text, { targets: own })).key).toBe("b");
    expect(refusal(() => made("{a: {_target_: log}, b: '???'}", { targets: own })).key).toBe("b");
    expect(called).toEqual([1, 1]);
    expect(made("{_convert_: '${c}', _target_: '${t}', t: echo, c: all}")).toEqual([
      { t: "echo", c: "all" },
    ]);
  });

  it("refuses an interpolation that leads back to what is being instantiated", () => {
    const cycle = "l: [3, '${o}']\no: {_target_: echo, c: '${l}'}";
    for (const extra of ["", "_convert_: all", "_recursive_: false, _convert_: all"])
      expect(
        refusal(() => made(`${cycle.slice(0, -1)}${extra && `, ${extra}`}}`, { key: "o" })),
      ).toMatchObject({ code: "interpolation.cycle", key: "l[1]" });
    expect(made("a: {_target_: echo, x: '${b}'}\nb: {c: 1}\nd: ['${a}', '${a}']")).toEqual({
      a: [{ x: { c: 1 } }],
      b: { c: 1 },
      d: [[{ x: { c: 1 } }], [{ x: { c: 1 } }]],
    });
  });

  it("takes a target that is missing for none where it is not data", () => {
    expect(made("{_target_: '???', x: 1}")).toEqual({ x: 1 });
    expect(refusal(() => made("{a: {_target_: '???', x: 1}}"))).toMatchObject({
      code: "value.missing",
      key: "a._target_",
    });
  });

  it("hands over configs that are resolved when they are read, each as one object", () => {
    const [{ a, b, l }] = made(
      "{_target_: echo, _recursive_: false, a: {x: '${n}', y: '${nope}'}, b: '${a}', l: [1], n: 3}",
    ) as [{ a: { x: number; y: unknown }; b: object; l: readonly unknown[] }];
    expect(b).toBe(a);
    expect(a.x).toBe(3);
    expect(refusal(() => a.y).code).toBe("interpolation.not_found");
    expect(toYaml(nodeOf(a))).toBe("x: ${n}\n'y': ${nope}\n");
    expect(() => {
      a.x = 4;
    }).toThrow(TypeError);
    expect(Object.isFrozen(l)).toBe(true);
  });

  it("knows the config of what it resolved", () => {
    const [{ x }] = made("{_target_: echo, x: {f: 1.0, g: '${n}', h: [{i: '${n}'}]}, n: 2}") as [
      { x: object },
    ];
    expect(toYaml(nodeOf(x))).toBe("f: 1.0\ng: 2\nh:\n- i: 2\n");
  });

  it("obeys _recursive_ also where there is no target, but not in a list", () => {
    expect(made("{a: {_recursive_: false, b: {_target_: max, _args_: [1]}}}")).toEqual({
      a: { _recursive_: false, b: { _target_: "max", _args_: [1] } },
    });
    const list = "[{_target_: max, _args_: [4]}]";
    expect(made(list, { overrides: { _recursive_: false } })).toEqual([4]);
  });

  it("replaces maps by arguments, and merges over targets and where there is none", () => {
    const text = "{_target_: echo, x: {a: 1}, t: {_target_: echo, q: 1, r: 2}}";
    expect(made(text, { overrides: { x: { b: 2 }, t: { q: 5 } } })).toEqual([
      { x: { b: 2 }, t: [{ q: 5, r: 2 }] },
    ]);
    expect(made(text, { overrides: { x: [1] } })).toEqual([{ x: [1], t: [{ q: 1, r: 2 }] }]);
    expect(made("{a: {x: 1}}", { overrides: { a: { y: 2 }, c: 3 } })).toEqual({
      a: { x: 1, y: 2 },
      c: 3,
    });
    const referred = "{_target_: echo, b: {_target_: echo, x: 1}, o: '${b}', p: '${o}'}";
    expect(made(referred, { overrides: { o: { y: 2 }, p: { z: 3 } } })).toEqual([
      { b: [{ x: 1 }], o: [{ x: 1, y: 2 }], p: [{ x: 1, y: 2, z: 3 }] },
    ]);
  });

  it("shows arguments to every interpolation, and leaves the config as it was", () => {
    const config = loadYaml("m: {_target_: echo, a: 1, near: '${.a}', far: '${m.a}'}");
    const thing = new Thing();
    const options = { targets, context, key: "m", overrides: { a: thing } };
    expect(instantiate(config, options)).toEqual([{ a: thing, near: thing, far: thing }]);
    expect(instantiate(config, { targets, context, key: "m" })).toEqual([
      { a: 1, near: 1, far: 1 },
    ]);
    const positional = "{_target_: echo, _args_: null, a: '${_args_.0}'}";
    expect(made(positional, { args: [9] })).toEqual([9, { a: 9 }]);
  });

  it("hands over the data of the call itself where nothing in it is instantiated", () => {
    const data = { deep: [1] };
    const overrides = { data };
    const [argument] = made("{_target_: echo, _recursive_: false}", { overrides }) as [
      { data: object },
    ];
    expect(argument.data).toBe(data);
  });

  it.each([
    [{ a: "???" }, "a"],
    [{ a: { b: ["x", "${c}"] } }, "a.b.1"],
  ])("refuses arguments that are still to be resolved: %j", (overrides, key) => {
    const refused = refusal(() => made("{_target_: echo}", { overrides }));
    expect([refused.code, refused.key]).toEqual(["instantiate.invalid", key]);
    expect(yaml("{_target_: echo, _partial_: true, c: 1}", { overrides })).toBeTypeOf("function");
  });

  it("refuses a list of allowed targets in a config", () => {
    const refused = refusal(() => made("{a: {_target_whitelist_: x}}"));
    expect(refused.key).toBe("a._target_whitelist_");
  });
});

test("a composed config brings its resolvers", () => {
  const config = compose({ overrides: ["+m._target_=echo", "+m.now='${now:%Y}'"] });
  expect(instantiate(config, { targets, key: "m" })).toEqual([
    { now: String(new Date().getFullYear()) },
  ]);
});

test("types: names of the registry, and what they give", () => {
  const typed = createTargets({ Thing, size: () => 3, later: async () => "x" });
  expectTypeOf(instantiate({ _target_: "Thing" }, { targets: typed })).toEqualTypeOf<Thing>();
  expectTypeOf(instantiate({ _target_: "size" }, { targets: typed })).toEqualTypeOf<number>();
  expectTypeOf(instantiateAsync({ _target_: "later" }, { targets: typed })).toEqualTypeOf<
    Promise<string>
  >();
  expectTypeOf(
    instantiate<Thing>(loadYaml("_target_: Thing"), { targets: typed }),
  ).toEqualTypeOf<Thing>();
});
