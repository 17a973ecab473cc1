import { defaultsOf, type Repository } from "../../compose/index.ts";
import { type Candidate, candidate, matching } from "./candidate.ts";
import type { ComposedTree } from "./tree.ts";

/**
 * `db@backup=`: groups that stand in the config at packages of their own. Those of the primary config
 * are known from its file; once a word names a package, those of the whole composition are.
 */
export function packageNames(tree: ComposedTree, word: string): readonly Candidate[] {
  const prefix = /^[+~]?/.exec(word)?.[0] ?? "";
  const name = word.slice(prefix.length);
  if (prefix === "+" || name === "" || name.includes("=")) return [];
  const groups = name.includes("@")
    ? [...tree.composition().choices.keys()].filter((choice) => choice.includes("@"))
    : primaryGroups(tree);
  const ending = prefix === "~" ? "" : "=";
  // As with groups, one level at a time.
  const isHere = (group: string): boolean => !/^[^@]*\//.test(group.slice(name.length));
  return matching(
    word,
    groups.filter(isHere).map((group) => candidate(`${prefix}${group}${ending}`)),
  );
}

function primaryGroups({ configName, context, groups }: ComposedTree): readonly string[] {
  const primary = configName === null ? undefined : groups().load(configName);
  const items = primary === undefined ? [] : defaultsOf(primary, context);
  return items.flatMap((item) =>
    item.kind === "group" && item.package !== null && !item.override
      ? [`${item.group.replace(/^\//, "")}@${item.package}`]
      : [],
  );
}

/** Options in places where Hydra offers none: at a package, and behind others in a sweep or list. */
export function optionsInContext(groups: Repository, word: string): readonly Candidate[] {
  const match = /^([+~]?)([^=@]+)(@[^=]*)?=(\[?(?:[^,[\]{}()'"$]+,)*)([^,[\]{}()'"$]*)$/.exec(word);
  if (match === null) return [];
  const [, prefix = "", group = "", pkg = "", before = ""] = match;
  const lead = `${prefix}${group}${pkg}=${before}`;
  const chosen = new Set(before.replace("[", "").split(","));
  const options = groups.list(group, "config").filter((option) => !chosen.has(option));
  return matching(
    word,
    options.map((option) => candidate(`${lead}${option}`)),
  );
}
