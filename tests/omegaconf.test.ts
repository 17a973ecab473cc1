import { describe, expect, expectTypeOf, it } from "vitest";
import {
  type ContainerNode,
  compose,
  createEngine,
  createTargets,
  fromDotlist,
  instantiate,
  isInterpolation,
  isMissing,
  loadYaml,
  maskedCopy,
  merge,
  mergeAll,
  mergeDotlist,
  missingKeys,
  parseOverride,
  parseOverrides,
  renderError,
  renderExplanation,
  resolve,
  resolver,
  select,
  setFlags,
  target,
  toObject,
  toYaml,
  update,
} from "../src/index.ts";
import { refusal } from "./engine/compose/in-memory.ts";

const tree = loadYaml("a: {b: 1, c: '${.b}'}\nl: [1, '???']\nr: ${a}\nm: ???\ne: ${oc.env:WHO}\n");
const env = { WHO: "me" };

const refused = (code: string) => expect.objectContaining({ code });

it("says in types that a changed map or list is one, so that its entries are at hand", () => {
  let changed = merge(tree, { n: 1 });
  changed = setFlags(mergeDotlist(update(changed, "n", 2), ["o=3"]), { struct: true });
  expectTypeOf(changed).toEqualTypeOf<ContainerNode>();
  expect(changed.kind === "map" && [...changed.entries.keys()]).toEqual(
    ["a", "l", "r", "m", "e", "n", "o"].map((key) => expect.stringContaining(key)),
  );
});

it("reads, merges and prints values", () => {
  const merged = merge(loadYaml("a: 1\nb: [1, 2]\n"), { b: [3], c: "${a}" });
  expect(toYaml(merged)).toBe("a: 1\nb:\n- 3\nc: ${a}\n");
  expect(toYaml(merged, { resolve: true })).toBe("a: 1\nb:\n- 3\nc: 1\n");
  expect(toYaml({ b: 1, a: null }, { sortKeys: true })).toBe("a: null\nb: 1\n");
});

describe("select", () => {
  it("resolves what it finds, and what is below", () => {
    const found = select(tree, "r");
    expect(found && toObject(found)).toEqual({ b: 1, c: 1 });
    expect(select(tree, "l[0]")).toMatchObject({ value: 1n });
    expect(select(tree, "e", { env })).toMatchObject({ value: "me" });
  });

  it("gives nothing for what is not there, or missing, unless that is refused", () => {
    expect([select(tree, "nope"), select(tree, "m")]).toEqual([undefined, undefined]);
    expect(() => select(tree, "m", { throwOnMissing: true })).toThrow(refused("value.missing"));
    const broken = { x: "${nope}" };
    expect(() => select(broken, "x")).toThrow(refused("interpolation.not_found"));
    expect(select(broken, "x", { throwOnResolutionFailure: false })).toBeUndefined();
  });
});

it("resolves with the resolvers that it is given", () => {
  const resolvers = [resolver("twice", (text: string) => text + text)];
  const text = "a: ${twice:x}\nb: ${oc.env:WHO}\nc: ${d}\nd: ???\n";
  const options = { resolvers, env };
  expect(toYaml(resolve(loadYaml(text), options))).toBe("a: xx\nb: me\nc: ???\nd: ???\n");
  expect(toYaml({ a: "${twice:x}" }, { ...options, resolve: true })).toBe("a: xx\n");
  expect(() => resolve({ a: "${twice:x}" })).toThrow(refused("resolver.unknown"));
});

it("gives and writes values that have no type elsewhere, whatever they are where they are from", () => {
  const config = compose({
    configDir: null,
    overrides: ["+x=${hydra.job.name}"],
    returnHydraConfig: true,
  });
  const name = select(config, "hydra.job.name");
  for (const tree of [resolve(config), merge({ x: name }), update({}, "x", name)])
    expect(toObject(update(tree, "x", { a: 1 }))).toMatchObject({ x: { a: 1 } });
  expect(() => update(config, "hydra.job.name", { a: 1 })).toThrow(refused("value.wrong_type"));
});

