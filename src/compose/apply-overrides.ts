import type { Override } from "../overrides/ast.ts";
import { type Budget, isLimitError } from "../values/budget.ts";
import { createCopies } from "../values/draft.ts";
import { ConfigError, isConfigError } from "../values/errors.ts";
import type { ResolveContext } from "../values/interpolation/context.ts";
import { splitKey } from "../values/key-path.ts";
import { nearestKey } from "../values/nearest-key.ts";
import type { ConfigNode } from "../values/node.ts";
import { scalar } from "../values/node.ts";
import { selectNode } from "../values/select.ts";
import { isContainerType } from "../values/types/type-of.ts";
import { updateNode } from "../values/update.ts";
import { type Applying, deleteFromConfig } from "./delete-override.ts";
import { dottedKeyHint } from "./dotted-key.ts";
import { type ChosenGroups, groupMeant } from "./group-meant.ts";
import { overrideValue } from "./override-value.ts";
import { getAt } from "./tree-edit.ts";

/**
 * Applies the overrides of config values, in order, to a tree in struct mode.
 *
 * @param budget counts what is expanded, as in the composition so far
 * @throws ConfigError `compose.override_failed`, at the override; `limit.values`, `limit.characters`
 * @see https://hydra.cc/docs/1.3/advanced/override_grammar/basic/
 */
export function applyOverrides(
  root: ConfigNode,
  overrides: readonly Override[],
  context: ResolveContext,
  groups: ChosenGroups,
  budget: Budget,
): ConfigNode {
  const applying: Applying = { context, copies: createCopies(budget) };
  return overrides.reduce((tree, override) => {
    try {
      return applyOverride(tree, override, applying);
    } catch (error) {
      throw isConfigError(error) ? withGroupMeant(error, override, groups) : error;
    }
  }, root);
}

/** The first hint is the group that was meant, if one was. */
function withGroupMeant(error: ConfigError, override: Override, groups: ChosenGroups): ConfigError {
  const isUnknown = override.package !== undefined || causeOf(error) === "value.struct";
  const { keyOrGroup, origin, value } = override;
  const option = value?.kind === "scalar" && typeof value.value === "string" ? value.value : null;
  if (!isUnknown || option === null) return error;
  const tail = origin.text.slice(origin.text.indexOf("="));
  const meant = groupMeant({ typed: keyOrGroup, option, tail }, groups);
  if (meant === undefined) return error;
  return new ConfigError({ ...error.details, hint: `to choose an option, use ${meant}` });
}

const causeOf = ({ details: { cause } }: ConfigError) =>
  isConfigError(cause) ? cause.code : undefined;

function applyOverride(root: ConfigNode, override: Override, applying: Applying): ConfigNode {
  if (override.package !== undefined)
    throw new ConfigError({
      code: "compose.override_failed",
      message: `Override ${override.origin.text} looks like a config group override, but config group '${override.keyOrGroup}' does not exist.`,
      origin: override.origin,
      key: override.keyOrGroup,
    });
  try {
    return applyValue(root, override, applying);
  } catch (error) {
    if (!isConfigError(error) || error.code === "compose.override_failed") throw error;
    if (isLimitError(error)) throw error;
    throw new ConfigError({
      ...error.details,
      code: "compose.override_failed",
      message: `Error merging override ${override.origin.text}\n${error.message}`,
      origin: override.origin,
      key: error.details.key ?? override.keyOrGroup,
      cause: error,
    });
  }
}

function applyValue(root: ConfigNode, override: Override, applying: Applying): ConfigNode {
  const { context, copies } = applying;
  const { keyOrGroup: key, type } = override;
  if (type === "delete") return deleteFromConfig(root, override, applying);
  const value = overrideValue(override) ?? scalar(null, override.origin);
  if (refusesMergeIntoNull(root, override, value) === "nothing to merge") return root;
  switch (type) {
    case "add":
      refuseOccupied(root, override, value, context);
      return updateNode(root, key, value, { forceAdd: true, plain: true }, context, copies);
    case "force_add":
      return updateNode(root, key, value, { forceAdd: true, plain: true }, context, copies);
    default:
      return change(root, override, value, applying);
  }
}

