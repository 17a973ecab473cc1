import type { Origin } from "../../values/origin.ts";

/** One item of a defaults list as it is written, before it is known where the list stands. */
export type DefaultsItem = SelfItem | ConfigItem | GroupItem;

/** `_self_`: where the config's own content goes. */
export interface SelfItem {
  readonly kind: "self";
  readonly origin: Origin;
  /** The group of `db: _self_`, which Hydra takes for a `_self_`; null for the plain one. */
  readonly group: string | null;
}

/** `- path/to/config`, with `/` in front for a path from the root. */
export interface ConfigItem {
  readonly kind: "config";
  readonly path: string;
  /** The package after `@`; null where there is none. */
  readonly package: string | null;
  /** Only for an option of a list (`- optional db: [a, b]`): a missing config is left out. */
  readonly optional: boolean;
  readonly origin: Origin;
}

/** `- group: option`, with `optional` and `override` in front. */
export interface GroupItem {
  readonly kind: "group";
  readonly group: string;
  readonly value: GroupValue;
  readonly package: string | null;
  readonly optional: boolean;
  readonly override: boolean;
  /** Given on the command line as `+group=option`: it may stand below overrides. */
  readonly appended: boolean;
  readonly origin: Origin;
}

/**
 * null selects nothing, a list selects several options of one group. Among those null is one that an
 * override gave and that is no name: it is refused where the group is reached.
 */
export type GroupValue = string | null | readonly (string | null)[];

export const SELF = "_self_";

export const isOptionList = (value: GroupValue): value is readonly (string | null)[] =>
  typeof value === "object" && value !== null;
