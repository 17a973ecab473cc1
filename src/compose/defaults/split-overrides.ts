import type { Element, Override, OverrideValue } from "../../overrides/ast.ts";
import { isSweepValue } from "../../overrides/ast.ts";
import { ConfigError } from "../../values/errors.ts";
import { pyTypeName } from "../../values/python-text.ts";
import type { Repository } from "../sources/repository.ts";
import type { Deletion, GroupChoices, Selection } from "./group-choices.ts";
import type { GroupItem, GroupValue } from "./item.ts";

/**
 * Tells the overrides of config groups from those of config values: an override is about a group
 * if a group of that name exists in any source, except that a dict is always a value. Sweeps take
 * no part in a composition.
 *
 * @throws ConfigError `compose.override_failed` for a group override that makes no sense, and
 * `value.wrong_type` for one whose value names no option.
 */
export function splitOverrides(
  overrides: readonly Override[],
  repository: Pick<Repository, "groupExists">,
): GroupChoices {
  const selected = new Map<string, Selection>();
  const deleted = new Map<string, Deletion>();
  const appended: GroupItem[] = [];
  const values: Override[] = [];
  const about: Override[] = [];

  for (const override of overrides) {
    const { value, origin, type } = override;
    if (value !== undefined && isSweepValue(value)) continue;
    if (value?.kind === "dict" || !repository.groupExists(override.keyOrGroup)) {
      values.push(override);
      continue;
    }
    about.push(override);
    if (type === "force_add")
      throw refused(
        "compose.override_failed",
        override,
        `force-add of config groups is not supported: '${origin.text}'`,
      );
    else if (type === "delete")
      deleted.set(overrideKeyOf(override), { name: deletedName(override, value), origin });
    else if (type === "add") appended.push(appendedItem(override, groupValue(override, value)));
    else selected.set(overrideKeyOf(override), { value: groupValue(override, value), origin });
  }
  return { selected, deleted, appended, overrides: about, values };
}

/** `group` or `group@package`, as it is typed. */
const overrideKeyOf = (override: Override): string =>
  override.package === undefined
    ? override.keyOrGroup
    : `${override.keyOrGroup}@${override.package}`;

function deletedName(override: Override, value: Element | undefined): string | null {
  if (value === undefined) return null;
  if (value.kind === "scalar" && (value.value === null || typeof value.value === "string"))
    return value.value;
  throw refused(
    "value.wrong_type",
    override,
    `Config group override deletion value must be a string : ${override.origin.text}`,
    `to delete the group whatever its option, use ~${overrideKeyOf(override)}`,
  );
}

function groupValue(override: Override, value: Element | undefined): GroupValue {
  if (value?.kind === "list") return value.items.map(nameOf);
  if (value?.kind === "scalar" && typeof value.value === "string") return value.value;
  const got = value?.kind === "scalar" ? pyTypeName(value.value) : "NoneType";
  throw refused(
    "value.wrong_type",
    override,
    `Config group override must be a string or a list. Got ${got}`,
    override.keyOrGroup === ""
      ? "nothing precedes the '=': write KEY=VALUE or GROUP=OPTION"
      : got === "NoneType"
        ? `to remove the config group, use ~${overrideKeyOf(override)}`
        : `quote the name of the option: ${overrideKeyOf(override)}="'${override.origin.text.split("=", 2)[1] ?? ""}'"`,
  );
}

const nameOf = (item: OverrideValue): string | null =>
  item.kind === "scalar" && typeof item.value === "string" ? item.value : null;

const appendedItem = (override: Override, value: GroupValue): GroupItem => ({
  kind: "group",
  group: override.keyOrGroup,
  value,
  package: override.package === "_here_" ? "" : (override.package ?? null),
  optional: false,
  override: false,
  appended: true,
  origin: override.origin,
});

function refused(
  code: "compose.override_failed" | "value.wrong_type",
  override: Override,
  message: string,
  hint?: string,
): ConfigError {
  return new ConfigError({
    code,
    message,
    origin: override.origin,
    key: overrideKeyOf(override),
    hint,
  });
}
