import { execFileSync } from "node:child_process";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isConfigError } from "../../../src/engine/values/errors.ts";
import {
  charactersOf,
  checkExpansion,
  type Limits,
  limitsOf,
  withLimits,
} from "../../../src/engine/values/limits.ts";
import { list, map, scalar, withEntry } from "../../../src/engine/values/node.ts";
import { fromCode } from "../../../src/engine/values/origin.ts";
import { packageInfo } from "../../../src/engine/values/package-info.ts";
import { resolver } from "../../../src/engine/values/resolution/resolver.ts";
import {
  compose,
  createEngine,
  DEFAULT_LIMITS,
  loadYaml,
  merge,
  mergeAll,
  mergeDotlist,
  missingKeys,
  resolve,
  select,
  toObject,
  toYaml,
} from "../../../src/index.ts";

describe("limits", () => {
  it("are those of the environment, or the defaults", () => {
    expect(limitsOf({})).toBe(DEFAULT_LIMITS);
    expect(limitsOf({ HYDRACONF_MAX_VALUES: "5_000_000", HYDRACONF_MAX_CHARACTERS: "" })).toEqual({
      ...DEFAULT_LIMITS,
      values: 5_000_000,
    });
    expect(limitsOf({ HYDRACONF_MAX_UNPACKED_BYTES: " 7 " }).unpackedBytes).toBe(7);
  });

  it.each(["much", "-1", "1e3", "1.5", "99999999999999999999"])(
    "are whole numbers there, not %s",
    (text) => {
      expect(() => limitsOf({ HYDRACONF_MAX_VALUES: text })).toThrow(
        `HYDRACONF_MAX_VALUES must be a whole number, not '${text}'`,
      );
    },
  );

  it("can be given one by one", () => {
    expect(withLimits(DEFAULT_LIMITS, undefined)).toBe(DEFAULT_LIMITS);
    expect(withLimits(DEFAULT_LIMITS, { values: 3 })).toEqual({ ...DEFAULT_LIMITS, values: 3 });
  });

  it("are an option of what reads, resolves and composes, which is checked", () => {
    const wrong = { limits: { value: 3 } } as never;
    expect(() => loadYaml("a: 1", wrong)).toThrow("loadYaml: there is no option 'limits.value'");
    expect(() => toYaml({}, wrong)).toThrow("toYaml: there is no option 'limits.value'");
    expect(() => compose(wrong)).toThrow("compose: there is no option 'limits.value'");
    expect(() => compose({ limits: { values: -1 } })).toThrow(
      "limits.values must be a number from 0",
    );
  });

  it("of a composition are those of its environment", () => {
    const store = new Map([["config", { text: "a: [1, 2, 3]\nb: ${a}" }]]);
    const config = (env: Record<string, string>) => compose({ configName: "config", store, env });
    expect(config({}).get("b")).toEqual([1, 2, 3]);
    expect(() => config({ HYDRACONF_MAX_VALUES: "2" }).toYaml({ resolve: true })).toThrow(
      "more than 2 values",
    );
  });
});

