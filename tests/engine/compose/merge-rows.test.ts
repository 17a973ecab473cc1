import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Snapshot } from "../../../src/engine/compose/sources/repository.ts";
import { ConfigError } from "../../../src/engine/values/errors.ts";
import { type ConfigNode, child } from "../../../src/engine/values/node.ts";
import { withFlags } from "../../../src/engine/values/place.ts";
import { toObject } from "../../../src/engine/values/plain-objects.ts";
import { createResolveContext } from "../../../src/engine/values/resolution/context.ts";
import { readYaml } from "../../../src/engine/values/yaml/reader.ts";
import { runs } from "../../runs.ts";
import { composeFiles, composeOn, pointedAt, refusal, snapshotOf } from "./in-memory.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look at many shapes of one tree
const object = (files: Record<string, string>, overrides: readonly string[] = []): any =>
  composeFiles(files, overrides).toObject({ resolve: false });

describe("merging the configs of a defaults list", () => {
  it("puts each at its package, later ones over earlier ones, key order kept", () => {
    const files = {
      config: "defaults: [db: mysql, db@srv.store: pg, _self_]\ndb: {port: 9}\nlast: 1",
      "db/mysql": "port: 1\nhost: a",
      "db/pg": "port: 2",
    };
    expect(composeFiles(files).toYaml()).toBe(
      "db:\n  port: 9\n  host: a\nsrv:\n  store:\n    port: 2\nlast: 1\n",
    );
  });

  it("makes string keys of all parts of a package, the empty one included", () => {
    const files = { config: "defaults: [g@a.0.b: x, 'g/': x, _self_]", "g/x": "v: 1" };
    expect(object(files)).toEqual({ a: { "0": { b: { v: 1 } } }, g: { "": { v: 1 } } });
  });

  it("takes a list as an option of a group, but not at the root", () => {
    const files = { config: "defaults: [g: x, _self_]", "g/x": "[1, 2]" };
    expect(object(files)).toEqual({ g: [1, 2] });
    const error = refusal(() => object({ ...files, config: "defaults: [g@_global_: x, _self_]" }));
    expect(error.code).toBe("compose.invalid_config");
    expect(error.message.split("\n")[0]).toBe(
      "In 'g/x': ConfigTypeError raised while composing config:",
    );
    expect(refusal(() => object({ config: "[1]" })).message).toBe(
      "primary config 'config' must be a DictConfig, got ListConfig",
    );
  });

  it("names the config whose value does not fit, with the place in it", () => {
    const error = refusal(() => object({ config: "x: 1\nhydra:\n  job: {num: abc}" }));
    expect(error.code).toBe("compose.invalid_config");
    expect(error.message.split("\n")[0]).toBe(
      "In 'config': ValidationError raised while composing config:",
    );
    expect(pointedAt(error)).toBe("abc");
  });

  it("knows the hydra node's keys", () => {
    const error = refusal(() => object({ config: "hydra: {jobb: {}}" }));
    expect(error.message).toContain("'jobb'");
    expect(error.details.key).toBe("hydra.jobb");
  });
});

describe("a config that a defaults list includes twice", () => {
  // Hydra keeps one copy of a config per composition and merges its maps in place.
  const files = {
    config: "defaults: [shared, other, shared@again, _self_]",
    shared: "map: {x: 1}\nscalar: 1",
    other: "map: {x: 2, y: 3}\nscalar: 2",
  };

  it("brings what has become of its maps since it was merged at the root", () => {
    expect(object(files)).toEqual({
      map: { x: 2, y: 3 },
      scalar: 2,
      again: { map: { x: 2, y: 3 }, scalar: 1 },
    });
  });

  it("is the same again where it was first merged under a package", () => {
    const moved = { ...files, config: "defaults: [shared@first, other, shared@again, _self_]" };
    expect(object(moved)).toMatchObject({ again: { map: { x: 1 }, scalar: 1 } });
  });

  it("shares only what is its own where a map was there before", () => {
    const before = {
      config: "defaults: [base, shared, other, shared@again, _self_]",
      base: "map: {deep: {z: 0}}",
      shared: "map: {x: 1, own: {k: 1}}",
      other: "map: {x: 2, own: {k: 2}}",
    };
    expect(object(before).again).toEqual({ map: { x: 1, own: { k: 2 } } });
    const moved = { ...before, config: before.config.replace("[", "[shared@first, ") };
    expect(object(moved).again).toEqual({ map: { x: 1, own: { k: 2 } } });
  });

  it("keeps its own where something of another kind took the place", () => {
    const other = { ...files, other: "map: 5" };
    expect(object(other)).toEqual({ map: 5, scalar: 1, again: { map: { x: 1 }, scalar: 1 } });
  });

  it("shares what it brought when it was first merged at the root", () => {
    const thrice = {
      ...files,
      config: "defaults: [shared, other, shared, later, shared@again, _self_]",
      later: "map: {x: 4, w: 5}",
    };
    expect(object(thrice).again).toEqual({ map: { x: 4, y: 3, w: 5 }, scalar: 1 });
  });
});

