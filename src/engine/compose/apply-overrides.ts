/** The last step of a composition: overrides of config values, applied in order. */
import type { Override } from "../overrides/ast.ts";
import { chooseBy, shown } from "../overrides/hints.ts";
import type { Dialect } from "../values/dialect.ts";
import { append } from "../values/edit/assign.ts";
import { createCopies, draftAt, draftRoot } from "../values/edit/draft.ts";
import { type UpdateOptions, updateNode } from "../values/edit/update.ts";
import { ConfigError, isConfigError } from "../values/errors.ts";
import { nearestKey, splitKey } from "../values/key-path.ts";
import { type Budget, createBudget, isLimitError, type Size, spentOf } from "../values/limits.ts";
import {
  type ConfigNode,
  child,
  getAt,
  isContainerType,
  isMissingOrNull,
  scalar,
} from "../values/node.ts";
import { pyStr } from "../values/python-text.ts";
import { type ResolveContext, watchResolvers } from "../values/resolution/context.ts";
import { createResolution } from "../values/resolution/evaluate-interpolation.ts";
import { selectPlace } from "../values/resolution/resolution.ts";
import { selectNode } from "../values/resolution/select.ts";
import { type ChosenGroups, suggestChoice } from "./defaults/choice-tracker.ts";
import { type Applying, deleteAny, deleteFromConfig, standsInTree } from "./delete-keys.ts";
import { overrideValue } from "./open-tree.ts";
import {
  appendedItem,
  choiceAdvice,
  type FailedOverride,
  onlyKeyBelow,
  overrideRemedy,
} from "./override-remedy.ts";

/**
 * Applies the overrides of config values, in order, to a tree in struct mode.
 *
 * @param budget counts expansions, continuing that of the composition so far
 * @throws ConfigError `compose.override_failed`, at the override; `limit.values`, `limit.characters`
 * @see https://hydra.cc/docs/1.3/advanced/override_grammar/basic/
 */
function applyOverrides(
  root: ConfigNode,
  overrides: readonly Override[],
  context: ResolveContext,
  groups: ChosenGroups,
  budget: Budget,
): ConfigNode {
  const applying: Applying = {
    context,
    copies: createCopies(budget, context.dialect),
    swept: groups.swept ?? (() => []),
    secretPaths: groups.secretPaths ?? (() => []),
    typed: groups.typed ?? ((override) => override),
    choices: groups.choices,
    optionsWith: groups.optionsWith ?? (() => []),
  };
  return overrides.reduce((tree, override) => {
    try {
      return applyOverride(tree, override, applying);
    } catch (error) {
      throw isConfigError(error) ? withGroupMeant(error, override, groups) : error;
    }
  }, root);
}

/** A tree to which the first overrides are applied already. */
interface Begun {
  readonly count: number;
  readonly root: ConfigNode;
  /** What merging has expanded so far in place of interpolations. */
  readonly spent: Size;
}

interface Latest {
  readonly context: ResolveContext;
  readonly overrides: readonly Override[];
  readonly begun: Begun;
}

/** The latest application of overrides, by the tree that they were applied to. */
const LATEST = new WeakMap<ConfigNode, Latest>();

/**
 * Like `applyOverrides`, but keeps the result of the overrides that a job has in common with the job before: mostly all but the last
 * ones. It is not kept if a resolver was called, whose result may differ next time.
 *
 * @param spent what merging has expanded so far in place of interpolations
 */
