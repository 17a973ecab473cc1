import { ConfigError } from "../../values/errors.ts";
import { createResolution } from "../../values/interpolation/create-resolution.ts";
import { isInterpolationNode } from "../../values/interpolation/parse-node.ts";
import type { Limits } from "../../values/limits.ts";
import type { ConfigNode, MapNode } from "../../values/node.ts";
import { isMissing, map } from "../../values/node.ts";
import type { SourceText } from "../../values/origin.ts";
import { pyTypeName } from "../../values/python-text.ts";
import { createConfig, readYaml } from "../../values/reader.ts";
import { findPlace } from "../../values/select.ts";
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
export function configFromText(
  path: string,
  text: SourceText,
  source: SourceInfo,
  limits?: Limits,
): LoadedConfig {
  const header = packageHeader(text);
  return configFromNode(path, readFileNode(text, limits), source, header);
}

/** Makes a config of a tree: the entry of a store, or a file that has been read. */
export function configFromNode(
  path: string,
  node: ConfigNode,
  source: SourceInfo,
  header: string | null,
): LoadedConfig {
  return {
    source: { scheme: source.scheme, path: source.path, provider: source.provider },
    node: node.kind === "map" && node.entries.has(DEFAULTS) ? withoutDefaults(node) : node,
    package: header,
    ...readDefaults(path, node),
    origin: node.origin,
  };
}

function readDefaults(
  path: string,
  node: ConfigNode,
): Pick<LoadedConfig, "defaults" | "givenDefaults"> {
  const written = node.kind === "map" ? node.entries.get(DEFAULTS)?.value : undefined;
  // A list that is missing is as good as none.
  if (written === undefined || isMissing(written)) return { defaults: [] };
  if (!isInterpolationNode(written)) return { defaults: readDefaultsItems(path, written) };
  return {
    defaults: [],
    givenDefaults(resolvers) {
      const given = findPlace(createResolution(node, resolvers), DEFAULTS, {});
      if (given?.result === true && given.node.kind === "list") throw plainList(path, written);
      return readDefaultsItems(path, given?.node ?? written);
    },
  };
}

/** Hydra takes only lists of a config, and plain data of a resolver for none. */
const plainList = (path: string, { origin }: ConfigNode): ConfigError =>
  new ConfigError({
    code: "compose.invalid_defaults",
    message: `Invalid defaults list in '${path}', defaults must be a list (got list)`,
    origin,
    hint: "what a resolver gives is plain data; oc.create makes a list of the config of it: ${oc.create:${...}}",
  });

/** A file may hold a map, a list, nothing, or one string, which is read again as a document. */
function readFileNode({ name, text }: SourceText, limits: Limits | undefined): ConfigNode {
  const options = { name, ...(limits && { limits }) };
  const node = readYaml(text, options);
  if (node.kind !== "scalar") return node;
  if (node.value === null) return map([], node.origin);
  if (typeof node.value === "string") return createConfig(node.value, options);
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
