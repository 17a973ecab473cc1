/** What was meant by an `override` of a config file that met no group of the list. */
import { byCodePoint } from "../sources/repository.ts";

/** An `override`, by the group that it names from the root of the tree. */
export interface UnusedOverride {
  /** `GROUP`, or `GROUP@PACKAGE` where the package is not that of the group's name. */
  readonly key: string;
  /** The config that it stands in, e.g. `experiment/small`. */
  readonly within: string;
}

export interface MeantOverride {
  /** The group that there is. */
  readonly key: string;
  /** As it is written in that config to reach it, without the option. */
  readonly written: string;
}

/**
 * A group's name without a slash before it is looked for beside the file, and its package is one inside of the file's:
 * the two reasons why an override of a group that is there does not meet it.
 *
 * @param keysOfGroup what the list has of each group
 * @returns several where the group is in several packages and none of them is named
 */
export function overridesMeant(
  { key, within }: UnusedOverride,
  keysOfGroup: ReadonlyMap<string, ReadonlySet<string>>,
): readonly MeantOverride[] {
  const [group = key, given = ownPackage(group)] = key.split("@", 2);
  const beside = within.slice(0, within.lastIndexOf("/") + 1);
  const named =
    keysOfGroup.has(group) || !group.startsWith(beside) ? group : group.slice(beside.length);
  const there = [...(keysOfGroup.get(named) ?? [])].sort(byCodePoint).map((found) => {
    const [, place = ownPackage(named)] = found.split("@", 2);
    const isAtRoot = given === place || given === ownPackage(named);
    const isNamed = given === place || given.endsWith(`.${place}`);
    const written = isAtRoot ? `/${found}` : `/${named}@_global_.${place}`;
    return { meant: { key: found, written }, isNamed };
  });
  const isAnyNamed = there.some(({ isNamed }) => isNamed);
  return there.flatMap(({ meant, isNamed }) => (isNamed || !isAnyNamed ? [meant] : []));
}

const ownPackage = (group: string): string => group.replaceAll("/", ".");
