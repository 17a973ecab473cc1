import { ConfigError } from "../../values/errors.ts";
import type { ResolveContext } from "../../values/interpolation/context.ts";
import type { ConfigNode } from "../../values/node.ts";
import { isMissing } from "../../values/node.ts";
import type { Origin } from "../../values/origin.ts";
import { defaultsOf, type LoadedConfig } from "../sources/config-source.ts";
import type { CompositionWarning } from "../warning.ts";
import { type DefaultsItem, type GroupItem, SELF } from "./item.ts";

export interface CompletedItems {
  readonly items: readonly DefaultsItem[];
  /** Whether the list itself has no `_self_`. */
  readonly selfAdded: boolean;
  readonly warning: CompositionWarning | undefined;
}

interface Completion {
  readonly configPath: string;
  readonly loaded: LoadedConfig;
  readonly primary: boolean;
  readonly resolvers: ResolveContext;
  /** Groups appended on the command line: they go after everything in the primary list. */
  readonly appended: readonly GroupItem[];
}

/**
 * The defaults list with its `_self_`: without one, a config's own content goes last, and a
 * primary config with content is warned about. A list of overrides alone needs none.
 *
 * @throws ConfigError `compose.invalid_defaults` for a second `_self_`, or one of a group, and as `defaultsOf`
 * @see https://hydra.cc/docs/1.3/upgrades/1.0_to_1.1/default_composition_order/
 */
export function completeItems({
  configPath,
  loaded,
  primary,
  appended,
  resolvers,
}: Completion): CompletedItems {
  const written = defaultsOf(loaded, resolvers);
  if (written.length === 0 && appended.length === 0)
    return { items: [], selfAdded: false, warning: undefined };

  const selves = written.filter((item) => item.kind === "self");
  if (selves.length > 1)
    throw new ConfigError({
      code: "compose.invalid_defaults",
      message: `Duplicate _self_ defined in ${configPath}`,
      origin: selves[1]?.origin ?? loaded.origin,
      hint: "keep one `_self_`: it marks the place of the file's own content",
    });

  const hasSelf = selves.length > 0;
  const added = appended.map(asSelf);
  if (hasSelf) refuseSelfOfGroup([...selves, ...added]);
  const hasItems = written.some((item) => !("override" in item && item.override));
  const complete = hasSelf || (written.length > 0 && !hasItems);
  const self: DefaultsItem = { kind: "self", origin: loaded.origin, group: null };
  return {
    items: [...written, ...(complete ? [] : [self]), ...added],
    selfAdded: !hasSelf,
    warning:
      !complete && primary && hasItems && hasContent(loaded.node)
        ? missingSelf(configPath, written[0]?.origin ?? loaded.origin)
        : undefined,
  };
}

/** `+group=_self_` is one more `_self_`. */
const asSelf = (item: GroupItem): DefaultsItem =>
  item.value === SELF ? { kind: "self", origin: item.origin, group: item.group } : item;

/** Hydra fails on the `_self_` of a group wherever the list itself has one. */
function refuseSelfOfGroup(items: readonly DefaultsItem[]): void {
  for (const item of items)
    if (item.kind === "self" && item.group !== null)
      throw new ConfigError({
        code: "compose.invalid_defaults",
        message: `'_self_' cannot be selected: it is not an option of '${item.group}'`,
        origin: item.origin,
        key: item.group,
        hint: "write `_self_` as a separate item, and rename the option",
      });
}

const hasContent = (node: ConfigNode): boolean =>
  node.kind === "map" && [...node.entries.values()].some(({ value }) => !isMissing(value));

const missingSelf = (configPath: string, origin: Origin): CompositionWarning => ({
  code: "missing_self",
  message:
    `In '${configPath}': Defaults list is missing \`_self_\`. ` +
    "See https://hydra.cc/docs/1.2/upgrades/1.0_to_1.1/default_composition_order for more information",
  origin,
});
