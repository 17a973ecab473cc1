import { ConfigError } from "../values/errors.ts";
import type { ResolveContext } from "../values/interpolation/context.ts";
import { createResolution } from "../values/interpolation/create-resolution.ts";
import { resolveDeep, resolveTree } from "../values/interpolation/resolve-tree.ts";
import { type ConfigNode, isMissing, keyId, type MapNode } from "../values/node.ts";
import { pyStr } from "../values/python-text.ts";
import { selectPlace } from "../values/select-place.ts";
import { writeYaml } from "../values/writer.ts";

/** What `--cfg` shows: the program's part, the `hydra` node, or both. */
export type ConfigView = "job" | "hydra" | "all";

export interface ShowRequest {
  /** The composed tree with its `hydra` node. */
  readonly root: ConfigNode;
  readonly view: ConfigView;
  /** A key below which to show; `_global_` is everything. */
  readonly package?: string;
  readonly resolve: boolean;
}

/**
 * The text that `--cfg` prints, byte for byte Hydra's: YAML of the part that was asked for, under a
 * `# @package` line if a key was named; a scalar alone on its line.
 *
 * @throws ConfigError `key.not_found` where there is nothing, or null, at the package.
 */
export function showConfig(request: ShowRequest, context: ResolveContext): string {
  const root = viewOf(request.root, request.view);
  const shown = request.package === "_global_" ? undefined : request.package;
  if (shown === undefined)
    return writeYaml(request.resolve ? resolveTree(root, context, LIKE_RESOLVE) : root);
  const node = select(root, shown, context, request.resolve);
  if (node === undefined || (node.kind === "scalar" && node.value === null))
    throw new ConfigError({
      code: "key.not_found",
      message: `package '${shown}' not found in config`,
      ...(root.kind === "map"
        ? { available: [...root.entries.values()].map(({ key }) => pyStr(key)) }
        : {}),
    });
  return node.kind === "scalar" ? `${pyStr(node)}\n` : `# @package ${shown}\n${writeYaml(node)}`;
}

/** `--cfg --resolve` is `OmegaConf.resolve`: what leads to a missing value is missing itself. */
const LIKE_RESOLVE = { toMissing: "missing" } as const;

/** Resolves no more than what is shown: the rest of the tree may be incomplete. */
function select(
  root: ConfigNode,
  key: string,
  context: ResolveContext,
  deep: boolean,
): ConfigNode | undefined {
  const resolution = createResolution(root, context);
  const place = selectPlace(resolution, resolution.root, key, { scalarsAreEmpty: true });
  if (place === undefined || isMissing(place.node)) return undefined;
  return deep ? resolveDeep(resolution, place, LIKE_RESOLVE) : place.node;
}

const HELP_PARTS = ["help", "hydra_help"];

function viewOf(root: ConfigNode, view: ConfigView): ConfigNode {
  if (view === "all" || root.kind !== "map") return root;
  if (view === "job") return without(root, ["hydra"]);
  const hydra = root.entries.get("hydra");
  if (hydra === undefined) return { ...root, entries: new Map() };
  const value = hydra.value.kind === "map" ? without(hydra.value, HELP_PARTS) : hydra.value;
  return { ...root, entries: new Map([["hydra", { ...hydra, value }]]) };
}

/** A map without some of its keys; everything else of the node stays. */
export function without(node: MapNode, keys: readonly string[]): MapNode {
  const dropped = new Set<unknown>(keys.map(keyId));
  return { ...node, entries: new Map([...node.entries].filter(([id]) => !dropped.has(id))) };
}
