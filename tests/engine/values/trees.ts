import fc from "fast-check";
import { type ConfigNode, type Key, list, map, scalar } from "../../../src/engine/values/node.ts";
import { fromCode } from "../../../src/engine/values/origin.ts";
import { createConfig } from "../../../src/engine/values/yaml/reader.ts";
import { writeYaml } from "../../../src/engine/values/yaml/writer.ts";

/** Random trees for property tests, and shorthands for writing small ones. */

export const ORIGIN = fromCode("test");

export const yaml = (text: string): ConfigNode => createConfig(text);

/** A tree as text, for comparing. */
export const show = (node: ConfigNode): string => writeYaml(node);

export const value = (plain: ConfigNode | null | boolean | bigint | number | string): ConfigNode =>
  typeof plain === "object" && plain !== null ? plain : scalar(plain, ORIGIN);

const keys = fc.constantFrom<Key>("a", "b", "c", "d", 1n, true, 2.5);

const leaves = (texts: readonly string[]): fc.Arbitrary<ConfigNode> =>
  fc
    .oneof(
      fc.constantFrom<null | boolean | string>(null, true, "x", ...texts),
      fc.bigInt({ min: -5n, max: 5n }),
      fc.double({ noNaN: true }),
    )
    .map((leaf) => scalar(leaf, ORIGIN));

/** Maps up to three levels deep; `texts` are further scalars, such as interpolations. */
export function maps(texts: readonly string[] = []): fc.Arbitrary<ConfigNode> {
  const level = (depth: number): fc.Arbitrary<ConfigNode> =>
    fc
      .uniqueArray(fc.tuple(keys, depth === 0 ? leaves(texts) : node(depth - 1)), {
        selector: ([key]) => String(key),
        maxLength: 4,
      })
      .map((entries) => map(entries, ORIGIN));
  const node = (depth: number): fc.Arbitrary<ConfigNode> =>
    fc.oneof(
      { weight: 3, arbitrary: leaves(texts) },
      { weight: 2, arbitrary: level(depth) },
      {
        weight: 1,
        arbitrary: fc.array(leaves(texts), { maxLength: 3 }).map((items) => list(items, ORIGIN)),
      },
    );
  return level(2);
}

/**
 * Maps in which a key says what stands there: a scalar (`a`, `b`), a list (`l`) or a map (`m`, `n`).
 */
export function shapedMaps(depth = 2): fc.Arbitrary<ConfigNode> {
  const lists = fc.array(leaves([]), { maxLength: 3 }).map((items) => list(items, ORIGIN));
  const fields: Record<string, fc.Arbitrary<ConfigNode>> = {
    a: leaves([]),
    b: leaves([]),
    l: lists,
  };
  if (depth > 0) Object.assign(fields, { m: shapedMaps(depth - 1), n: shapedMaps(depth - 1) });
  const entries = Object.entries(fields).map(([key, field]) =>
    fc.option(field.map((node) => [key, node] as const)),
  );
  return fc.tuple(fc.tuple(...entries), fc.boolean()).map(([chosen, reverse]) => {
    const present = chosen.filter((entry) => entry !== null);
    return map(reverse ? present.reverse() : present, ORIGIN);
  });
}
