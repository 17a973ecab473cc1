import type { Override } from "../../overrides/ast.ts";
import type { Origin } from "../../values/origin.ts";
import type { GroupItem, GroupValue } from "./item.ts";

/** What the overrides of a command line say about config groups, and the rest of them. */
export interface GroupChoices {
  /** `group=option` and `group@package=option`, by override key. */
  readonly selected: ReadonlyMap<string, Selection>;
  /** `~group` and `~group=option`, by override key. */
  readonly deleted: ReadonlyMap<string, Deletion>;
  /** `+group=option`, in order. */
  readonly appended: readonly GroupItem[];
  /** The overrides that the above come from. */
  readonly overrides: readonly Override[];
  /** The other overrides: those of config values. */
  readonly values: readonly Override[];
}

export interface Selection {
  readonly value: GroupValue;
  readonly origin: Origin;
}

export interface Deletion {
  /** Only the group's choice of this name is deleted; null deletes whichever it is. */
  readonly name: string | null;
  readonly origin: Origin;
}