describe("a config with the path of a stored schema", () => {
  const store = new Map([["db/mysql", { value: { port: 3306, host: "localhost" } }]]);

  it("is completed by it, with a warning", () => {
    const files = { config: "defaults: [db: mysql, _self_]", "db/mysql": "port: 1" };
    const config = composeFiles(files, [], { store });
    expect(config.toObject()).toEqual({ db: { port: 1, host: "localhost" } });
    expect(config.composition.warnings).toMatchObject([{ code: "schema_match" }]);
  });

  it("leaves the hydra node of a primary config out of what its schema takes, and no other key", () => {
    const strict = withFlags(readYaml("x: 0"), { struct: true });
    const store = new Map([["config", { node: strict }]]);
    const composed = (config: string) => composeFiles({ config }, [], { store });
    const config = composed("x: 1\nhydra: {job: {name: mine}}");
    expect(config.toObject()).toEqual({ x: 1 });
    expect(toObject(config.composition.hydra)).toMatchObject({ job: { name: "mine" } });
    expect(refusal(() => composed("x: 1\ny: 2")).message).toContain("'y' is not in struct");
  });

  it("may be the primary config, whose hydra node the schema need not have", () => {
    const config = composeFiles({ config: "y: 2\nhydra: {job: {name: mine}}" }, [], {
      store: new Map([["config", { value: { x: 1, y: 1 } }]]),
    });
    expect(config.toObject()).toEqual({ x: 1, y: 2 });
    expect(toObject(config.composition.hydra)).toMatchObject({ job: { name: "mine" } });
  });

  it("is refused where it does not fit, with the names of both", () => {
    const files = { config: "defaults: [db: mysql, _self_]", "db/mysql": "[1]" };
    const error = refusal(() => composeFiles(files, [], { store }));
    expect(error.code).toBe("compose.invalid_config");
    expect(error.message).toMatch(/^Error merging 'db\/mysql' with schema\n./);
    expect(pointedAt(error)).toBe("[1]");
  });

  it("may not have a defaults list, which nobody would follow", () => {
    const files = { config: "defaults: [db: mysql, _self_]", "db/mysql": "port: 1" };
    const error = refusal(() =>
      composeFiles(files, [], { store: new Map([["db/mysql", { text: "defaults: [other]" }]]) }),
    );
    expect(error.message).toContain(
      "In addition, the automatically matched schema contains a defaults list.",
    );
    expect(error.details.key).toBe("db/mysql");
  });

  it("is refused where that is Hydra's own root", () => {
    const error = refusal(() => object({ config: "x: 1", "hydra/config": "run: {}" }));
    expect(error.code).toBe("compose.invalid_config");
    expect(error.message.split("\n")[0]).toBe(
      "'hydra/config' is validated against ConfigStore schema with the same name.",
    );
  });
});