it("updates, and leaves the tree that it was given as it is", () => {
  expect(toYaml(update(tree, "a.d", { e: [1.5] }))).toContain("  d:\n    e:\n    - 1.5\n");
  const plain = { a: { b: 1, c: 2 } };
  expect(toYaml(update(plain, "a", { c: 3 }))).toBe("a:\n  b: 1\n  c: 3\n");
  expect(toYaml(update(plain, "a", { c: 3 }, { merge: false }))).toBe("a:\n  c: 3\n");
  expect(toYaml(plain)).toBe("a:\n  b: 1\n  c: 2\n");
});

it("refuses a value where it would stand: a key that there cannot be comes first", () => {
  const broken = { x: ["${y"] };
  expect(refusal(() => update({ a: {} }, "a.b", broken)).details).toMatchObject({
    code: "interpolation.syntax",
    key: "a.b.x[0]",
  });
  const strict = setFlags({ a: [1] }, { struct: true });
  expect(() => update(strict, "b", broken)).toThrow(refused("value.struct"));
  expect(() => update(strict, "a[1]", broken)).toThrow(refused("key.not_found"));
});

it("heeds flags when it updates and merges, until they are unset", () => {
  const strict = setFlags({ a: 1 }, { struct: true });
  expect(() => update(strict, "b", 2)).toThrow(refused("value.struct"));
  expect(() => merge(strict, { b: 2 })).toThrow(refused("value.struct"));
  expect(toYaml(update(strict, "b", 2, { forceAdd: true }))).toBe("a: 1\nb: 2\n");
  expect(toYaml(merge(setFlags(strict, { struct: undefined }), { b: 2 }))).toBe("a: 1\nb: 2\n");
  const locked = setFlags({ a: 1 }, { readonly: true });
  expect(() => update(locked, "a", 2)).toThrow(refused("value.readonly"));
});

