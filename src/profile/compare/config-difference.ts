import { readFileSync } from "node:fs";
import type { ConfigDifference } from "../../report/compare/comparison.ts";
import { readYaml } from "../../values/reader.ts";
import { toObject } from "../../values/to-object.ts";

/**
 * Values in which two configurations differ, in the order of their keys' first appearance.
 *
 * @throws ConfigError for a file that is not YAML
 */
export function configDifference(a: string, b: string): readonly ConfigDifference[] {
  const ofA = leaves(a);
  const ofB = leaves(b);
  return [...new Set([...ofA.keys(), ...ofB.keys()])].flatMap((key) => {
    const before = ofA.get(key) ?? null;
    const after = ofB.get(key) ?? null;
    return before === after ? [] : [{ key, a: before, b: after }];
  });
}

function leaves(file: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const visit = (value: unknown, path: string): void => {
    const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
    if (entries.length === 0) found.set(path, text(value));
    for (const [key, child] of entries) visit(child, path === "" ? key : `${path}.${key}`);
  };
  visit(toObject(readYaml(readFileSync(file, "utf8"), { name: file })), "");
  return found;
}

const text = (value: unknown): string =>
  typeof value === "string"
    ? value
    : typeof value === "bigint"
      ? String(value)
      : JSON.stringify(value);
