import { ConfigError } from "../values/errors.ts";
import type { ConfigNode } from "../values/node.ts";
import { list, map, scalar } from "../values/node.ts";
import type { OverrideOrigin } from "../values/origin.ts";
import type { Override, OverrideValue } from "./ast.ts";

/**
 * What an override assigns, as a config node whose parts all know their place in the override. The
 * quotes of strings are gone. Null for `~key`.
 * @throws ConfigError `override.sweep_not_allowed` when the value is or holds a sweep
 */
export function overrideNode({ value, origin }: Override): ConfigNode | null {
  return value === undefined ? null : elementNode(value, origin);
}

function elementNode(value: OverrideValue, override: OverrideOrigin): ConfigNode {
  const { start, end } = value.span;
  const origin: OverrideOrigin = { ...override, start, end };
  const item = (inner: OverrideValue) => elementNode(inner, override);
  switch (value.kind) {
    case "scalar":
      return scalar(value.value, origin);
    case "list":
      return list(value.items.map(item), origin);
    case "dict":
      return map(
        [...value.entries.values()].map((entry) => [entry.key, item(entry.value)] as const),
        origin,
      );
    default:
      throw new ConfigError({
        code: "override.sweep_not_allowed",
        message: `In override '${override.text}': a ${value.kind} is a sweep and cannot be assigned`,
        origin,
      });
  }
}
