import type { Override } from "../overrides/ast.ts";
import { isSweepValue } from "../overrides/ast.ts";

import { ConfigError } from "../values/errors.ts";
import type { ResolveContext } from "../values/interpolation/context.ts";
import type { ConfigNode } from "../values/node.ts";
import { isMissingOrNull, map, scalar } from "../values/node.ts";
import { fromCode } from "../values/origin.ts";
import { pyStr, pyTypeName } from "../values/python-text.ts";
import { selectNode } from "../values/select.ts";
import { overrideValue } from "./override-value.ts";
import type { Repository } from "./sources/repository.ts";
import type { SearchPathEntry } from "./sources/search-path.ts";
import type { Snapshot } from "./sources/snapshot.ts";
import type { CompositionWarning } from "./warning.ts";

const KEY = "hydra.searchpath";

export interface ExtendedSearchPath {
  readonly repository: Repository;
  readonly warnings: readonly CompositionWarning[];
}

/**
 * Extends the search path by `hydra.searchpath` of the command line or else of the primary config,
 * before anything is composed. Only the plain override counts (`hydra.searchpath=[...]`).
 *
 * @throws ConfigError `compose.invalid_config` for anything but a list of strings, and for a
 * primary config that is no mapping.
 * @see https://hydra.cc/docs/1.3/advanced/search_path/
 */
export function extendSearchPath(
  configName: string | null,
  overrides: readonly Override[],
  snapshot: Snapshot,
  context: ResolveContext,
): ExtendedSearchPath {
  const primary = primaryNode(configName, snapshot.repository);
  const own = selectNode(primary, KEY, context);
  const override = overrides.find(isSearchPath);
  const given = override === undefined ? undefined : givenNode(override);
  const node = given ?? own;
  if (node === undefined || (node === own && isMissingOrNull(node)))
    return { repository: snapshot.repository, warnings: [] };

  const provider = `${KEY} in ${given === undefined ? "main" : "command-line"}`;
  const repository = snapshot.extended(
    given === undefined
      ? ownEntries(primary, node, provider, context)
      : givenEntries(node, provider),
  );
  const unavailable = repository.sources.filter((source) => !source.available());
  return {
    repository,
    warnings: unavailable.map((source) => ({
      code: "unavailable_source",
      message: `provider=${source.provider}, path=${source.path} is not available.`,
      origin: node.origin,
    })),
  };
}

function primaryNode(configName: string | null, repository: Repository): ConfigNode {
  // From `/` Hydra goes to the root of the file system here; only defaults lists drop the slash.
  const isElsewhere = configName === null || configName.startsWith("/");
  const loaded = isElsewhere ? undefined : repository.load(configName);
  const node = loaded?.node ?? map([], fromCode("compose"));
  if (node.kind === "map") return node;
  throw new ConfigError({
    code: "compose.invalid_config",
    message: `primary config '${configName}' must be a DictConfig, got ${pyTypeName(node)}`,
    origin: node.origin,
    hint: "a primary config is a mapping (`key: value`); only an option of a config group can be a list",
  });
}

const isSearchPath = ({ keyOrGroup, package: pkg, type }: Override): boolean =>
  keyOrGroup === KEY && pkg === undefined && type === "change";

/** A null is as good as no override. */
function givenNode(override: Override): ConfigNode | undefined {
  if (override.value === undefined) return undefined;
  if (isSweepValue(override.value)) {
    const { text } = override.origin;
    const shown = `the sweep ${text.slice(text.indexOf("=") + 1)}`;
    throw notStrings(scalar(shown, override.origin));
  }
  const node = overrideValue(override);
  return node === null || (node.kind === "scalar" && node.value === null) ? undefined : node;
}

/** Items in a file may be interpolations, into the rest of the file too. */
function ownEntries(
  primary: ConfigNode,
  node: ConfigNode,
  provider: string,
  context: ResolveContext,
): readonly SearchPathEntry[] {
  if (node.kind !== "list") throw notStrings(node);
  return node.items.map((_, index) =>
    entryOf(node, selectNode(primary, `${KEY}[${index}]`, context), provider),
  );
}

function givenEntries(node: ConfigNode, provider: string): readonly SearchPathEntry[] {
  if (node.kind !== "list") throw notStrings(node);
  return node.items.map((item) => entryOf(node, item, provider));
}

function entryOf(
  list: ConfigNode,
  item: ConfigNode | undefined,
  provider: string,
): SearchPathEntry {
  if (item?.kind !== "scalar" || typeof item.value !== "string") throw notStrings(list);
  return { provider, path: item.value, origin: item.origin };
}

const notStrings = (node: ConfigNode): ConfigError =>
  new ConfigError({
    code: "compose.invalid_config",
    message: `${KEY} must be a list of strings. Got: ${pyStr(node)}`,
    origin: node.origin,
    key: KEY,
    hint: `write ${KEY}=[file://DIR]`,
  });