export function applySharedOverrides(
  root: ConfigNode,
  overrides: readonly Override[],
  context: ResolveContext,
  groups: ChosenGroups,
  spent: Size,
): ConfigNode {
  const apply = (from: Begun, count: number, applied = context): Begun => {
    const budget = createBudget(context.limits, from.spent);
    const newOverrides = overrides.slice(from.count, count);
    const tree = applyOverrides(from.root, newOverrides, applied, groups, budget);
    return { count, root: tree, spent: spentOf(budget) };
  };
  const latest = LATEST.get(root);
  const previous = latest?.context === context ? latest : undefined;
  const common = previous === undefined ? 0 : commonLength(previous.overrides, overrides);
  const nothing: Begun = { count: 0, root, spent };
  let kept = previous !== undefined && previous.begun.count <= common ? previous.begun : nothing;
  let begun = kept;
  if (common > begun.count) {
    const watched = watchResolvers(context);
    begun = apply(begun, common, watched.context);
    if (!watched.wereCalled()) kept = begun;
  }
  const { root: applied } = apply(begun, overrides.length);
  LATEST.set(root, { context, overrides, begun: kept });
  return applied;
}

function commonLength(before: readonly Override[], after: readonly Override[]): number {
  const differing = after.findIndex((override, index) => override !== before[index]);
  return differing < 0 ? after.length : differing;
}

/** Puts the group that the override probably meant, if any, in front of the hints. */
function withGroupMeant(error: ConfigError, override: Override, groups: ChosenGroups): ConfigError {
  const isUnknown = override.package !== undefined || causeOf(error) === "value.struct";
  const { keyOrGroup, origin, value } = override;
  const option = value?.kind === "scalar" && typeof value.value === "string" ? value.value : null;
  if (!isUnknown || option === null) return error;
  const tail = origin.text.slice(origin.text.indexOf("="));
  const meant = suggestChoice({ typed: keyOrGroup, option, tail }, groups);
  if (meant === undefined) return error;
  const typed = groups.typed?.(override) ?? override;
  const advice = choiceAdvice(chooseBy(meant), { override, typed });
  return new ConfigError({ ...error.details, ...advice });
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
    throw new ConfigError(
      {
        ...error.details,
        code: "compose.override_failed",
        message: `Error merging override ${override.origin.text}\n${error.message}`,
        origin: override.origin,
        key: error.details.key ?? override.keyOrGroup,
        cause: error,
      },
      // Only a wrong index can be in the way here.
      error.code === "key.invalid_type" && error.details.hint === undefined
        ? () => adviceFor(root, override, applying)
        : error.code === "key.not_found"
          ? () => appendedItem(failedFor(root, override, applying)) ?? {}
          : () => onlyKeyBelow(failedFor(root, override, applying)) ?? {},
    );
  }
}

function applyValue(root: ConfigNode, override: Override, applying: Applying): ConfigNode {
  const { context, copies } = applying;
  const { keyOrGroup: key, type } = override;
  if (type === "delete")
    return context.dialect.deletesAnyValue
      ? deleteAny(root, override, applying)
      : deleteFromConfig(root, override, applying);
  if (type === "extend_list") return extendList(root, override, applying);
  const value = overrideValue(override, context.dialect) ?? scalar(null, override.origin);
  if (refusesMergeIntoNull(root, override, value) === "nothing to merge") return root;
  switch (type) {
    case "add":
      refuseOccupied(root, override, value, applying);
      return updateNode(root, key, value, { forceAdd: true, plain: true }, context, copies);
    case "force_add":
      return updateNode(root, key, value, { forceAdd: true, plain: true }, context, copies);
    case "replace":
      return change(root, override, value, applying, { merge: false });
    default:
      return change(root, override, value, applying);
  }
}

function change(
  root: ConfigNode,
  override: Override,
  value: ConfigNode,
  applying: Applying,
  options: UpdateOptions = {},
): ConfigNode {
  const { context, copies } = applying;
  const { keyOrGroup: key, origin } = override;
  try {
    return updateNode(root, key, value, { ...options, plain: true }, context, copies);
  } catch (error) {
    // An index out of range is another error: `+` could not add the item either.
    if (!isConfigError(error) || error.code !== "value.struct") throw error;
    const dotted = dottedKeyHint(root, override, context.dialect);
    if (dotted !== undefined)
      throw new ConfigError({
        code: "compose.override_failed",
        message: `Could not override '${key}'.\n${error.message}`,
        origin,
        key,
        hint: dotted,
      });
    throw new ConfigError(
      {
        code: "compose.override_failed",
        message: `Could not override '${key}'.\nTo append to your config use +${mergingText(override)}\n${error.message}`,
        origin,
        // For a map, the key in it that is refused.
        key: error.details.key?.startsWith(`${key}.`) ? error.details.key : key,
        cause: error,
      },
      () => remedyFor(root, override, applying),
    );
  }
}

