/** `hydra.mode` of Hydra 1.4: who may choose between one job and a sweep. */
import { isSweepValue, type Override } from "../overrides/ast.ts";
import { ConfigError, isConfigError } from "../values/errors.ts";
import { splitKey } from "../values/key-path.ts";
import {
  type ConfigNode,
  getAt,
  isMissingOrNull,
  type MapNode,
  map,
  scalar,
  setAt,
} from "../values/node.ts";
import { fromCode } from "../values/origin.ts";
import { pyStr } from "../values/python-text.ts";
import type { ResolveContext } from "../values/resolution/context.ts";
import { selectNode } from "../values/resolution/select.ts";
import type { RunMode } from "./defaults/list.ts";
import { overrideValue } from "./open-tree.ts";

const PATH = ["hydra", "mode"];
const KEY = PATH.join(".");

/** The mode that a composed tree has; undefined for none. */
export function composedMode(root: ConfigNode, context: ResolveContext): RunMode | undefined {
  const mode = selectNode(root, KEY, context);
  return mode === undefined || isMissingOrNull(mode) ? undefined : modeOf(mode);
}

/** The enum of modes has the values 1 and 2. */
const modeOf = (node: ConfigNode): RunMode =>
  /(?:MULTIRUN|^2)$/.test(pyStr(node)) ? "multirun" : "run";

/**
 * The mode before anything is composed: that of the last override that sets it, otherwise that of the primary config.
 *
 * @throws ConfigError `compose.invalid_config` for an interpolation that needs the composed config,
 *   `override.sweep_not_allowed` for several modes
 */
export function modeBefore(
  primary: MapNode,
  overrides: readonly Override[],
  context: ResolveContext,
): RunMode | undefined {
  const requested = overrides.flatMap((override) => modeNode(override, context) ?? []).at(-1);
  if (requested !== undefined) {
    const alone = map([["mode", requested]], requested.origin);
    return resolved(alone, "mode", "command-line override", "config composition", context);
  }
  const where = "from the primary config";
  return resolved(primary, KEY, where, "composing its defaults list", context);
}

function resolved(
  root: MapNode,
  key: string,
  where: string,
  what: string,
  context: ResolveContext,
): RunMode | undefined {
  try {
    const node = selectNode(root, key, context, { throwOnMissing: false });
    return node === undefined || isMissingOrNull(node) ? undefined : modeOf(node);
  } catch (error) {
    if (!isConfigError(error)) throw error;
    const start = where.startsWith("from")
      ? `${KEY} must be resolvable ${where}`
      : `${KEY} ${where} must be resolvable`;
    throw new ConfigError({
      ...error.details,
      code: "compose.invalid_config",
      message: `${start} without ${what}\n${error.message}`,
      key: error.details.key ?? KEY,
      cause: error,
    });
  }
}

/** The value that an override gives the mode: `hydra.mode=x`, or `hydra={mode:x}`; a deletion gives null. */
function modeNode(override: Override, context: ResolveContext): ConfigNode | undefined {
  const { keyOrGroup, origin, package: pkg, type, value } = override;
  if (pkg !== undefined) return undefined;
  const path = splitKey(keyOrGroup, context.dialect);
  if (path.length > PATH.length || path.some((part, index) => part !== PATH[index]))
    return undefined;
  if (value !== undefined && isSweepValue(value))
    throw new ConfigError({
      code: "override.sweep_not_allowed",
      message: `Sweeping over Hydra's configuration is not supported : '${origin.text}'`,
      origin,
    });
  if (type === "delete") return scalar(null, origin);
  const node = overrideValue(override, context.dialect) ?? scalar(null, origin);
  return getAt(node, PATH.slice(path.length));
}

/**
 * The tree of a task with the mode that was determined before: it is set where the tree has none.
 *
 * @throws ConfigError `compose.invalid_config` if a config other than the primary one changed it
 */
export function withMode(root: MapNode, mode: RunMode, context: ResolveContext): MapNode {
  const composed = composedMode(root, context);
  if (composed === mode) return root;
  const existing = getAt(root, PATH);
  if (composed !== undefined)
    throw new ConfigError({
      code: "compose.invalid_config",
      message: `${KEY} changed during config composition; set it directly in the primary config or on the command line`,
      key: KEY,
      ...(existing && { origin: existing.origin }),
    });
  return setAt(root, PATH, {
    ...scalar(mode.toUpperCase(), fromCode("compose")),
    ...(existing?.type && { type: existing.type }),
  });
}
