import { readFileSync } from "node:fs";
import type { ConfigDifference } from "../../report/compare/comparison.ts";
import { showValue } from "../../schema/show-value.ts";
import { diffConfigs } from "../../values/diff.ts";
import type { ConfigNode } from "../../values/node.ts";
import { keyText } from "../../values/python-text.ts";
import { readYaml } from "../../values/reader.ts";

/**
 * Values in which the saved configurations of two runs differ.
 *
 * @throws ConfigError for a file that is not YAML
 */
export function configDifference(fileA: string, fileB: string): readonly ConfigDifference[] {
  const read = (file: string) => readYaml(readFileSync(file, "utf8"), { name: file });
  return diffConfigs(read(fileA), read(fileB)).map((difference) => ({
    key: difference.path.map(keyText).join("."),
    a: "before" in difference ? text(difference.before) : null,
    b: "after" in difference ? text(difference.after) : null,
  }));
}

const text = (node: ConfigNode): string => showValue(node);
