import type { Flag } from "../flags/flag.ts";
import { type Candidate, candidate, matching } from "./candidate.ts";
import { filesAt } from "./files.ts";
import { matchKeys } from "./matches.ts";
import type { ComposedTree } from "./tree.ts";

/** Flags that a word such as `--c` may become: the long names, and the short one that is typed. */
export function flagCandidates(flags: readonly Flag[], word: string): readonly Candidate[] {
  const known = flags.filter(({ refusal }) => refusal === undefined);
  return known.flatMap(({ names, help }) => {
    const long = names.filter((name) => name.startsWith("--"));
    const short = names.filter((name) => name === word && !long.includes(name));
    return matching(
      word,
      [...long, ...short].map((name) => candidate(name, help)),
    );
  });
}

/** What a flag's value may be; undefined where only the user can know. */
export function flagValues(
  flag: Flag,
  word: string,
  tree: ComposedTree,
  cwd: string,
): readonly Candidate[] {
  if (flag.choices !== undefined)
    return matching(
      word,
      flag.choices.map((choice) => candidate(choice)),
    );
  switch (flag.completes) {
    case "config":
      return configNames(tree, word);
    case "directory":
      return pathsAt(word, cwd).filter(({ isOpen }) => isOpen);
    case "file":
      return pathsAt(word, cwd);
    case "key":
      return keyNames(tree, word);
    default:
      return [];
  }
}

export const pathsAt = (word: string, cwd: string): readonly Candidate[] =>
  filesAt(word, cwd).map(({ path, isDirectory }) => candidate(isDirectory ? `${path}/` : path));

/** Primary configs: those of the root, or of the group that is typed. */
function configNames(tree: ComposedTree, word: string): readonly Candidate[] {
  const parent = word.slice(0, Math.max(0, word.lastIndexOf("/")));
  const inParent = (name: string): string => (parent === "" ? name : `${parent}/${name}`);
  const groups = tree.groups();
  const configs = groups.list(parent, "config").filter((name) => !name.startsWith("_"));
  const below = groups.list(parent, "group").filter((name) => parent !== "" || name !== "hydra");
  return matching(word, [
    ...configs.map((name) => candidate(inParent(name))),
    ...below.map((name) => candidate(`${inParent(name)}/`)),
  ]);
}

/** Keys, whether they hold a value or more keys. */
const keyNames = (tree: ComposedTree, word: string): readonly Candidate[] =>
  matchKeys(tree.config(), word, tree.context).map((match) => ({
    ...candidate(match.replace(/[.=]$/, "")),
    isOpen: match.endsWith("."),
  }));