function change(
  root: ConfigNode,
  override: Override,
  value: ConfigNode,
  { context, copies }: Applying,
): ConfigNode {
  const { keyOrGroup: key, origin } = override;
  try {
    return updateNode(root, key, value, { plain: true }, context, copies);
  } catch (error) {
    // An index outside of a list is no missing key: nothing could be added there either.
    if (!isConfigError(error) || error.code !== "value.struct") throw error;
    const { available, nearest } = nearestKey(root, key);
    const dotted = dottedKeyHint(root, override);
    if (dotted !== undefined)
      throw new ConfigError({
        code: "compose.override_failed",
        message: `Could not override '${key}'.\n${error.message}`,
        origin,
        key,
        hint: dotted,
      });
    const append = `+${origin.text}`;
    throw new ConfigError({
      code: "compose.override_failed",
      message: `Could not override '${key}'.\nTo append to your config use ${append}\n${error.message}`,
      origin,
      key,
      available,
      nearest,
      hint:
        nearest === undefined
          ? `use ${append} to add the key`
          : `use ${nearest}${origin.text.slice(key.length)}, or ${append} to add the key`,
      cause: error,
    });
  }
}

/**
 * A dict cannot be merged into a declared one that is null, nor a key added to it: OmegaConf fails
 * there, on an internal error, and so a program cannot rely on any result. An empty one leaves the null
 * as it is; a list takes the place of a null one.
 */
function refusesMergeIntoNull(
  root: ConfigNode,
  override: Override,
  value: ConfigNode,
): "nothing to merge" | undefined {
  const { keyOrGroup: key, origin } = override;
  const path = splitKey(key);
  let before: ConfigNode | undefined = root;
  let above = -1;
  for (const [at, part] of path.entries()) {
    if (isDeclaredNull(before)) above = at;
    if (before === undefined || above >= 0) break;
    before = getAt(before, [part]);
  }
  const isMerged = value.kind === "map" || (value.kind === "list" && before?.type?.kind !== "list");
  if (above < 0 && !(isMerged && isDeclaredNull(before))) return undefined;
  if (above < 0 && value.kind === "map" && value.entries.size === 0) return "nothing to merge";
  const place = above < 0 ? key : path.slice(0, above).join(".");
  const why =
    above < 0 && value.kind === "list"
      ? "Cannot merge DictConfig with ListConfig"
      : `'${place}' is null, so nothing can be merged into it`;
  throw new ConfigError({
    code: "compose.override_failed",
    message: `Error merging override ${origin.text}\n${why}`,
    origin,
    key: place,
    hint: `set '${place}' in a config file`,
  });
}

const isDeclaredNull = (node: ConfigNode | undefined): boolean =>
  node?.kind === "scalar" && node.value === null && isContainerType(node.type);

/** `+key=x` adds, and merges or replaces with a container, but does not overwrite a value. */
function refuseOccupied(
  root: ConfigNode,
  override: Override,
  value: ConfigNode,
  context: ResolveContext,
): void {
  const { keyOrGroup: key, origin } = override;
  // Looked up for containers as well: what lies behind a broken interpolation cannot be added to.
  const before = selectNode(root, key, context, { throwOnMissing: false });
  if (value.kind !== "scalar") return;
  if (before === undefined || (before.kind === "scalar" && before.value === null)) return;
  const plain = origin.text.slice(1);
  throw new ConfigError({
    code: "compose.override_failed",
    message:
      `Could not append to config. An item is already at '${key}'.\n` +
      `Either remove + prefix: '${plain}'\n` +
      `Or add a second + to add or override '${key}': '+${origin.text}'`,
    origin,
    key,
    hint: `use ${plain}`,
  });
}
