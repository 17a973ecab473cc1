/** Completes an override. It needs no file and no process, so that pages do so, too. */
import { defaultsOf, type Repository } from "../../../engine/compose/index.ts";
import { isConfigError } from "../../../engine/values/errors.ts";
import { selectNode } from "../../../engine/values/resolution/select.ts";
import { byCodePoint } from "../../../foundation/text/code-points.ts";
import { type Candidate, candidate, matching } from "./candidate.ts";
import {
  type CompletionTree,
  type ComposedTree,
  holdsSecret,
  matchGroups,
  matchKeys,
  showsSecret,
} from "./completion-tree.ts";
import {
  described,
  prefixedKeys,
  repeatsMember,
  type SchemaKnowledge,
  valueCandidates,
} from "./value-candidates.ts";

/** What overrides are completed from. */
export interface OverridePlace {
  readonly tree: ComposedTree;
  readonly schema: SchemaKnowledge | undefined;
  /** The files that complete a value that begins like a path; undefined for other values. */
  readonly filesFor: (word: string) => readonly string[] | undefined;
}

/**
 * The continuations of an override: Hydra's own matches, and in addition packages, options of sweeps, values that the schema lists,
 * keys after `++` and `~`, and aliases.
 *
 * @param describe whether candidates are described
 */
export function completeOverride(
  place: OverridePlace,
  word: string,
  describe: boolean,
): readonly Candidate[] {
  // The target of an interpolation is not completed.
  if (word.includes("${")) return [];
  const { filesFor, schema, tree } = place;
  const fromHydra = hydraMatches(tree, word, filesFor).filter(
    (match) => !repeatsMember(tree, match),
  );
  const isOption = fromHydra.length > 0 && /^[^=]*=/.test(word) && isGroup(tree, word);
  const more = isOption
    ? []
    : [
        ...tolerant(() => packageNames(tree, word)),
        ...optionsInContext(tree.groups(), word),
        ...tolerant(() => valueCandidates(tree, word, schema)),
        ...tolerant(() => prefixedKeys(tree, word, schema)),
        ...tolerant(() => replacedKeys(tree, word)),
        ...tolerant(() => aliasCandidates(place, word)),
      ];
  const all = new Map<string, Candidate>();
  for (const each of [...fromHydra.map((text) => fromMatch(tree, text)), ...more])
    if (!all.has(each.text)) all.set(each.text, each);
  const candidates = [...all.values()];
  const shown = describe ? candidates.map((each) => described(each, tree, schema)) : candidates;
  return withoutSecrets(shown, tree.secrets());
}

/** `db:=` for `db:`, where `db` is a map, which a value replaces as a whole. */
function replacedKeys(tree: ComposedTree, word: string): readonly Candidate[] {
  const [, key] = /^([A-Za-z_$][^@=:]*):$/.exec(word) ?? [];
  if (key === undefined || key.includes("/") || !tree.context.dialect.extendsOverrides) return [];
  return selectNode(tree.config(), key, tree.context)?.kind === "map"
    ? [candidate(`${word}=`, "replaces it as a whole")]
    : [];
}

/** Aliases that complete a word, and behind one that stands for a key what completes that key. */
function aliasCandidates(place: OverridePlace, word: string): readonly Candidate[] {
  const { tree } = place;
  const [, operator = "", rest = ""] = /^(~|\+{0,2})(.*)$/s.exec(word) ?? [];
  const equals = rest.indexOf("=");
  if (equals < 0)
    return matching(
      word,
      tree
        .aliases()
        .map(({ isWhole, name, target }) =>
          candidate(`${operator}${name}${isWhole || operator === "~" ? "" : "="}`, `-> ${target}`),
        ),
    );
  const alias = tree.aliases().find(({ name }) => name === rest.slice(0, equals));
  if (alias === undefined || alias.isWhole) return [];
  const { name, target } = alias;
  const lead = `${operator}${target}`;
  return completeOverride(place, `${lead}${rest.slice(equals)}`, false)
    .filter(({ text }) => text.startsWith(`${lead}=`))
    .map((each) => ({ ...each, text: `${operator}${name}${each.text.slice(lead.length)}` }));
}