describe("what is shared in a tree that was made of another one", () => {
  const origin = fromCode("test");
  const item = map([["x", list([scalar(1n, origin), scalar(2n, origin)], origin)]], origin);
  const inner = map([["p", item]], origin);
  const before = map(
    [
      ["a", inner],
      ["b", scalar(1n, origin)],
    ],
    origin,
  );
  const limits = { ...DEFAULT_LIMITS, values: 3 };
  const added = map([["y", scalar(1n, origin)]], origin);
  const pair = map(
    [
      ["l", added],
      ["m", added],
    ],
    origin,
  );

  const trees = [
    ["the tree itself", before, undefined],
    ["another value", withEntry(before, "b", scalar(2n, origin)), undefined],
    ["a new map", withEntry(before, "b", map([["x", added]], origin)), undefined],
    ["the new map at another place", withEntry(before, "c", added), undefined],
    ["a map of it at another place, too", withEntry(before, "b", item), "limit.values"],
    [
      "what holds one of its maps",
      withEntry(before, "b", map([["p", item]], origin)),
      "limit.values",
    ],
    ["a new map twice", withEntry(before, "b", pair), undefined],
    ["a large one twice", withEntry(withEntry(before, "b", pair), "c", pair), "limit.values"],
  ] as const;

  it.each(trees)("%s", (_, root, code) => {
    expect(refusal(() => checkExpansion(root, limits, { previous: before }))?.code).toBe(code);
    expect(refusal(() => checkExpansion(root, limits))?.code).toBe(code);
  });

  it("is found whatever tree was checked before", () => {
    for (const [first, one] of trees)
      for (const [second, two, code] of trees) {
        const base = map(
          [...before.entries.values()].map(({ key, value }) => [key, value]),
          origin,
        );
        refusal(() => checkExpansion(one, limits, { previous: base }));
        const found = refusal(() => checkExpansion(two, limits, { previous: base }));
        expect(found?.code, `${second} after ${first}`).toBe(code);
      }
  });

  it("is not searched again in what the tree before has at the same place", () => {
    let reads = 0;
    const rules = {
      ...list([map([["x", scalar(1n, origin)]], origin)], origin),
      get items() {
        reads++;
        return [map([["x", scalar(1n, origin)]], origin)];
      },
    };
    const job = (number: bigint) =>
      withEntry(withEntry(before, "b", scalar(number, origin)), "rules", rules);
    checkExpansion(job(1n), DEFAULT_LIMITS, { previous: before });
    const first = reads;
    for (let number = 2n; number < 10n; number++)
      checkExpansion(job(number), DEFAULT_LIMITS, { previous: before });
    expect([first > 0, reads - first]).toEqual([true, 0]);
  });
});

const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index + 1)).join("\n");

/** Each line has twice the values of the one before. */
const values = (count: number, first = "{a: 1, b: 2}"): string =>
  `k0: ${first}\n${lines(count, (n) => `k${n}: {x: '\${k${n - 1}}', y: '\${k${n - 1}}'}`)}`;

/** Each line has twice the characters of the one before. */
const texts = (count: number): string =>
  `k0: abcdefghij\n${lines(count, (n) => `k${n}: \${k${n - 1}}\${k${n - 1}}`)}`;

const aliases = (count: number): string =>
  `k0: &k0 {a: 1, b: 2}\n${lines(count, (n) => `k${n}: &k${n} {x: *k${n - 1}, y: *k${n - 1}}`)}`;

function refusal(work: () => unknown) {
  try {
    work();
  } catch (error) {
    if (isConfigError(error)) return error.details;
    throw error;
  }
  return null;
}

const SMALL: Limits = { values: 500, characters: 5000, unpackedBytes: 0 };
const resolved = (yaml: string, limits: Partial<Limits> = SMALL) =>
  toYaml(loadYaml(yaml, { limits }), { resolve: true, limits });