describe("a composed config", () => {
  const config = createEngine({
    resolvers: [resolver("twice", (text: string) => text + text)],
    env: { WHO: "me" },
    store: new Map([
      [
        "config",
        { value: { a: "${twice:x}", e: "${oc.env:WHO}", v: "${python_version:}", m: "???" } },
      ],
    ]),
  }).compose({ configName: "config" });

  it("stands for its tree, and brings what it resolves with", () => {
    expect(select(config, "a")).toMatchObject({ value: "xx" });
    expect(toObject(resolve(config))).toMatchObject({ a: "xx", e: "me" });
    expect(missingKeys(config)).toEqual(["m"]);
    expect([isMissing(config, "m"), isInterpolation(config, "a")]).toEqual([true, true]);
    expect(toObject(maskedCopy(config, ["m"]))).toEqual({ m: "???" });
    const env = { WHO: "you" };
    expect(select(config, "e", { env })).toMatchObject({ value: "you" });
  });

  it("lends that to trees that are made of it", () => {
    const changed = merge(update(config, "a", "${twice:${e}}"), { m: "${a}" });
    const { context } = config;
    expect(select(changed, "m", { context })).toMatchObject({ value: "meme" });
    expect(toYaml(resolve(changed, { context }))).toMatch(/^a: meme\ne: me\nv: '?3/);
    const more = [resolver("thrice", (text: string) => text + text + text)];
    const used = update(changed, "a", "${twice:${thrice:y}}");
    expect(select(used, "a", { context, resolvers: more })).toMatchObject({ value: "yyyyyy" });
    expect(() => select(used, "a", { context })).toThrow(refused("resolver.unknown"));
  });

  it("is changed with what it resolves with, and so are trees that are given that", () => {
    const which = resolver("which", () => "base");
    const config = createEngine({
      resolvers: [which],
      store: new Map([
        ["config", { value: { base: { a: 1, b: 1 }, p: { m: "${oc.select:${which:}}" } } }],
      ]),
    }).compose({ configName: "config" });
    const both = "base:\n  a: 1\n  b: 1\np:\n  m:\n    a: 1\n    b: 2\n";
    const over = { m: { b: 2 } };
    expect(toYaml(update(config, "p", over))).toBe(both);
    expect(toYaml(mergeDotlist(config, ["p={m: {b: 2}}"]))).toBe(both);
    expect(toYaml(merge(config, { p: over }))).toBe(both);
    const tree = config.root;
    const { context } = config;
    for (const options of [{ context }, { resolvers: [which] }]) {
      expect(toYaml(update(tree, "p", over, options))).toBe(both);
      expect(toYaml(mergeDotlist(tree, ["p={m: {b: 2}}"], options))).toBe(both);
      expect(toYaml(mergeAll([{}, tree, { p: over }], options))).toBe(both);
    }
    expect(toYaml(merge({}, config, { p: over }))).toBe(both);
    expect(toYaml(mergeAll([{}, config, { p: over }]))).toBe(both);
    expect(toYaml(merge(tree, { p: over }))).toBe(both.replace("    a: 1\n", ""));
  });

  it("is what resolves Hydra's own resolvers, which a mere tree is told", () => {
    for (const call of ["hydra:job.name", "now:%Y", "python_version:"])
      expect(refusal(() => select({ a: `\${${call}}` }, "a")).details).toMatchObject({
        code: "resolver.unknown",
        hint: expect.stringMatching(/composed config.*context: config\.context/),
      });
  });

  it("is told from data with keys of the same names", () => {
    const data = { root: { a: "${toYaml}" }, toYaml: 2 };
    expect(toObject(resolve(data))).toEqual({ root: { a: 2 }, toYaml: 2 });
  });

  it("keeps what is cached to itself where something else is resolved with", () => {
    let calls = 0;
    const next = resolver("next", () => ++calls, { useCache: true });
    const { context } = createEngine({ resolvers: [next] }).compose({ configDir: null });
    const seen = (options: object) => select({ n: "${next:}" }, "n", { context, ...options });
    expect([seen({}), seen({}), seen({ env: {} }), seen({})]).toMatchObject(
      [1n, 1n, 2n, 1n].map((value) => ({ value })),
    );
  });

  it("asks again in each call without a context, where OmegaConf keeps what is cached with the tree", () => {
    let calls = 0;
    const resolvers = [resolver("next", () => ++calls, { useCache: true })];
    const tree = loadYaml("a: ${next:}\nb: ${next:}\n");
    expect(toObject(resolve(tree, { resolvers }))).toEqual({ a: 1, b: 1 });
    expect(toObject(resolve(tree, { resolvers }))).toEqual({ a: 2, b: 2 });
  });
});

it("tells interpolations, whatever they lead to", () => {
  const node = loadYaml(
    "a: ${b}\nt: x${b}\nb: 1\nescaped: \\${b}\nmap: {c: '${b}'}\n1: ${b}\nl: ['${a}', x]\n",
  );
  const told = ["a", "t", "b", "escaped", "map", "nope", "map.c", 1].filter((key) =>
    isInterpolation(node, key),
  );
  // OmegaConf takes an escaped one for one, until it is read.
  expect(told).toEqual(["a", "t", "escaped", 1]);
  expect([0, 1, -1, -2].filter((index) => isInterpolation(["${x}", "x"], index))).toEqual([0, -2]);
  expect(() => isInterpolation(["${x}"], "a")).toThrow(refused("key.invalid_type"));
  expect(() => isInterpolation(["${x}"], 1)).toThrow(refused("key.not_found"));
  const struct = setFlags({ a: "${b}" }, { struct: true });
  expect([isInterpolation(struct, "a"), isMissing(struct, "nope")]).toEqual([true, false]);
  expect(() => isInterpolation(struct, "nope")).toThrow(refused("value.struct"));
  expect([isInterpolation("${a}"), isInterpolation(node), isInterpolation(null)]).toEqual([
    true,
    false,
    false,
  ]);
});

it("names what is missing", () => {
  expect(missingKeys(tree, { env })).toEqual(["l[1]", "m"]);
  expect(["m", "a", "nope"].filter((key) => isMissing(tree, key))).toEqual(["m"]);
  expect([0, 1, 9].filter((index) => isMissing({ l: "???" }, index))).toEqual([]);
  expect([0, 1, -1, -2].filter((index) => isMissing([1, "???"], index))).toEqual([1, -1]);
  // Python's False and True are 0 and 1.
  expect([false, true].filter((index) => isMissing(["???", 1], index))).toEqual([false]);
  expect(() => isMissing([1], true)).toThrow(refused("key.not_found"));
  expect(refusal(() => isMissing([1], 0.5)).message).toContain("not float");
  expect(() => isMissing([1], "a")).toThrow(refused("key.invalid_type"));
  expect(() => isMissing([1], 9)).toThrow(refused("key.not_found"));
  expect(() => isMissing([1], -2)).toThrow(refused("key.not_found"));
});

it("copies some keys of a map", () => {
  expect(toYaml(maskedCopy({ a: 1, b: 2, c: 3 }, ["c", "a", "x"]))).toBe("a: 1\nc: 3\n");
  expect(toYaml(maskedCopy(loadYaml("1: x\n2: z\n"), [2]))).toBe("2: z\n");
  expect(toYaml(maskedCopy({ a: 1, ab: 2 }, "ab"))).toBe("ab: 2\n");
  expect(() => maskedCopy([1], [0])).toThrow(refused("value.wrong_type"));
});

it("reads a list of keys with values", () => {
  expect(toYaml(fromDotlist(["a.b=[1, 2]", "c"]))).toBe("a:\n  b:\n  - 1\n  - 2\nc: null\n");
  expect(toYaml(mergeDotlist({ a: { b: 1, c: 2 } }, ["a.b=x", "d=1.0"]))).toBe(
    "a:\n  b: x\n  c: 2\nd: 1.0\n",
  );
});

it("hands on the warnings of resolvers, and lets them be replaced where that is asked for", () => {
  const warnings: string[] = [];
  const onWarning = (message: string) => warnings.push(message);
  const old = { old: "${oc.deprecated:new}", new: 1 };
  expect(select(old, "old", { onWarning })).toMatchObject({ value: 1n });
  expect(warnings).toEqual([expect.stringContaining("'old' is deprecated")]);
  const resolvers = [resolver("oc.env", (name: string) => `<${name}>`)];
  const hints = [() => resolve({}, { resolvers }), () => createEngine({ resolvers })].map(
    (use) => refusal(use).details,
  );
  expect(hints).toMatchObject([
    { code: "resolver.invalid", hint: expect.stringContaining("replace: true") },
    { code: "resolver.invalid", hint: "give it another name" },
  ]);
  expect(toYaml(resolve({ a: "${oc.env:B}" }, { resolvers, replace: true }))).toBe("a: <B>\n");
});

// Calls as JavaScript may make them.
const any = (value?: unknown) => value as never;
const composed = createEngine().compose({ configDir: null });

it.each<readonly [string, () => unknown, string]>([
  ["select: the tree must be a map or a list, not undefined", () => select(any(), any()), ""],
  ["select: the key must be a string, not undefined", () => select({ a: 1 }, any()), ""],
  [
    "select: the tree must be a map or a list, not the string 'a: 1'",
    () => select("a: 1", "a"),
    "YAML",
  ],
  ["select: the options must be an object, not number 9", () => select({}, "a", any(9)), ""],
  [
    "resolve: context must be the context of a composed config, not an object",
    () => resolve({}, { context: any(composed) }),
    "'context' of a composed config",
  ],
  ["update: the key must be a string, not undefined", () => update({ a: 1 }, any(), 1), ""],
  [
    "update: the options must be an object, not boolean true",
    () => update({}, "a", 1, any(true)),
    "",
  ],
  ["merge: argument 2 must be a map or a list, not null", () => merge({ a: 1 }, null), ""],
  ["mergeAll: values[1] must be a map or a list, not null", () => mergeAll([{}, null]), ""],
  ["mergeAll: values[0] must be a map or a list, not undefined", () => mergeAll(new Array(1)), ""],
  ["mergeAll: the values must be a list, not an object", () => mergeAll(any({})), "mergeAll([base"],
  [
    "merge: argument 2 must be a map or a list, not undefined",
    () => merge({ a: 1 }, undefined),
    "",
  ],
  [
    "toYaml: the value must be a tree or plain data, not an object",
    () => toYaml(composed),
    "masks secrets",
  ],
  ["resolve: the tree must be a map or a list, not number 5", () => resolve(5), ""],
  ["missingKeys: the tree must be a map or a list, not null", () => missingKeys(null), ""],
  ["isMissing: a key must be a string or a number, not undefined", () => isMissing({}, any()), ""],
  ["maskedCopy: the keys must be a list, not undefined", () => maskedCopy({}, any()), ""],
  [
    "maskedCopy: a key must be a string or a number, not an object",
    () => maskedCopy({}, any([{}])),
    "",
  ],
  [
    "fromDotlist: dotlist must be a list of strings, not the string 'a=1'",
    () => fromDotlist(any("a=1")),
    "",
  ],
  ["fromDotlist: dotlist[0] must be a string, not number 5", () => fromDotlist(any([5])), ""],
  [
    "mergeDotlist: dotlist must be a list of strings, not undefined",
    () => mergeDotlist({}, any()),
    "",
  ],
  ["setFlags: the options must be an object, not undefined", () => setFlags({}, any()), ""],
  [
    "loadYaml: the YAML must be a string, not bytes",
    () => loadYaml(any(Buffer.from("a: 1"))),
    '"utf8"',
  ],
  [
    "loadYaml: the YAML must be a string, not an object",
    () => loadYaml(any({ a: 1 })),
    "merge(data)",
  ],
])("says which argument is wrong: %s", (message, call, hint) => {
  const error = refusal(call);
  expect([error.code, error.message]).toEqual(["value.wrong_type", message]);
  expect(error.details.hint ?? "").toContain(hint);
});

it.each([5, { twice: () => 1 }, [() => 1], resolver("one", () => 1)])(
  "says what resolvers are, when they are given %j",
  (resolvers) => {
    const invalid = refused("resolver.invalid");
    expect(() => resolve({}, { resolvers: any(resolvers) })).toThrow(invalid);
    expect(() => createEngine({ resolvers: any(resolvers) })).toThrow(invalid);
  },
);

// As OmegaConf.create does, which its functions begin with for plain data.
it.each([
  ["interpolation.syntax", { a: { b: "${x" } }],
  ["key.invalid_type", new Map([[null, 1]])],
])("refuses plain data that can be in no config: %s", (code, value) => {
  const uses = [
    () => toYaml(value),
    () => merge({}, value),
    () => select(value, "x"),
    () => update({}, "x", value),
    () => setFlags(value, { struct: true }),
  ];
  for (const use of uses) expect(use).toThrow(refused(code));
});

it.each<readonly [string, () => unknown]>([
  ["toYaml: resolve must be true or false, not number 1", () => toYaml({}, { resolve: any(1) })],
  ["toYaml: there is no option 'sort_keys'", () => toYaml({}, any({ sort_keys: true }))],
  ["select: env must be an object, not number 5", () => select({}, "a", { env: any(5) })],
  [
    "select: onWarning must be a function, not number 5",
    () => select({}, "a", { onWarning: any(5) }),
  ],
  ["update: there is no option 'force_add'", () => update({}, "a", 1, any({ force_add: true }))],
  ["setFlags: struct must be true or false, not null", () => setFlags({}, { struct: any(null) })],
  ["loadYaml: name must be a string, not number 5", () => loadYaml("", { name: any(5) })],
  ["resolver: the name must be a string, not number 5", () => resolver(any(5), () => 1)],
  ["resolver: the second argument must be a function, not undefined", () => resolver("a", any())],
  [
    "resolver: there is no option 'use_cache'",
    () => resolver("a", () => 1, any({ use_cache: true })),
  ],
  ["parseOverride: the override must be a string, not number 5", () => parseOverride(any(5))],
  [
    "parseOverrides: overrides must be a list of strings, not the string 'a=1'",
    () => parseOverrides(any("a=1")),
  ],
  ["renderError: the error must be a ConfigError, not an object", () => renderError(any({}))],
  [
    "renderExplanation: the explanation must be what config.explain(key) gives, not undefined",
    () => renderExplanation(any(undefined)),
  ],
  [
    "createTargets: there is no option 'module'",
    () => createTargets({}, any({ module: ["./targets.js"] })),
  ],
  [
    "target: style must be 'new' or 'call', not the string 'method'",
    () => target(() => 1, { style: any("method") }),
  ],
  ["instantiate: there is no option 'target'", () => instantiate({}, any({ target: {} }))],
  [
    "instantiate: targets must be targets, not an object",
    () => instantiate({}, { targets: any({}) }),
  ],
  ["get: the key must be a string, not number 5", () => composed.get(any(5))],
  ["explain: the key must be a string, not undefined", () => composed.explain(any())],
  ["toObject: there is no option 'sortKeys'", () => composed.toObject(any({ sortKeys: true }))],
  ["diff: the other must be a composed config, not an object", () => composed.diff(any({}))],
])("%s", (message, call) => {
  const error = refusal(call);
  expect([error.code, error.message]).toEqual(["value.wrong_type", message]);
});

describe("a dialect, by its name", () => {
  const dialect = "1.4";
  const tree = loadYaml("a: {b: 1}\nid: ${a}\nl: [1, 2]\nx.y: 3");

  it("decides how YAML is read and written", () => {
    expect(() => loadYaml("a:\t1")).toThrow(/scan|cannot start/);
    expect(toObject(loadYaml("a:\t1", { dialect }))).toEqual({ a: 1 });
    expect(toYaml({ a: "😀" })).toBe("a: 😀\n");
    expect(toYaml({ a: "😀" }, { dialect })).toBe('a: "\\U0001F600"\n');
  });

  it("decides what keys say, and what is updated", () => {
    expect(select(tree, "l[-1]")).toBeUndefined();
    expect(select(tree, "l[-1]", { dialect })).toMatchObject({ value: 2n });
    expect(select(tree, "x\\.y", { dialect })).toMatchObject({ value: 3n });
    expect(toObject(update(tree, "id.b", 7))).toMatchObject({ a: { b: 1 }, id: { b: 7 } });
    expect(toObject(update(tree, "id.b", 7, { dialect }))).toMatchObject({
      a: { b: 7 },
      id: "${a}",
    });
    expect(toObject(fromDotlist(["a\\.b=1"], { dialect }))).toEqual({ "a.b": 1 });
    expect(toObject(mergeDotlist({}, ["a\\=b=1"], { dialect }))).toEqual({ "a=b": 1 });
  });

  it("decides what is resolved, and what is missing", () => {
    const missing = loadYaml("a: ???\nb: ${a}");
    expect(toObject(resolve(missing))).toEqual({ a: "???", b: "???" });
    expect(() => resolve(missing, { dialect })).toThrow(/Missing mandatory value: a/);
    expect(missingKeys(missing, { dialect })).toEqual(["a", "b"]);
  });

  it("decides which functions overrides have", () => {
    expect(parseOverride("a=json_str([1])", { dialect }).value).toMatchObject({ value: "[1]" });
    expect(() => parseOverrides(["a=json_str([1])"])).toThrow(/no function 'json_str'/);
  });

  it("comes with a composed config", () => {
    const store = new Map([["config", { text: "l: [1, 2]" }]]);
    const config = compose({ configDir: null, configName: "config", store, dialect });
    expect(config.get("l[-1]")).toBe(2);
    expect(select(config, "l[-1]")).toMatchObject({ value: 2n });
    expect(select(config, "l[-1]", { dialect: "1.3" })).toBeUndefined();
  });

  it("has one of four names", () => {
    const refused = expect.objectContaining({ code: "compose.unsupported" });
    const other = { dialect: "2" } as never;
    const calls = [
      () => loadYaml("a: 1", other),
      () => toYaml({}, other),
      () => select({}, "a", other),
      () => parseOverride("a=1", other),
      () => compose(other),
    ];
    for (const call of calls) expect(call).toThrow(refused);
  });
});
