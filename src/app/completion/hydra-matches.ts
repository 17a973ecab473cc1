import { byCodePoint } from "../../compose/sources/repository.ts";
import { isConfigError } from "../../values/errors.ts";
import { matchFiles } from "./files.ts";
import { type CompletionTree, matchGroups, matchKeys } from "./matches.ts";

/**
 * What Hydra's own completion offers for an override: files, else groups and options, and keys and
 * values of the config that the words before it compose. Where they do not compose there are no keys.
 *
 * @throws ConfigError `override.syntax` and what `checkWords` throws for the words; of interpolations
 * @see https://hydra.cc/docs/1.3/tutorials/basic/running_your_app/tab_completion/
 */
export function hydraMatches(tree: CompletionTree, word: string, cwd: string): readonly string[] {
  const files = matchFiles(word, cwd);
  if (files !== undefined) return sorted(files);
  const { matches, isOption } = matchGroups(tree.groups(), word);
  return isOption ? sorted(matches) : sorted([...matches, ...keysIfComposed(tree, word)]);
}

function keysIfComposed(tree: CompletionTree, word: string): readonly string[] {
  try {
    tree.checkWords();
    // Nothing needs to be composed for names that no key has: one with a slash or such a beginning.
    if (/^(?:[+~][^.=]*|[^.=]*\/[^.=]*)$/.test(word)) return [];
    return matchKeys(tree.config(), word, tree.context);
  } catch (error) {
    if (isConfigError(error) && /^(compose|override\.sweep)/.test(error.code)) return [];
    throw error;
  }
}

const sorted = (names: readonly string[]): readonly string[] =>
  [...new Set(names)].sort(byCodePoint);
