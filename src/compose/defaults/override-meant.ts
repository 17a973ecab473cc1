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
 */
export function overrideMeant(
  { key, within }: UnusedOverride,
  keysOfGroup: ReadonlyMap<string, ReadonlySet<string>>,
): MeantOverride | undefined {
  const [group = key, given] = key.split("@", 2);
  const beside = within.slice(0, within.lastIndexOf("/") + 1);
  const named =
    keysOfGroup.has(group) || !group.startsWith(beside) ? group : group.slice(beside.length);
  const [meant] = [...(keysOfGroup.get(named) ?? [])].sort(byCodePoint);
  if (meant === undefined) return undefined;
  const [, place = ownPackage(named)] = meant.split("@", 2);
  const isAtRoot = (given ?? ownPackage(group)) === ownPackage(named);
  return { key: meant, written: isAtRoot ? `/${meant}` : `/${named}@_global_.${place}` };
}

const ownPackage = (group: string): string => group.replaceAll("/", ".");
