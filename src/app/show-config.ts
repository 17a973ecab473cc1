import { leavesOf, originLines } from "../compose/index.ts";
import { ConfigError } from "../values/errors.ts";
import type { ResolveContext } from "../values/interpolation/context.ts";
import { createResolution } from "../values/interpolation/create-resolution.ts";
import { IN_PLACE, resolveDeep, resolveTree } from "../values/interpolation/resolve-tree.ts";
import { splitKey } from "../values/key-path.ts";
import { type ConfigNode, isMissing, keyId, type MapNode } from "../values/node.ts";
import { pyStr } from "../values/python-text.ts";
import { selectPlace } from "../values/select-place.ts";
import { writeYaml } from "../values/writer.ts";
import { originsText } from "./origins-text.ts";
import { originsJson, valueJson } from "./value-json.ts";

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

/** What `--cfg` shows, before it is text. */
export interface ShownConfig {
  readonly node: ConfigNode;
  /** The key it stands at; undefined for the whole view. */
  readonly package?: string;
}

/**
 * The text that `--cfg` prints, byte for byte Hydra's: YAML of the part that was asked for, under a
 * `# @package` line if a key was named; a scalar alone on its line.
 *
 * @throws ConfigError `key.not_found` where there is nothing, or null, at the package.
 */
export function showConfig(request: ShowRequest, context: ResolveContext): string {
  const shown = selectShown(request, context);
  if (shown.package !== undefined && shown.node.kind === "scalar") return `${pyStr(shown.node)}\n`;
  return `${packageLine(shown)}${writeYaml(shown.node)}`;
}

/** As `showConfig`, with the origin of every line as a comment. */
export function showOrigins(request: ShowRequest, context: ResolveContext): string {
  const shown = selectShown(request, context);
  const { node } = shown;
  const isLoneScalar = shown.package !== undefined && node.kind === "scalar";
  const lines = isLoneScalar ? [{ text: pyStr(node), node }] : originLines(node);
  return `${packageLine(shown)}${originsText(lines)}`;
}

/** As `showConfig`, for programs: plain data. */
export const showConfigJson = (request: ShowRequest, context: ResolveContext): string =>
  valueJson(selectShown(request, context).node);

/** As `showOrigins`, for programs. */
export function showOriginsJson(request: ShowRequest, context: ResolveContext): string {
  const { node, package: key } = selectShown(request, context);
  return originsJson(leavesOf(node, key === undefined ? [] : splitKey(key)));
}

const packageLine = ({ node, package: key }: ShownConfig): string =>
  key === undefined || node.kind === "scalar" ? "" : `# @package ${key}\n`;

function selectShown(request: ShowRequest, context: ResolveContext): ShownConfig {
  const root = viewOf(request.root, request.view);
  const shown = request.package === "_global_" ? undefined : request.package;
  if (shown === undefined)
    return { node: request.resolve ? resolveTree(root, context, IN_PLACE) : root };
  const node = select(root, shown, context, request.resolve);
  if (node === undefined || (node.kind === "scalar" && node.value === null))
    throw new ConfigError({
      code: "key.not_found",
      message: `package '${shown}' not found in config`,
      ...(root.kind === "map"
        ? { available: [...root.entries.values()].map(({ key }) => pyStr(key)) }
        : {}),
    });
  return { node, package: shown };
}

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
  return deep ? resolveDeep(resolution, place, IN_PLACE) : place.node;
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
