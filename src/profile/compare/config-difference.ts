import { readFileSync } from "node:fs";
import type { ConfigDifference } from "../../report/compare/comparison.ts";
import { showBoth, showValue } from "../../schema/show-value.ts";
import { type Difference, diffConfigs } from "../../values/diff.ts";
import type { ConfigNode, ListNode } from "../../values/node.ts";
import { keyText } from "../../values/python-text.ts";
import { readYaml } from "../../values/yaml/reader.ts";

/**
 * Values in which the saved configurations of two runs differ. Lists of the same length, as the
 * command lines of two checkouts are, differ item by item: whoever compares runs looks for the one
 * argument that is another.
 *
 * @throws ConfigError for a file that is not YAML
 */
export function configDifference(fileA: string, fileB: string): readonly ConfigDifference[] {
  const read = (file: string) => readYaml(readFileSync(file, "utf8"), { name: file });
  return diffConfigs(read(fileA), read(fileB)).flatMap((difference) => rows(difference, ""));
}

function rows(difference: Difference, prefix: string): readonly ConfigDifference[] {
  const path = difference.path.map(keyText).join(".");
  const key = prefix !== "" && path !== "" ? `${prefix}.${path}` : `${prefix}${path}`;
  switch (difference.kind) {
    case "added":
      return [{ key, a: null, b: showValue(difference.after) }];
    case "removed":
      return [{ key, a: showValue(difference.before), b: null }];
    case "changed": {
      const { before, after } = difference;
      return before.kind === "list" && after.kind === "list"
        ? listRows(before, after, key)
        : [changed(before, after, key)];
    }
  }
}

function listRows(before: ListNode, after: ListNode, key: string): readonly ConfigDifference[] {
  if (before.items.length !== after.items.length) return [changed(before, after, key)];
  return before.items.flatMap((item, index) => {
    const other = after.items[index];
    return other === undefined
      ? []
      : diffConfigs(item, other).flatMap((difference) => rows(difference, `${key}[${index}]`));
  });
}

function changed(before: ConfigNode, after: ConfigNode, key: string): ConfigDifference {
  const [a, b] = showBoth(before, after);
  return { key, a, b };
}
