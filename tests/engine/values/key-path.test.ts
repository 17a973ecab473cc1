import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DIALECTS } from "../../../src/engine/values/dialect.ts";
import { mergeNodes } from "../../../src/engine/values/edit/merge.ts";
import { updateNode } from "../../../src/engine/values/edit/update.ts";
import { nearestKey, splitKey } from "../../../src/engine/values/key-path.ts";
import { type ConfigNode, scalar } from "../../../src/engine/values/node.ts";
import { fromCode } from "../../../src/engine/values/origin.ts";
import { withFlags } from "../../../src/engine/values/place.ts";
import { createResolveContext } from "../../../src/engine/values/resolution/context.ts";
import { loadYaml } from "../../../src/index.ts";
import { growth } from "../../growth.ts";
import { maps } from "./trees.ts";

describe("key path", () => {
  it.each([
    { key: "a.b", components: ["a", "b"] },
    { key: "a[b]", components: ["a", "b"] },
    { key: "[a].b[0][1]", components: ["a", "b", "0", "1"] },
    { key: ".a", components: ["", "a"] },
    { key: "..[a]", components: ["", "", "a"] },
    { key: "a..b", components: ["a", "", "b"] },
    { key: "", components: [""] },
    { key: "a.", components: ["a", ""] },
    { key: "a[b.c]d.e", components: ["a", "b.c", "e"] },
    { key: "a[b", components: ["a"] },
    { key: "a[\r\u2028]", components: ["a", "\r\u2028"] },
    { key: "a[\n]", components: ["a"] },
    { key: "a[[b]]c", components: ["a", "[b"] },
    { key: "a[\n[b]", components: ["a", "b"] },
    { key: "a[\n].b]", components: ["a", "b]"] },
    { key: "a[b]c\nd[e", components: ["a", "b"] },
  ])("splits '$key' into $components", ({ key, components }) => {
    expect(splitKey(key)).toEqual(components);
  });

  it.each(["[", "[\n]", "[a\n"])("takes no longer for many %j", async (part) => {
    expect(await growth((times) => splitKey(part.repeat(times)), 5000)).toBeLessThan(40);
  });
});

describe("nearest key", () => {
  const TREE = loadYaml(`
pipeline: {nsys: {enable: false, trace: nvtx}, ncu: {enable: false, ncu_cli: {set: full}}}
infer: {batch_size: 4}
mode: deep
hydra: {mode: RUN, run: {dir: out}}
`);

  it.each([
    ["batch_size", ["infer.batch_size"], "infer.batch_size"],
    ["ncu.enable", ["pipeline.ncu.enable"], "pipeline.ncu.enable"],
    ["enable", ["pipeline.nsys.enable", "pipeline.ncu.enable"], undefined],
    ["run.dir", ["hydra.run.dir"], "hydra.run.dir"],
    ["ncu_cli.set", ["pipeline.ncu.ncu_cli.set"], "pipeline.ncu.ncu_cli.set"],
    ["infer.batch_siz", ["infer.batch_size"], "infer.batch_size"],
    ["infer.set", ["infer.batch_size"], undefined],
    ["infr.batch_size", ["pipeline", "infer", "mode", "hydra"], "infer.batch_size"],
    ["infr.batch_siz", ["pipeline", "infer", "mode", "hydra"], "infer.batch_size"],
    ["infr.entirely_other", ["pipeline", "infer", "mode", "hydra"], undefined],
    ["nope.x", ["pipeline", "infer", "mode", "hydra"], undefined],
  ])("for %s there is %j", (key, available, nearest) => {
    expect(nearestKey(TREE, key)).toEqual({ available, ...(nearest && { nearest }) });
  });

  it("names no key that would be read as several", () => {
    const tree = loadYaml("{a.b: {c: 1}, 10: {aa: 1}}");
    expect(nearestKey(tree, "ab.c").nearest).toBeUndefined();
    expect(nearestKey(tree, "1.a").nearest).toBe("10.aa");
    expect(nearestKey(loadYaml("{2.5: {a: {b: 0}}}"), "b")).toEqual({ available: ["2.5"] });
  });

  it("searches no map that is too wide, wherever it stands", () => {
    const tree = loadYaml("infer: {batch_size: 4, seed: 1}");
    expect(nearestKey(tree, "infr.batch_siz", 2).nearest).toBe("infer.batch_size");
    expect(nearestKey(tree, "infr.batch_siz", 1).nearest).toBeUndefined();
  });

  it("names a key that is there, also where keys are numbers, which no text is", () => {
    expect(nearestKey(loadYaml("d: {100: a}"), "d.10").nearest).toBe("d.100");
    expect(nearestKey(loadYaml("d: {0: a}"), "d.0")).toEqual({
      available: [],
      hint: expect.stringContaining("the key 0 is an integer"),
    });
    const part = fc.constantFrom("a", "b", "ab", "1", "True", "2.5", "2.6");
    const key = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("."));
    fc.assert(
      fc.property(maps(), key, (tree, typed) => {
        const { nearest } = nearestKey(tree, typed);
        if (nearest !== undefined) expect(isThere(tree, nearest.split("."))).toBe(true);
      }),
    );
  });

  /** Whether the key leads somewhere, each part by its text; what a list holds is not looked at. */
  function isThere(node: ConfigNode, [part, ...rest]: readonly string[]): boolean {
    if (part === undefined || node.kind === "list") return true;
    if (node.kind === "scalar") return false;
    return [...node.entries.values()].some(
      ({ key, value }) => String(key) === part && isThere(value, rest),
    );
  }
});

describe("a key that a map does not have", () => {
  const tree = withFlags(loadYaml("{port: 1, host: 2, hostname: 3, db: {user: 1}}"), {
    struct: true,
  });
  const refusal = (key: string, name: "1.3" | "1.4"): string => {
    const context = createResolveContext({ dialect: DIALECTS[name] });
    try {
      updateNode(tree, key, scalar(1n, fromCode("test")), {}, context);
    } catch (error) {
      if (error instanceof Error) return error.message;
    }
    return "";
  };

  // What `difflib` of Python finds.
  it.each([
    ["prt", ". Did you mean: 'port'?"],
    ["Port", ". Did you mean: 'port'?"],
    ["hostnam", ". Did you mean one of: 'hostname', 'host'?"],
    ["hosts", ". Did you mean one of: 'host', 'hostname'?"],
    ["db.usr", ". Did you mean: 'user'?"],
    ["zzz", ""],
    ["p", ""],
  ])("%s is refused in 1.4 with those that are like it: %s", (key, words) => {
    const name = key.split(".").at(-1);
    expect(refusal(key, "1.4")).toBe(`Key '${name}' is not in struct${words}`);
    expect(refusal(key, "1.3")).toBe(`Key '${name}' is not in struct`);
  });

  it.each(["1.3", "1.4"] as const)("a map and a list do not merge, in the words of %s", (name) => {
    const context = createResolveContext({ dialect: DIALECTS[name] });
    expect(() => mergeNodes([loadYaml("a: {b: 1}"), loadYaml("a: [1]")], context)).toThrow(
      DIALECTS[name].mergeRefusal,
    );
  });
});
