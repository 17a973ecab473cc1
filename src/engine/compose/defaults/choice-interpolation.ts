/** Interpolations in defaults lists, which refer to the options chosen for other groups. */
import { ConfigError, isConfigError } from "../../values/errors.ts";
import { type ConfigNode, list, type MapNode, map, scalar } from "../../values/node.ts";
import { fromCode } from "../../values/origin.ts";
import type { ResolveContext } from "../../values/resolution/context.ts";
import { resolveAt } from "../../values/resolution/select.ts";
import {
  type ConfigItem,
  type DefaultsItem,
  type GroupItem,
  type GroupValue,
  isOptionList,
  SELF,
} from "../sources/config-source.ts";
import { type ListPlace, nameOf, placeItem } from "./placement.ts";

/** What an interpolation in a defaults list can refer to. */
export interface ChoiceScope {
  /** The choices made so far, by override key. */
  readonly choices: ReadonlyMap<string, string | null>;
  /** The items of the list itself, for Hydra's `${defaults...}`. */
  readonly items: readonly DefaultsItem[];
  readonly selfAdded: boolean;
  readonly place: ListPlace;
}

const ORIGIN = fromCode("defaults list");
const POSITIONAL = /^\$\{defaults\.\d\./u;

/** `${defaults.0.group}`: refers to the option of another item of the list. */
export const isPositional = (item: DefaultsItem, text: string): item is GroupItem =>
  item.kind === "group" && POSITIONAL.test(text);

/** The text to resolve is stored below these keys, which no config group can have. */
const HOLDER = "\u0000holder";
const TEXT = "text";

/**
 * Resolves `${other_group}` (and any OmegaConf interpolation) in a defaults list.
 *
 * @throws ConfigError `compose.invalid_defaults` with the groups that can be referred to.
 * @see https://hydra.cc/docs/1.3/advanced/defaults_list/#interpolation-in-the-defaults-list
 */
export function resolveChoice(
  item: ConfigItem | GroupItem,
  text: string,
  scope: ChoiceScope,
  resolvers: ResolveContext,
): string {
  if (isPositional(item, text) && !resolvers.dialect.positionalInterpolation)
    throw legacyForm(item, text, scope.place);
  const resolved = resolveIn(scopeNode(scope, text), item, text, scope, resolvers);
  if (resolved.kind === "scalar" && typeof resolved.value === "string") return resolved.value;
  throw new ConfigError({
    code: "compose.invalid_defaults",
    message: `Interpolation '${text}' in the defaults list must give a string`,
    origin: item.origin,
    key: placeItem(item, text, scope.place).overrideKey ?? text,
  });
}

/** `${group}`, the only interpolation that deferred choices support. */
const CHOICE = /\$\{\s*([^{}]*?)\s*\}/gu;
const NAMES_ITEM = /\$\{defaults\.\d+\./u;

/** The text with its choices filled in; undefined while one of them is not made yet. */
export function fillChoices(
  item: ConfigItem | GroupItem,
  text: string,
  choices: ReadonlyMap<string, string | null>,
): string | undefined {
  if (item.kind === "group" && NAMES_ITEM.test(text)) return undefined;
  const filled = text.replaceAll(CHOICE, (whole, key: string) => {
    const name = choices.get(key);
    return typeof name === "string" && name !== "???" ? name : whole;
  });
  return filled.includes("${") ? undefined : filled;
}

/** The error of a deferred choice that could not be made. */
export function unresolvable(
  item: ConfigItem | GroupItem,
  text: string,
  choices: ReadonlyMap<string, string | null>,
  place: ListPlace,
): ConfigError {
  if (item.kind === "group" && NAMES_ITEM.test(text)) return legacyForm(item, text, place);
  const keys = [...choices.keys()];
  const possible = keys.length === 0 ? "" : `, possible interpolation keys: ${keys.join(", ")}`;
  return new ConfigError({
    code: "compose.invalid_defaults",
    message: `Error resolving interpolation '${text}'${possible}`,
    origin: item.origin,
    available: keys,
    hint: "refer to a config group by its key in the whole list: resolvers and config values are not known here",
  });
}

function resolveIn(
  root: MapNode,
  item: ConfigItem | GroupItem,
  text: string,
  { choices }: ChoiceScope,
  resolvers: ResolveContext,
): ConfigNode {
  try {
    // Resolved and not selected, because a resolver may return `???`, which leaves the group open.
    return resolveAt(root, [HOLDER, TEXT], resolvers);
  } catch (error) {
    if (!isConfigError(error)) throw error;
    const keys = [...choices.keys()];
    const possible = keys.length === 0 ? "" : `, possible interpolation keys: ${keys.join(", ")}`;
    const reason = error.code === "interpolation.not_found" ? "" : `\n${error.message}`;
    throw new ConfigError({
      code: "compose.invalid_defaults",
      message: `Error resolving interpolation '${text}'${possible}${reason}`,
      origin: item.origin,
      available: keys,
      hint: "refer to a config group in the same list, or to one chosen earlier",
      cause: error,
    });
  }
}

function scopeNode({ choices, items, selfAdded, place }: ChoiceScope, text: string): MapNode {
  const chosen = [...choices].map(([key, name]) => [key, scalar(name, ORIGIN)] as const);
  const rows = items
    .filter((item) => !(selfAdded && item.kind === "self"))
    .map((item) => itemNode(item, place));
  return map(
    [
      ...chosen,
      ["defaults", list(rows, ORIGIN)],
      [HOLDER, map([[TEXT, scalar(text, ORIGIN)]], ORIGIN)],
    ],
    ORIGIN,
  );
}

function itemNode(item: DefaultsItem, place: ListPlace): ConfigNode {
  if (item.kind === "self") return scalar(SELF, ORIGIN);
  const placed = placeItem(item, item.kind === "group" ? nameOf(item.value) : null, place);
  if (item.kind === "config") return scalar(placed.configPath, ORIGIN);
  return map([[placed.overrideKey ?? item.group, valueNode(item.value)]], ORIGIN);
}

const valueNode = (value: GroupValue): ConfigNode =>
  isOptionList(value)
    ? list(
        value.map((option) => scalar(option, ORIGIN)),
        ORIGIN,
      )
    : scalar(value, ORIGIN);

/** The notice about an item in the deprecated form, in Hydra's words. */
export function positionalNotice(item: GroupItem, text: string, place: ListPlace): string {
  const key = placeItem(item, text, place).address;
  return (
    `Defaults list element '${key}=${text}' is using a deprecated interpolation form.\n` +
    "See http://hydra.cc/docs/1.1/upgrades/1.0_to_1.1/defaults_list_interpolation for migration information."
  );
}

function legacyForm(item: GroupItem, text: string, place: ListPlace): ConfigError {
  return new ConfigError({
    code: "compose.invalid_defaults",
    message: positionalNotice(item, text, place),
    origin: item.origin,
    key: placeItem(item, text, place).address,
    hint: "refer to the group by its name: `${group}`",
  });
}