/** Options that change each other's maps, lists and types, refer to each other, and do not fit. */
const FILES = {
  config:
    "defaults: [a: one, b: one, c: one, _self_]\nmap: {own: 1}\nlist: [0]\nref: ${map}\nhydra: {job: {name: j}}",
  plain: "defaults: [b: two, a: two]\nx: 1",
  "a/one": "# @package _global_\nmap: {x: 1, deep: {y: [1, 2]}}\nlink: ${map}\nwant: ???",
  "a/two": "# @package _global_\nmap: {x: '${list}', deep: null}\nlist: [3]\nlink: ${map.deep}",
  "a/bad": "# @package _global_\nmap: [1]",
  "b/one": "# @package _global_\nmap: {deep: {z: '${ref}'}}\nlink: {more: 1}\nwant: 5",
  "b/two": "# @package _global_\nlink: {other: '${oc.env:HOME}'}\nref: {n: 1}",
  "b/run": "# @package _global_\nhydra: {run: {dir: here}, job: {chdir: true, name: '${b}'}}",
  "c/one": "k: {v: 1}\nw: '${map}'",
  "c/two": "defaults: [/a@in: one, _self_]\nk: {v: 2}\nw: {q: 1}",
  "made/map": "made: '${oc.create:${oc.decode:${oc.env:MADE}}}'",
  "made/more": "made: {more: 1}",
  "c/bad": "# @package _global_\nhydra: {job: {num: text}}",
};

const context = createResolveContext({ env: { HOME: "/home" } });

interface Job {
  readonly configName: string;
  readonly overrides: readonly string[];
}

/** The tree with its origins and what was replaced, or what was wrong. */
function outcome(snapshot: Snapshot, job: Job): unknown {
  try {
    return composeOn(snapshot, job.overrides, context, job).root;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { message, origin, key } = error.details;
    return { code: error.code, message, origin, key };
  }
}

const jobs: fc.Arbitrary<Job> = fc.record({
  configName: fc.constantFrom("config", "config", "plain"),
  overrides: fc.uniqueArray(
    fc.constantFrom("a=two", "a=bad", "b=two", "b=run", "c=two", "c=bad", "+a@m=two", "+c=two"),
    { maxLength: 4, selector: (text) => text.slice(0, 4) },
  ),
});

const at = (node: ConfigNode, ...path: readonly string[]): ConfigNode | undefined =>
  path.reduce<ConfigNode | undefined>((inner, key) => inner && child(inner, key), node);

describe("merges that are known", () => {
  it("make no difference to what compositions come to", () => {
    fc.assert(
      fc.property(fc.array(jobs, { minLength: 2, maxLength: 8 }), (sequence) => {
        const shared = snapshotOf(FILES);
        for (const job of sequence)
          expect(outcome(shared, job)).toStrictEqual(outcome(snapshotOf(FILES), job));
      }),
      { numRuns: runs(60) },
    );
  });

  it("are shared by compositions that begin with the same rows, from the second one on", () => {
    const snapshot = snapshotOf(FILES);
    const [, second, third] = ["a=one", "a=two", "b=two"].map((override) =>
      composeOn(snapshot, [override], context),
    );
    for (const path of [["job_logging"], ["help"], ["launcher"]]) {
      const node = second && at(second.hydra, ...path);
      expect(node).toBeDefined();
      expect(third && at(third.hydra, ...path)).toBe(node);
    }
  });

  it("do not keep what a resolver said", () => {
    const snapshot = snapshotOf(FILES);
    const env: Record<string, string> = {};
    const changed = createResolveContext({ env });
    const shown = ["{x: 1}", "{y: 2}", "{z: 3}"].map((made) => {
      env["MADE"] = made;
      const { config } = composeOn(snapshot, ["+made@_global_=[map,more]"], changed);
      return at(config, "made");
    });
    expect(shown.map((node) => node && toObject(node))).toEqual([
      { x: 1, more: 1 },
      { y: 2, more: 1 },
      { z: 3, more: 1 },
    ]);
  });

  it("are forgotten in a long sweep, which still gets what it asks for", () => {
    const snapshot = snapshotOf(FILES);
    for (let job = 0; job < 200; job++) {
      const overrides = [`a=${job % 2 === 0 ? "one" : "two"}`, `+c@p${job}=one`];
      const { config } = composeOn(snapshot, overrides, context);
      expect(at(config, `p${job}`, "k", "v")).toMatchObject({ value: 1n });
      expect(at(config, `p${job - 1}`)).toBeUndefined();
    }
  });
});
