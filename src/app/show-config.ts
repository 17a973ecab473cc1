import { ConfigError } from "../values/errors.ts";
import type { ResolveContext } from "../values/interpolation/context.ts";
import { resolveTree } from "../values/interpolation/index.ts";
import { type ConfigNode, keyId, type MapNode } from "../values/node.ts";
import { pyStr } from "../values/python-text.ts";
import { selectNode } from "../values/select.ts";
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
  if (shown === undefined) return writeYaml(request.resolve ? resolveTree(root, context) : root);
  const node = selectNode(root, shown, context, { deep: request.resolve });
  if (node === undefined || (node.kind === "scalar" && node.value === null))
    throw new ConfigError({
      code: "key.not_found",
      message: `package '${shown}' not found in config`,
      ...(root.kind === "map"
        ? { available: [...root.entries.values()].map(({ key }) => pyStr(key)) }
        : {}),
    });
  if (node.kind === "scalar") return `${pyStr(node)}\n`;
  return `# @package ${shown}\n${writeYaml(node)}`;
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
