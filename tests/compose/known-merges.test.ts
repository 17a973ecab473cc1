import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Snapshot } from "../../src/compose/sources/snapshot.ts";
import { ConfigError } from "../../src/values/errors.ts";
import { createResolveContext } from "../../src/values/interpolation/context.ts";
import { type ConfigNode, child } from "../../src/values/node.ts";
import { toObject } from "../../src/values/to-object.ts";
import { runs } from "../runs.ts";
import { composeOn, snapshotOf } from "./in-memory.ts";

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
