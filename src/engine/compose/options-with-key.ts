/** Options of the config groups that have a key which the chosen ones lack. */
import { getAt } from "../values/node.ts";
import { loadQuietly, optionsForHint, type Repository } from "./sources/repository.ts";

/** The package at which a group's option is, from its override key. */
export function packageOf(key: string): string {
  const [group = "", pkg = group.replaceAll("/", ".")] = key.split("@");
  return pkg;
}

/**
 * What chooses the options that have a key, in place of those that are chosen: `model=resnet` for `model.depth`.
 *
 * @param choices the option of every group, by override key
 */
export const optionsWithKey = (
  path: readonly string[],
  choices: ReadonlyMap<string, string | null>,
  repository: Pick<Repository, "list" | "load">,
): readonly string[] =>
  [...choices].flatMap(([key, chosen]) => {
    const outer = packageOf(key).split(".");
    const rest = path.slice(outer.length);
    if (rest.length === 0 || outer.some((part, index) => part !== path[index])) return [];
    const [group = ""] = key.split("@");
    return optionsForHint(repository, group)
      .slice(0, MOST_OPTIONS)
      .filter((option) => {
        if (option === chosen) return false;
        const loaded = loadQuietly(`${group}/${option}`, repository);
        return loaded?.package === null && getAt(loaded.node, rest) !== undefined;
      })
      .map((option) => `${key}=${option}`);
  });

/** Of larger groups, not all are read for a hint. */
const MOST_OPTIONS = 50;