/** The override with `=` in place of `:=`. */
const mergingText = ({ type, origin: { text } }: Override): string =>
  type === "replace" ? text.replace(/:\s*=/, "=") : text;

/** Computed when an error is shown, and not for the overrides that are tried for it. */
const remedyFor = (root: ConfigNode, override: Override, applying: Applying) =>
  overrideRemedy(failedFor(root, override, applying));

/** The remedy without the alternatives to its key. */
function adviceFor(root: ConfigNode, override: Override, applying: Applying) {
  const { hint, proposals } = remedyFor(root, override, applying);
  return { hint, proposals };
}

const failedFor = (
  root: ConfigNode,
  override: Override,
  { choices, context, optionsWith, secretPaths, swept, typed }: Applying,
): FailedOverride => ({
  root,
  override,
  typed: typed(override),
  context,
  swept: swept(),
  secrets: secretPaths(),
  choices,
  optionsWith,
  apply: (tree, other) =>
    applyOverride(tree, other, {
      context,
      copies: createCopies(createBudget(context.limits), context.dialect),
      swept: () => [],
      secretPaths: () => [],
      typed: (tried) => tried,
      choices,
      optionsWith: () => [],
    }),
});

/**
 * OmegaConf fails with an internal error when a dict is merged into a declared map that is null, or a key is added to
 * it, so no program can rely on a result: it is refused here. An empty dict keeps the null; a list replaces the null of
 * a declared list.
 */