describe("what expands without end", () => {
  it("is refused with the key, the place, the limit and the remedy: references to maps", () => {
    expect(refusal(() => resolved(values(12)))).toMatchObject({
      code: "limit.values",
      message: expect.stringMatching(
        /^Aliases and interpolations up to 'k\d+\.[xy]' expand to more than 500 values$/,
      ),
      key: expect.stringMatching(/^k\d+\.[xy]$/),
      origin: { kind: "file" },
      hint: expect.stringContaining("HYDRACONF_MAX_VALUES=5000"),
    });
  });

  it("the same of texts, also of one that is asked for alone", () => {
    const expected = {
      code: "limit.characters",
      message: expect.stringContaining("expand to more than 5,000 characters"),
      hint: expect.stringContaining("limits: { characters: 50000 }"),
    };
    expect(refusal(() => resolved(texts(12)))).toMatchObject(expected);
    expect(refusal(() => select(loadYaml(texts(12)), "k12", { limits: SMALL }))).toMatchObject(
      expected,
    );
  });

  it.each([
    ["aliases", aliases(12), "limit.values"],
    [
      "a long text that aliases repeat",
      `a: &a ${"s".repeat(100)}\nb: &b [${"*a,".repeat(60)}]\nc: [${"*b,".repeat(9)}]`,
      "limit.characters",
    ],
    [
      "a long key that aliases repeat",
      `a: &a {${"s".repeat(120)}: 1}\nb: [${"*a,".repeat(60)}]`,
      "limit.characters",
    ],
    [
      "merge keys",
      `k0: &k0 {a: 1}\n${lines(12, (n) => `k${n}: &k${n} {<<: [*k${n - 1}, *k${n - 1}]}`)}`,
      "limit.values",
    ],
  ])("%s, as they are read", (_, yaml, code) => {
    expect(refusal(() => loadYaml(yaml, { limits: SMALL }))).toMatchObject({
      code,
      origin: { kind: "file" },
    });
  });

  it.each([
    ["references to aliases", `${aliases(6)}\nl: [${"'${k6}',".repeat(9)}]`, "limit.values"],
    [
      "a text that references repeat",
      `a: ${"s".repeat(1000)}\nb: ['\${a}', '\${a}', '\${a}', '\${a}', '\${a}', '\${a}']`,
      "limit.characters",
    ],
    [
      "maps in texts",
      `k0: {a: 1}\n${lines(20, (n) => `k${n}: "\${oc.select:no,[\${k${n - 1}},\${k${n - 1}}]}-"`)}`,
      "limit.characters",
    ],
    [
      "lists among arguments",
      `k0: [1]\n${lines(12, (n) => `k${n}: \${oc.select:no,[\${k${n - 1}},\${k${n - 1}}]}`)}`,
      "limit.values",
    ],
    [
      "lists of the config that a resolver makes",
      `k0: [1]\n${lines(12, (n) => `k${n}: \${oc.create:[\${k${n - 1}},\${k${n - 1}}]}`)}`,
      "limit.values",
    ],
    [
      "values of maps",
      `k0: {a: 1}\n${lines(12, (n) => `k${n}: {x: '\${oc.dict.values:k${n - 1}}', y: '\${k${n - 1}}'}`)}`,
      "limit.values",
    ],
    [
      "impure resolvers",
      `k0: {a: 1}\n${lines(12, (n) => `k${n}: {x: '\${oc.deprecated:k${n - 1}}', y: '\${oc.deprecated:k${n - 1}}'}`)}`,
      "limit.values",
    ],
    [
      "keys of references",
      `${texts(8)}\nv: \${oc.select:\${k8}\${k8}\${k8},1}`,
      "limit.characters",
    ],
  ])("%s", (_, yaml, code) => {
    expect(refusal(() => resolved(yaml))).toMatchObject({ code });
  });

  it("is no more for missing keys, and for what a resolver of plain data is given", () => {
    const deprecated = `k0: {a: 1}\n${lines(14, (n) => `k${n}: {x: '\${oc.deprecated:k${n - 1}}', y: '\${oc.deprecated:k${n - 1}}'}`)}`;
    expect(refusal(() => missingKeys(loadYaml(deprecated), { limits: SMALL }))?.code).toBe(
      "limit.values",
    );
    const count = resolver("count", (given: unknown) => JSON.stringify(given).length);
    const options = { limits: SMALL, resolvers: [count] };
    expect(
      refusal(() => select(loadYaml(`${values(12)}\nn: \${count:\${k12}}`), "n", options))?.code,
    ).toBe("limit.values");
  });

  it("is not taken for a value that cannot be resolved", () => {
    const options = { throwOnResolutionFailure: false, limits: SMALL };
    expect(refusal(() => select(loadYaml(texts(12)), "k12", options))?.code).toBe(
      "limit.characters",
    );
  });

  it("is refused in a text that is written: brackets in brackets become lines that are indented far", () => {
    const deep = `k: ${"[".repeat(60)}${"1,".repeat(60)}${"]".repeat(60)}`;
    expect(refusal(() => toYaml(loadYaml(deep), { limits: SMALL }))).toMatchObject({
      code: "limit.characters",
      message: "The config as YAML has more than 5,000 characters",
    });
  });
});

