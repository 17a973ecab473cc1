import { ConfigError } from "../../values/errors.ts";
import { createResolveContext } from "../../values/interpolation/context.ts";
import { isInterpolationNode } from "../../values/interpolation/resolution.ts";
import type { ConfigNode, MapNode } from "../../values/node.ts";
import { isMissing, map } from "../../values/node.ts";
import type { SourceText } from "../../values/origin.ts";
import { pyTypeName } from "../../values/python-text.ts";
import { createConfig, readYaml } from "../../values/reader.ts";
import { selectNode } from "../../values/select.ts";
import { readDefaultsItems } from "../defaults/read-items.ts";
import type { LoadedConfig, SourceInfo } from "./config-source.ts";
import { packageHeader } from "./package-header.ts";

const DEFAULTS = "defaults";

/**
 * Makes a config of the text of a YAML file.
 *
 * @throws ConfigError `compose.invalid_config` for a bad header, which is looked at first, or a file
 * that holds a lone number or boolean, `yaml.*` for bad YAML, `compose.invalid_defaults` for a bad defaults list.
 */
export function configFromText(path: string, text: SourceText, source: SourceInfo): LoadedConfig {
  const header = packageHeader(text);
  return configFromNode(path, readFileNode(text), source, header);
}

/** Makes a config of a tree: the entry of a store, or a file that has been read. */
export function configFromNode(
  path: string,
  node: ConfigNode,
  source: SourceInfo,
  header: string | null,
): LoadedConfig {
  const defaults = defaultsOf(node);
  return {
    source: { scheme: source.scheme, path: source.path, provider: source.provider },
    node: defaults === undefined || node.kind !== "map" ? node : withoutDefaults(node),
    package: header,
    // A list that is missing is as good as none.
    defaults:
      defaults === undefined || isMissing(defaults) ? [] : readDefaultsItems(path, defaults),
    origin: node.origin,
  };
}

/** The list may be an interpolation within the file: `defaults: ${lists.small}`. */
function defaultsOf(node: ConfigNode): ConfigNode | undefined {
  const written = node.kind === "map" ? node.entries.get(DEFAULTS)?.value : undefined;
  if (written === undefined || !isInterpolationNode(written)) return written;
  return selectNode(node, DEFAULTS, createResolveContext({ env: {} })) ?? written;
}

/** A file may hold a map, a list, nothing, or one string, which is read again as a document. */
function readFileNode(text: SourceText): ConfigNode {
  const node = readYaml(text.text, { name: text.name });
  if (node.kind !== "scalar") return node;
  if (node.value === null) return map([], node.origin);
  if (typeof node.value === "string") return createConfig(node.value, { name: text.name });
  throw new ConfigError({
    code: "compose.invalid_config",
    message: `Invalid loaded object type: ${pyTypeName(node.value)}`,
    origin: node.origin,
    hint: "a config file holds a mapping (`key: value`)",
  });
}

/** One that is a field of a type goes when all configs are merged (`hydra/typed.ts`). */
function withoutDefaults(node: MapNode): MapNode {
  if (node.type?.kind === "object" && node.type.fields.has(DEFAULTS)) return node;
  const entries = new Map(node.entries);
  entries.delete(DEFAULTS);
  return { ...node, entries };
}