function refusesMergeIntoNull(
  root: ConfigNode,
  override: Override,
  value: ConfigNode,
): "nothing to merge" | undefined {
  const { keyOrGroup: key, origin } = override;
  const path = splitKey(key);
  let current: ConfigNode | undefined = root;
  let above = -1;
  for (const [depth, part] of path.entries()) {
    if (isDeclaredNull(current)) above = depth;
    if (current === undefined || above >= 0) break;
    current = getAt(current, [part]);
  }
  const isMerged =
    value.kind === "map" || (value.kind === "list" && current?.type?.kind !== "list");
  if (above < 0 && !(isMerged && isDeclaredNull(current))) return undefined;
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

/** `+key=x` adds a value, or merges or replaces by a container, but does not overwrite a value with a scalar. */
function refuseOccupied(
  root: ConfigNode,
  override: Override,
  value: ConfigNode,
  applying: Applying,
): void {
  const { context } = applying;
  const { keyOrGroup: key, origin } = override;
  // Looked up for containers as well, because nothing can be added behind a broken interpolation.
  const existing = selectNode(root, key, context, { throwOnMissing: false });
  if (value.kind !== "scalar") return;
  if (existing === undefined || (existing.kind === "scalar" && existing.value === null)) return;
  const plain = origin.text.slice(1);
  throw new ConfigError(
    {
      code: "compose.override_failed",
      message:
        `Could not append to config. An item is already at '${key}'.\n` +
        `Either remove + prefix: '${plain}'\n` +
        `Or add a second + to add or override '${key}': '+${origin.text}'`,
      origin,
      key,
    },
    () => adviceFor(root, override, applying),
  );
}

/**
 * The hint for an override that means a key with dots in its name: dots separate keys in an override, even in quotes,
 * but not in the keys of a dict. So `loggers.db.pool.level=INFO` is written `loggers={db.pool:{level:INFO}}`. Undefined
 * if no such key can be meant.
 */
function dottedKeyHint(
  root: ConfigNode,
  { keyOrGroup, origin }: Override,
  dialect: Dialect,
): string | undefined {
  const parts = splitKey(keyOrGroup, dialect);
  let node: ConfigNode | undefined = root;
  for (let depth = 0; node?.kind === "map" && depth < parts.length; depth++) {
    const rest = parts.slice(depth);
    const key = longest(
      dottedKeys(node).filter((name) => `${rest.join(".")}.`.startsWith(`${name}.`)),
    );
    if (key !== undefined) {
      const below = rest.slice(key.split(".").length);
      const parent = parts.slice(0, depth).join(".");
      const tail = origin.text.slice(keyOrGroup.length);
      if (dialect.escapesInKeys)
        return hint(
          key,
          shown([...parts.slice(0, depth), escapedKey(key), ...below].join(".") + tail),
        );
      return hint(key, asDict(parent, [key, ...below], origin.text.slice(keyOrGroup.length + 1)));
    }
    node = child(node, parts[depth] ?? "");
  }
  return undefined;
}

const dottedKeys = ({ entries }: ConfigNode & { readonly kind: "map" }): readonly string[] =>
  [...entries.values()].map(({ key }) => String(key)).filter((name) => name.includes("."));

const longest = (names: readonly string[]): string | undefined =>
  names.toSorted((a, b) => b.length - a.length)[0];

const hint = (key: string, override: string | undefined): string => {
  const remedy =
    override === undefined ? "set it in a config file" : `use ${override}, or a config file`;
  return `'${key}' is a single key, but in an override its dot separates keys: ${remedy}`;
};

/** Undefined if the grammar cannot express it: the whole config has no key, and keys of dicts cannot be quoted. */
function asDict(parent: string, path: readonly string[], value: string): string | undefined {
  if (parent === "" || !path.every((name) => UNQUOTED.test(name))) return undefined;
  return `${parent}=${path.reduceRight((inner, name) => `{${name}:${inner}}`, value)}`;
}

const UNQUOTED = /^[\w.-]+$/;

/** Characters that separate the parts of a key, escaped where the dialect takes that. */
const escapedKey = (key: string): string => key.replace(/[.[\]=]/g, "\\$&");

/** What to write in place of `key=extend_list(...)` where there is no such list. */
function extensionHint(
  root: ConfigNode,
  { keyOrGroup: key, origin }: Override,
  found: ConfigNode | undefined,
  { dialect }: ResolveContext,
): string {
  const [, items = ""] = /^[^=]*=\s*extend_list\((.*)\)\s*$/s.exec(origin.text) ?? [];
  const parts = splitKey(key, dialect);
  if (getAt(root, parts) !== undefined && (found === undefined || isMissingOrNull(found)))
    return `there is no list to append to yet: use ${key}=[${items}]`;
  const { nearest } = nearestKey(root, parts);
  const near = nearest === undefined ? undefined : getAt(root, splitKey(nearest, dialect));
  if (near?.kind === "list") return `use ${nearest}${origin.text.slice(key.length)}`;
  return "extend_list(...) appends to a list that the config has: assign one first";
}

/** `key=extend_list(a,b)`: appends to an existing list, also behind interpolations. */
function extendList(
  root: ConfigNode,
  override: Override,
  { context, copies }: Applying,
): ConfigNode {
  const { keyOrGroup: key, origin } = override;
  const resolution = createResolution(root, context);
  const options = { throwOnMissing: true, scalarsAreEmpty: true };
  const found = selectPlace(resolution, resolution.root, key, options);
  if (found?.node.kind !== "list")
    throw new ConfigError({
      code: "compose.override_failed",
      message: `Could not append to config list. The existing value of '${key}' is ${found === undefined ? "None" : pyStr(found.node)} which is not a list.`,
      origin,
      key,
      hint: extensionHint(root, override, found?.node, context),
    });
  const added = overrideValue(override, context.dialect);
  if (added?.kind !== "list" || root.kind === "scalar" || !standsInTree(found)) return root;
  const start = draftRoot(root, copies);
  const draft = draftAt(start, found);
  if (draft?.node.kind !== "list") return root;
  const list = { ...draft, node: draft.node };
  for (const item of added.items) append(list, item);
  return start.node;
}
