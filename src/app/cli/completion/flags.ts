/** Completion of flags, their values, and lines of subcommands. */
import type { Flag, SubcommandLine } from "../../job/options.ts";
import { type Candidate, candidate, matching } from "./candidate.ts";
import { type ComposedTree, matchKeys } from "./completion-tree.ts";
import { filesAt } from "./file-candidates.ts";

/** The flags that complete a word such as `--c`: the long names, and the typed short one. */
export function flagCandidates(flags: readonly Flag[], word: string): readonly Candidate[] {
  const usable = flags.filter(({ refusal }) => refusal === undefined);
  return usable.flatMap(({ names, help }) => {
    const long = names.filter((name) => name.startsWith("--"));
    const short = names.filter((name) => name === word && !long.includes(name));
    return matching(
      word,
      [...long, ...short].map((name) => candidate(name, help)),
    );
  });
}

/** The possible values of a flag; undefined if they cannot be listed. */
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

const pathsAt = (word: string, cwd: string): readonly Candidate[] =>
  filesAt(word, cwd).map(({ path, isDirectory }) => candidate(isDirectory ? `${path}/` : path));

/** Primary configs: those of the root, or of the typed group. */
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

/** Keys of values and of maps. */
const keyNames = (tree: ComposedTree, word: string): readonly Candidate[] =>
  matchKeys(tree.config(), word, tree.context).map((match) => ({
    ...candidate(match.replace(/[.=]$/, "")),
    isOpen: match.endsWith("."),
  }));

/**
 * The completions of a word of a subcommand's line: its actions, options, their choices, and files.
 *
 * @param before the words between the subcommand and this word
 */
export function completeSubcommand(
  line: SubcommandLine | undefined,
  { word, preceding }: { readonly word: string; readonly preceding: readonly string[] },
  cwd: string,
): readonly Candidate[] {
  const optionOf = (text = "") =>
    text.startsWith("--") ? line?.options[text.slice(2)] : undefined;
  const takesNext = (text = "") => optionOf(text)?.value !== undefined;
  if (!word.startsWith("-")) {
    const last = preceding.at(-1);
    const isFirst = preceding.every(
      (text, index) => text.startsWith("-") || takesNext(preceding[index - 1]),
    );
    const actions = isFirst ? line?.actions : undefined;
    const offered = takesNext(last)
      ? optionOf(last)?.choices?.map((choice) => candidate(choice))
      : actions && Object.entries(actions).map(([name, help]) => candidate(name, help));
    return offered === undefined ? pathsAt(word, cwd) : matching(word, offered);
  }
  const [name = "", value] = word.split("=", 2);
  if (value !== undefined)
    return matching(
      word,
      (optionOf(name)?.choices ?? []).map((choice) => candidate(`${name}=${choice}`)),
    );
  const options = Object.entries({ ...line?.options, help: { help: "print its help" } });
  return matching(
    word,
    options.map(([long, { help }]) => candidate(`--${long}`, help)),
  );
}