describe("a composition", () => {
  const composed = (
    store: Readonly<Record<string, string>>,
    limits: Partial<Limits> = SMALL,
    overrides: readonly string[] = [],
  ) =>
    compose({
      configName: "config",
      overrides,
      limits: { ...SMALL, values: 2000, characters: 50_000, ...limits },
      store: new Map(Object.entries(store).map(([path, text]) => [path, { text }])),
    });

  it("counts the aliases of all its files", () => {
    const one = { config: aliases(8) };
    expect(refusal(() => composed(one, { values: 2500 }))).toBeNull();
    const two = {
      config: `defaults: [_self_, more]\n${aliases(8)}`,
      more: aliases(8).replaceAll("k", "m"),
    };
    expect(refusal(() => composed(two, { values: 2500 }))?.code).toBe("limit.values");
  });

  it("counts what merging expands", () => {
    const over = lines(12, (n) => `k${n}: {x: {z: 1}, y: {z: 1}}`);
    const store = { config: `defaults: [_self_, more]\n${values(12)}`, more: over };
    expect(refusal(() => composed(store))?.code).toBe("limit.values");
  });

  /** Each key refers to the same map, and a later file changes a value in what it refers to. */
  const base = `base: {${Array.from({ length: 101 }, (_, n) => `v${n}: 1`)}}\n`;
  const references = (from: number, count: number) =>
    base + lines(count, (n) => `a${from + n}: \${base}`);
  const changes = (from: number, count: number) => lines(count, (n) => `a${from + n}: {v0: 2}`);

  it("counts what merging expands key by key, in all its files and overrides", () => {
    const pair = (count: number) => ({
      config: `defaults: [_self_, more]\n${references(0, count)}`,
      more: changes(0, count),
    });
    expect(refusal(() => composed(pair(19), {}))).toBeNull();
    expect(refusal(() => composed(pair(20), {}))).toMatchObject({
      code: "limit.values",
      key: "a20",
    });

    const spread = (count: number) => ({
      config: `defaults: [_self_, one, two]\n${references(0, count)}`,
      one: changes(0, 10),
      two: changes(10, count - 10),
    });
    expect(refusal(() => composed(spread(19), {}))).toBeNull();
    expect(refusal(() => composed(spread(20), {}))).toMatchObject({
      code: "limit.values",
      key: "a20",
    });

    const inMap = {
      config: `defaults: [_self_, more]\nm:\n  ${references(0, 20).replaceAll("{base}", "{m.base}").replaceAll("\n", "\n  ")}`,
      more: `m:\n  ${changes(0, 10).replaceAll("\n", "\n  ")}`,
    };
    const overrides = (count: number) =>
      Array.from({ length: count }, (_, n) => `m={a${11 + n}:{v0:2}}`);
    expect(refusal(() => composed(inMap, {}, overrides(9)))).toBeNull();
    expect(refusal(() => composed(inMap, {}, overrides(10)))).toMatchObject({
      code: "limit.values",
      key: "m.a20",
    });
  });

  it("counts what was expanded for a composition before, whose files come again", () => {
    const store = new Map(
      Object.entries({
        config: `defaults: [_self_, one, g: none]\n${references(0, 30)}`,
        one: changes(0, 15),
        "g/none": "x: 1",
        "g/few": `# @package _global_\n${changes(15, 4)}`,
        "g/many": `# @package _global_\n${changes(15, 15)}`,
      }).map(([path, text]) => [path, { text }]),
    );
    const engine = createEngine({ limits: { values: 2000 }, store });
    const withGroup = (g: string) => () =>
      engine.compose({ configName: "config", overrides: [`g=${g}`] });
    for (const g of ["none", "few", "many", "few", "many"])
      expect(refusal(withGroup(g))?.code).toBe(g === "many" ? "limit.values" : undefined);
  });

  it("has the engine's limits in all that it gives", () => {
    const config = composed({ config: values(12) });
    for (const ask of [
      () => config.toYaml({ resolve: true }),
      () => config.toObject({ resolve: true }),
      () => config.get("k12", { resolve: true }),
      () => resolve(config),
    ])
      expect(refusal(ask)?.code).toBe("limit.values");
    expect(
      refusal(() => resolve(config, { limits: { values: 100_000, characters: 100_000 } })),
    ).toBeNull();
  });
});