/** A secret is neither offered as a value nor shown in a description. */
function withoutSecrets(
  candidates: readonly Candidate[],
  secrets: readonly string[],
): readonly Candidate[] {
  return candidates
    .filter(({ text }) => !showsSecret(text, secrets))
    .map((each) => (holdsSecret(each.description ?? "", secrets) ? candidate(each.text) : each));
}

/** A group with both options and groups has no ending character, and yet the word goes on. */
function fromMatch(tree: ComposedTree, text: string): Candidate {
  const plain = candidate(text);
  const isBeginning = tree.groups().groupExists(text.replace(/^[+]/, ""));
  return isBeginning ? { ...plain, isOpen: true } : plain;
}

const isGroup = (tree: ComposedTree, word: string): boolean =>
  tree.groups().groupExists(word.slice(0, word.lastIndexOf("=")).replace(/^[+~]/, ""));

/** Words that do not compose have no completions that need a composition. */
function tolerant(work: () => readonly Candidate[]): readonly Candidate[] {
  try {
    return work();
  } catch (error) {
    if (isConfigError(error)) return [];
    throw error;
  }
}

/**
 * `db@backup=`: groups that the config has at packages of their own. Those of the primary config are known from its
 * file; after a word with a package, the whole composition is searched.
 */
function packageNames(tree: ComposedTree, word: string): readonly Candidate[] {
  const prefix = /^[+~]?/.exec(word)?.[0] ?? "";
  const name = word.slice(prefix.length);
  if (prefix === "+" || name === "" || name.includes("=")) return [];
  const groups = name.includes("@")
    ? [...tree.composition().choices.keys()].filter((choice) => choice.includes("@"))
    : primaryGroups(tree);
  const ending = prefix === "~" ? "" : "=";
  // Like groups, one level at a time.
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

/** Options where Hydra offers none: at a package, and after other options in a sweep or list. */
function optionsInContext(groups: Repository, word: string): readonly Candidate[] {
  const match = /^([+~]?)([^=@]+)(@[^=]*)?=(\[?(?:[^,[\]{}()'"$]+,)*)([^,[\]{}()'"$]*)$/.exec(word);
  if (match === null) return [];
  const [, prefix = "", group = "", pkg = "", chosenText = ""] = match;
  const lead = `${prefix}${group}${pkg}=${chosenText}`;
  const chosen = new Set(chosenText.replace("[", "").split(","));
  const options = groups.list(group, "config").filter((option) => !chosen.has(option));
  return matching(
    word,
    options.map((option) => candidate(`${lead}${option}`)),
  );
}

/**
 * The completions of an override by Hydra: files, otherwise groups and options, and keys and values of the config
 * composed from the words before. If those do not compose, there are no keys.
 *
 * @throws ConfigError `override.syntax` and what `checkWords` throws for the words; of interpolations
 * @see https://hydra.cc/docs/1.3/tutorials/basic/running_your_app/tab_completion/
 */
export function hydraMatches(
  tree: CompletionTree,
  word: string,
  filesFor: OverridePlace["filesFor"],
): readonly string[] {
  const files = filesFor(word);
  if (files !== undefined) return sorted(files);
  const { matches, isOption } = matchGroups(tree.groups(), word);
  return isOption ? sorted(matches) : sorted([...matches, ...keysIfComposed(tree, word)]);
}

function keysIfComposed(tree: CompletionTree, word: string): readonly string[] {
  try {
    tree.checkWords();
    // No key can begin like this (a slash, or a prefix), so nothing needs to be composed.
    if (/^(?:[+~][^.=]*|[^.=]*\/[^.=]*)$/.test(word)) return [];
    return matchKeys(tree.config(), word, tree.context);
  } catch (error) {
    if (isConfigError(error) && /^(compose|override\.sweep)/.test(error.code)) return [];
    throw error;
  }
}

const sorted = (names: readonly string[]): readonly string[] =>
  [...new Set(names)].sort(byCodePoint);
