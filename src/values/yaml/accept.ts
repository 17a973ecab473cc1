import { aboutKey, ConfigError } from "../errors.ts";
import { placeSyntaxError } from "../interpolation/syntax-error.ts";
import type { ConfigNode, Key } from "../node.ts";
import { keyText } from "../python-text.ts";
import { type Constructed, invalidKeyType } from "./construct.ts";

/** Checks the syntax of a string that contains `${`; throws a ConfigError. */
export type InterpolationCheck = (text: string) => void;

/**
 * What `OmegaConf.create` refuses in a document that PyYAML accepts, in document order: null keys,
 * values of Python types without a place in a config, broken interpolations. Without `check` only the
 * values are looked at.
 */
export function acceptConfig({ root, foreign }: Constructed, check?: InterpolationCheck): void {
  function visit(node: ConfigNode, key: string): void {
    const typeName = foreign.get(node);
    if (typeName !== undefined) throw unsupported(node, typeName, key);
    if (node.kind === "scalar") {
      // A document that is one string becomes a key, which nobody interpolates.
      if (node !== root) checkInterpolation(node.value, node, key);
    } else if (node.kind === "list") {
      for (const [index, item] of node.items.entries()) visit(item, `${key}[${index}]`);
    } else {
      for (const entry of node.entries.values()) {
        if (entry.key === null && check !== undefined)
          throw invalidKeyType("NoneType", node.origin, key);
        visit(entry.value, joinKey(key, entry.key));
      }
    }
  }

  function checkInterpolation(value: unknown, node: ConfigNode, key: string): void {
    if (check === undefined || typeof value !== "string" || !value.includes("${")) return;
    try {
      check(value);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw placeSyntaxError(aboutKey(error, key), value, node.origin);
    }
  }

  visit(root, "");
}

const joinKey = (parent: string, key: Key): string =>
  parent === "" ? keyText(key) : `${parent}.${keyText(key)}`;

const unsupported = (node: ConfigNode, typeName: string, key: string): ConfigError =>
  new ConfigError({
    code: "yaml.invalid_value",
    message: `Value '${typeName}' is not a supported primitive type`,
    origin: node.origin,
    key,
  });