describe("by default", () => {
  const inSmallHeap = (
    yaml: string,
    work = "toYaml(loadYaml(given), { resolve: true }).length",
  ): string =>
    execFileSync(
      process.execPath,
      [
        "--max-old-space-size=300",
        "--input-type=module",
        "-e",
        `import { loadYaml, merge, toYaml } from "${join(packageInfo().root, "dist/index.js")}";
         const given = ${JSON.stringify(yaml)};
         try { console.log(${work}); } catch (error) { console.log(error.code); }`,
      ],
      { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
    ).trim();

  it.each([
    ["23 lines of references", values(23), "limit.values"],
    ["40 lines of texts", texts(40), "limit.characters"],
  ])("%s end with an error, and not with the memory", (_, yaml, code) => {
    expect(inSmallHeap(yaml)).toBe(code);
  });

  it("merging over 12,000 references to a map of 3,000 values ends so, too", () => {
    const base = `base: {${Array.from({ length: 3000 }, (_, n) => `v${n}: 1`)}}`;
    const tree = (text: string) =>
      `loadYaml(Array.from({ length: 12_000 }, (_, n) => "a" + n + ": ${text}").join("\\n") + "\\n" + given)`;
    const work = `merge(${tree("${base}")}, ${tree("{v0: 2}")}).kind`;
    expect(inSmallHeap(base, work)).toBe("limit.values");
  });

  it("what is written has no limit", () => {
    const yaml = lines(3000, (n) => `k${n}: {a: ${n}, b: '\${k1.a}'}`);
    expect(refusal(() => resolved(yaml, { values: 0, characters: 100_000 }))).toBeNull();
    expect(
      refusal(() => resolved(`a: ${"s".repeat(2000)}\nb: \${a}`, { characters: 1000 }))?.code,
    ).toBe("limit.characters");
  });
});

/** Trees whose keys refer to what stands before them, by aliases and interpolations. */
const trees = fc
  .array(
    fc.array(fc.tuple(fc.constantFrom("value", "alias", "reference", "text"), fc.nat()), {
      minLength: 1,
      maxLength: 3,
    }),
    { minLength: 1, maxLength: 7 },
  )
  .map((rows) =>
    rows
      .map((row, index) => {
        const items = row.map(([kind, choice]) => {
          const other = `k${choice % Math.max(index, 1)}`;
          if (index === 0 || kind === "value") return `v${choice}`;
          if (kind === "alias") return `*${other}`;
          return kind === "reference" ? `"\${${other}}"` : `"<\${${other}[0]}>"`;
        });
        return `k${index}: &k${index} [${items.join(", ")}]`;
      })
      .join("\n"),
  );

/** All values of a tree that is written out, and the characters of their texts. */
function total(value: unknown): { values: number; characters: number } {
  if (typeof value === "string") return { values: 1, characters: value.length };
  if (typeof value !== "object" || value === null) return { values: 1, characters: 0 };
  const below = Object.entries(value).map(([key, item]) => {
    const of = total(item);
    return { ...of, characters: of.characters + (Array.isArray(value) ? 0 : key.length) };
  });
  return below.reduce(
    (sum, of) => ({ values: sum.values + of.values, characters: sum.characters + of.characters }),
    { values: 1, characters: 0 },
  );
}

describe("any tree", () => {
  const unlimited = { values: Infinity, characters: Infinity };

  it("within the limits is what it is without", () => {
    fc.assert(
      fc.property(trees, fc.nat(300), fc.nat(600), (yaml, most, characters) => {
        const limits = { values: most, characters };
        const expected = toObject(
          resolve(loadYaml(yaml, { limits: unlimited }), { limits: unlimited }),
        );
        const details = refusal(() => {
          const tree = resolve(loadYaml(yaml, { limits }), { limits });
          expect(toObject(tree)).toEqual(expected);
        });
        if (details !== null) expect(details.code).toMatch(/^limit\./);
      }),
    );
  });

  it("is never larger than what is written and both limits allow", () => {
    fc.assert(
      fc.property(trees, fc.nat(100), fc.nat(300), (yaml, most, characters) => {
        const limits = { values: most, characters };
        let made: unknown;
        if (
          refusal(() => (made = toObject(resolve(loadYaml(yaml, { limits }), { limits })))) !== null
        )
          return;
        // Aliases and interpolations are held to the limits one after the other.
        const { values: all, characters: length } = total(made);
        expect(all).toBeLessThanOrEqual(yaml.length + 2 * most);
        expect(length).toBeLessThanOrEqual(yaml.length + 2 * characters);
      }),
    );
  });

  it("is refused if it adds more than it may", () => {
    fc.assert(
      fc.property(trees, (yaml) => {
        const { values: all } = total(
          toObject(resolve(loadYaml(yaml, { limits: unlimited }), { limits: unlimited })),
        );
        const written = yaml.split(/[,\n]/).length * 2 + 1;
        fc.pre(all > written);
        const limits = { values: Math.ceil((all - written) / 2) - 1 };
        expect(refusal(() => resolve(loadYaml(yaml, { limits }), { limits }))?.code).toBe(
          "limit.values",
        );
      }),
    );
  });
});

describe("charactersOf", () => {
  it("counts what takes more than a few", () => {
    expect(charactersOf("abc")).toBe(3);
    expect(charactersOf({ path: "/a" })).toBe(2);
    expect(charactersOf(new Uint8Array(3))).toBe(4);
    expect(charactersOf(10n ** 100n)).toBe(101);
    expect([12n, 1.5, true, null].map(charactersOf)).toEqual([0, 0, 0, 0]);
  });
});

describe("merge", () => {
  it("refuses an expansion that is too large already", () => {
    const over = lines(30, (n) => `k${n}: {x: {z: 1}, y: {z: 1}}`);
    expect(refusal(() => merge(loadYaml(values(30)), loadYaml(over)))?.code).toBe("limit.values");
  });

  it("counts what all its layers expand, and where", () => {
    const base = `base: {${Array.from({ length: 99 }, (_, n) => `v${n}: 1`)}}\n`;
    const references = loadYaml(base + lines(6, (n) => `a${n}: \${base}`));
    const layers = (count: number) =>
      Array.from({ length: count }, (_, n) => loadYaml(`a${n + 1}: {v0: 2}`));
    const merged = (count: number) => () =>
      mergeAll([references, ...layers(count)], { limits: SMALL });
    expect(refusal(merged(5))).toBeNull();
    expect(refusal(merged(6))).toMatchObject({
      code: "limit.values",
      key: "a6",
      message: "Aliases and interpolations up to 'a6' expand to more than 500 values",
    });
  });

  it("counts what updates by a dotlist merge into as one operation", () => {
    const base = `base: {${Array.from({ length: 99 }, (_, n) => `v${n}: 1`)}}\n`;
    const root = loadYaml(
      `m:\n  ${(base + lines(6, (n) => `a${n}: \${m.base}`)).replaceAll("\n", "\n  ")}`,
    );
    const dotlist = (count: number) =>
      Array.from({ length: count }, (_, n) => `m={a${n + 1}: {v0: 2}}`);
    const updated = (count: number) => () => mergeDotlist(root, dotlist(count), { limits: SMALL });
    expect(refusal(updated(5))).toBeNull();
    expect(refusal(updated(6))).toMatchObject({ code: "limit.values", key: "m.a6" });
  });
});
