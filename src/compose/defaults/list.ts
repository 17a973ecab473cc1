import { ConfigError } from "../../values/errors.ts";
import type { Origin } from "../../values/origin.ts";
import { EMPTY_CONFIG } from "../hydra/schema.ts";
import type { LoadedConfig } from "../sources/config-source.ts";
import type { DefaultsTree, DefaultsTreeNode } from "./tree.ts";

/** One row of the final defaults list: a config, or a config's own content (`isSelf`). */
export interface DefaultsRow {
  readonly configPath: string;
  readonly package: string;
  /** Path of the config whose list brought this one in; `<root>` above, null without a root. */
  readonly parent: string | null;
  readonly isSelf: boolean;
  readonly primary: boolean;
  /** The key by which the choice can be overridden; null for configs outside groups. */
  readonly overrideKey: string | null;
  readonly loaded: LoadedConfig;
  /** The item of the parent's list (or the override) that brought it in. */
  readonly origin: Origin;
}

export interface ListOptions {
  /** What the roots' `parent` is: `<root>` where Hydra's own config stands beside the primary. */
  readonly rootName: string | null;
}

/**
 * Second pass: the tree from left to right, each config at the place of its `_self_`.
 *
 * @throws ConfigError `compose.invalid_defaults` for a group that appears twice.
 */
export function flattenTree(
  tree: Pick<DefaultsTree, "roots">,
  { rootName }: ListOptions,
): readonly DefaultsRow[] {
  const rows = tree.roots.flatMap((root) => rowsOf(root, rootName));
  refuseDuplicates(rows);
  return rows;
}

function rowsOf(node: DefaultsTreeNode, parent: string | null): DefaultsRow[] {
  const { loaded } = node;
  if (node.state !== "used" || loaded === undefined) return [];
  const rows = contentRows(node, loaded, parent);
  // What stands in for a primary config that there is not leaves no trace.
  return rows.filter(({ configPath }) => configPath !== EMPTY_CONFIG);
}

function contentRows(
  node: DefaultsTreeNode,
  loaded: LoadedConfig,
  parent: string | null,
): DefaultsRow[] {
  const { placed } = node;
  const row: DefaultsRow = {
    configPath: placed.configPath,
    package: node.package,
    parent,
    isSelf: false,
    primary: node.primary,
    overrideKey: placed.overrideKey,
    loaded,
    origin: placed.item.origin,
  };
  if (node.children.length === 0) return [row];
  const self: DefaultsRow = { ...row, isSelf: true, overrideKey: null };
  return node.children.flatMap((child) =>
    child.kind === "self" ? [self] : rowsOf(child, placed.configPath),
  );
}

/** Configs of Hydra itself and of its plugins. */
const OF_HYDRA = "hydra/";

function refuseDuplicates(rows: readonly DefaultsRow[]): void {
  const seen = new Map<string, DefaultsRow>();
  for (const row of rows) {
    const { overrideKey, configPath, origin } = row;
    if (overrideKey === null) continue;
    const [group = overrideKey] = overrideKey.split("@", 1);
    const first = seen.get(overrideKey);
    if (first !== undefined)
      throw new ConfigError({
        code: "compose.invalid_defaults",
        message: `${overrideKey} appears more than once in the final defaults list`,
        origin,
        key: overrideKey,
        hint:
          first.parent !== row.parent && first.parent?.startsWith(OF_HYDRA)
            ? `Hydra's own list has one: write \`override ${overrideKey}: ${configPath.slice(group.length + 1)}\` at the end of the list`
            : `keep only one of the two, or put one into another package (${group}@PACKAGE)`,
      });
    seen.set(overrideKey, row);
  }
}
