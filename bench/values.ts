/**
 * Speed of reading, writing and resolving, beside `yaml` and `JSON.stringify` in the same run, and
 * that time grows no faster than the input: `npm run bench values`
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { isConfigError } from "../src/engine/values/errors.ts";
import { fromCode } from "../src/engine/values/origin.ts";
import { packageInfo } from "../src/engine/values/package-info.ts";
import { fromObject } from "../src/engine/values/plain-objects.ts";
import { createResolveContext } from "../src/engine/values/resolution/context.ts";
import { resolveTree } from "../src/engine/values/resolution/resolve-tree.ts";
import { readYaml } from "../src/engine/values/yaml/reader.ts";
import { writeYaml } from "../src/engine/values/yaml/writer.ts";
import { cpuTimeOf, least, measure } from "./measure.ts";
import { createScore, ms, type Score } from "./score.ts";

export async function benchValues(print: (line: string) => void): Promise<boolean> {
  const score = createScore(print);
  readProjectTree(score);
  writeLargeTree(score);
  resolveManyInterpolations(score);
  readDeepDocuments(score);
  readLargeDocuments(score);
  return score.reached();
}

function readProjectTree(score: Score): void {
  const conf = join(packageInfo().root, "conf");
  const texts = readdirSync(conf, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => readFileSync(join(conf, name), "utf8"));
  const { ours, bare } = measure(
    {
      bare: () => texts.map((text) => parse(text)),
      ours: () => texts.map((text) => readYaml(text)),
    },
    100,
  );
  const detail = `${texts.length} files: ${ms(ours)}, yaml.parse ${ms(bare)}`;
  score.atMost("reading the project's conf tree", ours / bare, 1.3, "x", detail);
}

/** About 250 kB of YAML as real configurations have it: short strings, numbers, lists, text. */
function writeLargeTree(score: Score): void {
  const section = (index: number): unknown => ({
    name: `item ${index}`,
    path: `/data/run/${index}/file.bin`,
    lr: 0.001 * index,
    enabled: index % 2 === 0,
    note: null,
    text: `some longer text: with colon number ${index} and more words`,
    list: [1.5, "three", "${section_0.lr}"],
    nested: { a: "x", b: { c: "yes" } },
  });
  const plain = Object.fromEntries(
    Array.from({ length: 1100 }, (_, index) => [`section_${index}`, section(index)]),
  );
  const tree = fromObject(plain, fromCode("bench"));
  const { ours, json } = measure(
    { json: () => JSON.stringify(plain, null, 2), ours: () => writeYaml(tree) },
    60,
    cpuTimeOf,
  );
  const detail = `${(writeYaml(tree).length / 1000).toFixed(0)} kB: ${ms(ours)}, JSON.stringify ${ms(json)}; goal 4`;
  score.atMost("writing a large tree", ours / json, 8, "x", detail);
}

/**
 * Half references, half texts that refer to the key before them: in sections, as configurations have
 * them, and in one map. There the engine's hash tables come on top (a Map of 10,000 entries alone takes
 * 20 to 40 times as long to fill as one of 1,000), so that it has a limit of its own.
 */
function resolveManyInterpolations(score: Score): void {
  const keys = (count: number): Record<string, unknown> =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `key_${index}`,
        index % 2 === 0 ? "${base.value}" : `\${base.name}-\${.key_${index - 1}}`,
      ]),
    );
  const sections = (count: number): Record<string, unknown> =>
    Object.fromEntries(
      Array.from({ length: count / 50 }, (_, index) => [`section_${index}`, keys(50)]),
    );
  for (const [where, content, limit] of [
    ["in sections of 50", sections, 12],
    ["in one map", keys, 15],
  ] as const) {
    const treeOf = (size: number) =>
      fromObject({ base: { value: 1.5, name: "run" }, ...content(size) }, fromCode("bench"));
    const [small, large] = [treeOf(1000), treeOf(10_000)];
    const resolve = (tree: typeof small) => resolveTree(tree, createResolveContext({ env: {} }));
    const times = measure(
      { small: () => resolve(small), large: () => resolve(large) },
      15,
      cpuTimeOf,
    );
    const detail = `${ms(times.small)} for 1,000, ${ms(times.large)} for 10,000`;
    const name = `resolving 10 times the interpolations ${where}`;
    score.atMost(name, times.large / times.small, limit, "x", detail);
  }
}

function readDeepDocuments(score: Score): void {
  const depth = 10_000;
  const documents = {
    "block maps": Array.from({ length: depth }, (_, at) => `${" ".repeat(at)}a:`).join("\n"),
    "block lists": `${"- ".repeat(depth)}a`,
    "flow lists": "[".repeat(depth) + "]".repeat(depth),
    "flow maps": "{a: ".repeat(depth) + "}".repeat(depth),
    "unclosed lists": "[\n".repeat(depth),
  };
  for (const [kind, text] of Object.entries(documents)) {
    const outcome = readOrRefuse(text);
    score.holds(`10,000-deep ${kind}: read or refused`, outcome.orderly, outcome.what);
  }
}

function readOrRefuse(text: string): { readonly orderly: boolean; readonly what: string } {
  try {
    readYaml(text);
    return { orderly: true, what: "read" };
  } catch (error) {
    if (isConfigError(error)) return { orderly: true, what: `${error.code}: ${error.message}` };
    return { orderly: false, what: String(error) };
  }
}

/** 2 MB and 10 MB of each kind: a megabyte must not cost much more in a larger document. */
function readLargeDocuments(score: Score): void {
  const lines = (count: number, line: (at: number) => string): string =>
    Array.from({ length: count }, (_, at) => line(at)).join("");
  const wideMap = (size: number): string => lines(size * 53_000, (at) => `key_${at}: value\n`);
  const kinds: Readonly<Record<string, (megabytes: number) => string>> = {
    "maps and lists": (size) =>
      lines(size * 25_000, (at) => `key_${at}: {a: ${at}, b: [x, y], c: "q"}\n`),
    "one wide map": wideMap,
    "a map with a duplicate key at its end": (size) => `${wideMap(size)}key_1: again\n`,
    "a text of many lines": (size) =>
      `text: |\n${lines(size * 52_000, () => "  some words of it\n")}`,
  };
  for (const [kind, documentOf] of Object.entries(kinds)) {
    const documents = [documentOf(2), documentOf(10)] as const;
    const times = measure(
      { small: () => readOrRefuse(documents[0]), large: () => readOrRefuse(documents[1]) },
      5,
      cpuTimeOf,
      least,
    );
    const perMegabyte = (time: number, { length }: string): number => time / (length / 1e6);
    const [small, large] = [
      perMegabyte(times.small, documents[0]),
      perMegabyte(times.large, documents[1]),
    ];
    const detail = `${ms(small)} per MB of 2 MB, ${ms(large)} per MB of 10 MB`;
    score.atMost(`10 MB, ${kind}`, large / small, 2, "x", detail);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = (await benchValues(console.log)) ? 0 : 1;
