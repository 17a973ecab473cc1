/** `--cfg`: the config as Hydra prints it. */
import { constants } from "node:buffer";
import {
  type Cause,
  type Difference,
  type Explanation,
  type KeyedNode,
  leavesOf,
  originLines,
  pathText,
} from "../../engine/compose/index.ts";
import { ConfigError } from "../../engine/values/errors.ts";
import { nearestKey, splitKey } from "../../engine/values/key-path.ts";
import { limitError } from "../../engine/values/limits.ts";
import {
  type ConfigNode,
  getAt,
  isMissing,
  isMissingOrNull,
  withoutEntry,
} from "../../engine/values/node.ts";
import { lineColumn, type Origin } from "../../engine/values/origin.ts";
import { toObject } from "../../engine/values/plain-objects.ts";
import { floatRepr, pyStr } from "../../engine/values/python-text.ts";
import type { ResolveContext } from "../../engine/values/resolution/context.ts";
import { createResolution } from "../../engine/values/resolution/evaluate-interpolation.ts";
import { IN_PLACE, resolveDeep, resolveTree } from "../../engine/values/resolution/resolve-tree.ts";
import { findPlace } from "../../engine/values/resolution/select.ts";
import { writeYaml } from "../../engine/values/yaml/writer.ts";
import { isBytes, isErrorNamed } from "../../foundation/system/builtin-types.ts";
import { originsText } from "./show-explanation.ts";

/** The part that `--cfg` shows: the program's, the `hydra` node, or both. */
export type ConfigView = "job" | "hydra" | "all";

export interface ShowRequest {
  /** The composed tree with its `hydra` node. */
  readonly root: ConfigNode;
  readonly view: ConfigView;
  /** The key of the part to show; `_global_` for all of it. */
  readonly package?: string;
  /**
   * Whether and how to resolve: `--cfg` resolves like `OmegaConf.resolve`, where an interpolation to a missing value is
   * missing itself; `strictly` is `to_yaml(resolve=True)`, where it is an error.
   */
  readonly resolve: boolean | "strictly";
}

/** The part that `--cfg` shows, before it is converted to text. */
interface ShownConfig {
  readonly node: ConfigNode;
  /** The key of the node; undefined for the whole view. */
  readonly package?: string;
}

/**
 * The output of `--cfg`, byte for byte that of Hydra: YAML of the requested part, after a `# @package` line if a key
 * was given; a scalar alone on its line.
 *
 * @throws ConfigError `key.not_found` if there is nothing, or null, at the package.
 */
export const showConfig = (request: ShowRequest, context: ResolveContext): string =>
  [...showParts(request, context)].join("");

/** Like `showConfig`, but in parts: the `# @package` line is printed even if the rest cannot be resolved. */
export function* showParts(request: ShowRequest, context: ResolveContext): Generator<string> {
  const found = findShown(request, context);
  yield packageLine(found);
  const { node, package: key } = found.resolved();
  yield key !== undefined && node.kind === "scalar"
    ? `${pyStr(node)}\n`
    : writeYaml(node, { limits: context.limits, dialect: context.dialect });
}

/** Like `showConfig`, with the origin of every line as a comment. */
export function showOrigins(request: ShowRequest, context: ResolveContext): string {
  const shown = selectShown(request, context);
  const { node } = shown;
  const isLoneScalar = shown.package !== undefined && node.kind === "scalar";
  const lines = isLoneScalar
    ? [{ text: pyStr(node), node }]
    : originLines(node, { dialect: context.dialect });
  return `${packageLine(shown)}${originsText(lines)}`;
}

/** Like `showConfig`, for programs: plain data as JSON. */
export const showConfigJson = (request: ShowRequest, context: ResolveContext): string =>
  valueJson(selectShown(request, context).node);

/** Like `showOrigins`, for programs: JSON. */
export function showOriginsJson(request: ShowRequest, context: ResolveContext): string {
  const { node, package: key } = selectShown(request, context);
  return originsJson(leavesOf(node, key === undefined ? [] : splitKey(key, context.dialect)));
}

const packageLine = ({ node, package: key }: ShownConfig): string =>
  key === undefined || node.kind === "scalar" ? "" : `# @package ${key}\n`;

const selectShown = (request: ShowRequest, context: ResolveContext): ShownConfig =>
  findShown(request, context).resolved();

/** What is shown: the node as found, and a function that resolves it if requested. */
interface FoundConfig extends ShownConfig {
  readonly resolved: () => ShownConfig;
}

/** An interpolation to a missing value is shown as missing. */
const SHOWN = { ...IN_PLACE, toMissing: "missing" } as const;

