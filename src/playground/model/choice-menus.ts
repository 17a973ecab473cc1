/** Groups and their options, as menus. */
import type { Composition } from "../../engine/compose/compose.ts";
import { allGroups, type DefaultsTreeNode, type Repository } from "../../engine/compose/index.ts";
import { overridesIn, withChoice, withoutChoice } from "./override-line.ts";
import { type TreeSession, withoutMistakes } from "./page-session.ts";

/** A group with its options, and the one that is chosen. */
export interface ChoiceMenu {
  /** The key of the override: `db` or `db@backup`. */
  readonly key: string;
  readonly options: readonly string[];
  /** Null if nothing is chosen. */
  readonly chosen: string | null;
  /** Whether the defaults lists have it: another group's option is added. */
  readonly isListed: boolean;
  /** Whether it is one of Hydra's own groups. */
  readonly isHydra: boolean;
}

/** The choices of a config in the order of its defaults lists, then the groups that it does not have. */
export function choiceMenus({ choices, repository, tree }: Composition): readonly ChoiceMenu[] {
  const order = new Map(
    [...new Set(tree.roots.flatMap(keysBelow))].map((key, index) => [key, index]),
  );
  // Hydra's own order of choices is that in which it reads them: the last entry first.
  const inOrder = [...choices].sort(
    ([a], [b]) => (order.get(a) ?? order.size) - (order.get(b) ?? order.size),
  );
  const listed = inOrder.map(([key, chosen]): ChoiceMenu => {
    const options = repository.list(key.replace(/@.*/, ""), "config");
    const all = chosen === null || options.includes(chosen) ? options : [...options, chosen];
    return { key, options: all, chosen, isListed: true, isHydra: isHydra(key) };
  });
  const groups = new Set([...choices.keys()].map((key) => key.replace(/@.*/, "")));
  return [...listed, ...groupMenus(repository).filter(({ key }) => !groups.has(key))];
}

/** The groups of a tree with nothing chosen. */
export const groupMenus = (repository: Repository): readonly ChoiceMenu[] =>
  allGroups(repository)
    .filter((group) => !isHydra(group))
    .map((group): ChoiceMenu => {
      const options = repository.list(group, "config");
      return { key: group, options, chosen: null, isListed: false, isHydra: false };
    })
    .filter(({ options }) => options.length > 0);

const keysBelow = ({ placed, children }: DefaultsTreeNode): readonly string[] => [
  ...(placed.overrideKey === null ? [] : [placed.overrideKey]),
  ...children.flatMap((child) => (child.kind === "config" ? keysBelow(child) : [])),
];

const isHydra = (key: string): boolean => /^hydra(?:\/|$|@)/.test(key);

/**
 * The line that chooses another option: with `group=option` where a defaults list has the group, `+group=option` where none has, and
 * without a word where the config chooses it by itself.
 */
export function lineWithOption(
  session: TreeSession,
  { configName, line }: { readonly configName: string; readonly line: string },
  { key, option }: { readonly key: string; readonly option: string | null },
): string {
  const bare = withoutChoice(line, key);
  const without = withoutMistakes(session, { configName, overrides: overridesIn(bare) });
  const choices = without?.composed.composition.choices;
  const isListed = choices?.has(key) ?? true;
  if (isListed ? choices?.get(key) === option : option === null)
    return withChoice(line, key, undefined);
  const override = option === null ? `~${key}` : `${isListed ? "" : "+"}${key}=${option}`;
  return withChoice(line, key, override);
}
