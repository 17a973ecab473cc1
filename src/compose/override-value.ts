import type { Override } from "../overrides/ast.ts";
import { overrideNode } from "../overrides/to-node.ts";
import { ConfigError } from "../values/errors.ts";
import { parseInterpolation } from "../values/interpolation/parser.ts";
import type { ConfigNode, Key } from "../values/node.ts";

/**
 * What an override assigns, checked as OmegaConf checks a value that enters a config; null for a
 * deletion without a value.
 *
 * @throws ConfigError for a sweep inside a value (`override.sweep_not_allowed`), a null key
 * (`key.invalid_type`), an interpolation that does not parse (`interpolation.syntax`).
 */
export function overrideValue(override: Override): ConfigNode | null {
  const node = overrideNode(override);
  if (node !== null) check(node);
  return node;
}

function check(node: ConfigNode): void {
  switch (node.kind) {
    case "scalar":
      if (typeof node.value === "string" && node.value.includes("${"))
        parseInterpolation(node.value);
      return;
    case "list":
      node.items.forEach(check);
      return;
    default:
      for (const { key, value } of node.entries.values()) {
        refuseNull(key, node);
        check(value);
      }
  }
}

function refuseNull(key: Key, { origin }: ConfigNode): void {
  if (key === null)
    throw new ConfigError({
      code: "key.invalid_type",
      message: "Incompatible key type 'NoneType'",
      origin,
    });
}