/** Resolves only the part that is shown: the rest of the tree may be incomplete. */
function findShown(request: ShowRequest, context: ResolveContext): FoundConfig {
  const root = configView(request.root, request.view);
  const shown = request.package === "_global_" ? undefined : request.package;
  const options = request.resolve === "strictly" ? {} : SHOWN;
  if (shown === undefined)
    return {
      node: root,
      resolved: () => ({
        node: request.resolve === false ? root : resolveTree(root, context, options),
      }),
    };
  const resolution = createResolution(root, context);
  const place = findPlace(resolution, shown, {});
  const node = place === undefined || isMissing(place.node) ? undefined : place.node;
  if (place === undefined || node === undefined || (node.kind === "scalar" && node.value === null))
    throw new ConfigError({
      code: "key.not_found",
      message: `package '${shown}' not found in config`,
      ...packagesMeant(root, splitKey(shown, context.dialect)),
    });
  return {
    node,
    package: shown,
    resolved: () => ({
      node: request.resolve === false ? node : resolveDeep(resolution, place, options),
      package: shown,
    }),
  };
}

/** What can be shown in place of a key without a value: the likely key, and the keys beside it that have one. */
function packagesMeant(root: ConfigNode, path: readonly string[]) {
  const found = nearestKey(root, path);
  if (found.available.length > 0 || found.hint !== undefined) return found;
  for (let length = path.length - 1; length >= 0; length--) {
    const above = path.slice(0, length);
    const node = getAt(root, above);
    if (node?.kind !== "map") continue;
    const valued = [...node.entries.values()].filter(({ value }) => !isMissingOrNull(value));
    if (valued.length > 0)
      return { available: valued.map(({ key }) => [...above, pyStr(key)].join(".")) };
  }
  return found;
}

const HELP_PARTS = ["help", "hydra_help"];

/** The part of a composed tree that is shown, cut out of the rest of the tree. */
export function configView(root: ConfigNode, view: ConfigView): ConfigNode {
  if (view === "all" || root.kind !== "map") return root;
  if (view === "job") return withoutEntry(root, "hydra");
  const hydra = root.entries.get("hydra");
  if (hydra === undefined) return { ...root, entries: new Map() };
  const value =
    hydra.value.kind === "map" ? HELP_PARTS.reduce(withoutEntry, hydra.value) : hydra.value;
  return { ...root, entries: new Map([["hydra", { ...hydra, value }]]) };
}

/** The output of `--explain KEY --json`. */
export const explanationJson = ({ key, value, cause, replaced }: Explanation): string =>
  jsonText({
    version: 1,
    key,
    value: toObject(value),
    ...causeData(cause),
    replaced: replaced.map((earlier) => ({
      value: toObject(earlier.value),
      ...causeData(earlier.cause),
    })),
  });

/** The output of `--cfg --json`. */
const valueJson = (node: ConfigNode): string => jsonText(toObject(node));

/** The output of `--cfg --origins --json`: every leaf. */
const originsJson = (leaves: readonly KeyedNode[]): string =>
  jsonText({
    version: 1,
    values: leaves.map(({ path, node }) => ({ key: pathText(path), ...valueData(node) })),
  });

/** The output of `--diff --json`. `before` is absent for an added key, `after` for a removed one. */
export const differencesJson = (differences: readonly Difference[]): string =>
  jsonText({
    version: 1,
    differences: differences.map((difference) => ({
      key: pathText(difference.path),
      kind: difference.kind,
      ...("before" in difference && { before: valueData(difference.before) }),
      ...("after" in difference && { after: valueData(difference.after) }),
    })),
  });

const valueData = (node: ConfigNode) => ({
  value: toObject(node),
  origin: originData(node.origin),
});

const causeData = ({ origin, broughtInBy }: Cause) => ({
  origin: originData(origin),
  broughtInBy: broughtInBy.map((step) => ({
    config: step.configPath,
    package: step.package,
    choice: step.choice,
    origin: originData(step.origin),
  })),
});

/** Files as path, line and column from 1; an override with its position in the list, from 0. */
function originData(origin: Origin): object {
  switch (origin.kind) {
    case "file":
      return { kind: "file", file: origin.source.name, ...lineColumn(origin) };
    case "override":
      return { kind: "override", override: origin.text, index: origin.index };
    case "environment":
      return { kind: "environment", variable: origin.variable };
    case "schema":
      return {
        kind: "schema",
        schema: origin.schema,
        ...(origin.isDefault && { default: true }),
        ...(origin.converted && {
          converted: { value: origin.converted.text, origin: originData(origin.converted.origin) },
        }),
      };
    case "code":
      return { kind: "code", by: origin.by };
  }
}

/** Values without a JSON form become strings: big integers, `inf` and `nan`, bytes (base64). */
const jsonValue = (_: string, value: unknown): unknown => {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number" && !Number.isFinite(value)) return floatRepr(value);
  return isBytes(value) ? Buffer.from(value).toString("base64") : value;
};

/** @throws ConfigError `limit.characters` if the text exceeds V8's limit, since deeply nested data is indented far */
function jsonText(data: unknown): string {
  try {
    return `${JSON.stringify(data, jsonValue, 2)}\n`;
  } catch (error) {
    if (!isErrorNamed("RangeError", error)) throw error;
    const what = "The config as indented JSON has";
    const hint = "show a part of it: --package KEY";
    throw limitError("characters", constants.MAX_STRING_LENGTH, { what, hint });
  }
}
