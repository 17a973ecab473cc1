import { defaultsOf, type Repository } from "../../compose/index.ts";
import { readSchema } from "../../job/options.ts";
import type { ParsedArguments, Session } from "../../job/session.ts";
import type { JsonSchema } from "../../schema/applicable-schemas.ts";
import { isConfigError } from "../../values/errors.ts";
import { flagIn, parseArgv } from "../arguments/parse-argv.ts";
import { subcommandOf } from "../arguments/subcommand.ts";
import { type Candidate, candidate, matching } from "./candidate.ts";
import { completeSubcommand, flagCandidates, flagValues } from "./flags.ts";
import { hydraMatches } from "./hydra-query.ts";
import { type ComposedTree, holdsSecret, showsSecret, treeFor } from "./tree.ts";
import {
  described,
  prefixedKeys,
  type SchemaKnowledge,
  schemaKnowledge,
  valueCandidates,
} from "./values.ts";

/** What is to be completed: the arguments before the cursor, and the word at it, without quotes. */
export interface CompletionRequest {
  readonly words: readonly string[];
  readonly word: string;
  /** Whether anybody will see descriptions. */
  readonly describe: boolean;
}

/** What a completion can use of the session that answers it. */
export type CompletionSession = Pick<
  Session,
  "options" | "flags" | "invocation" | "composerFor" | "parsed"
>;

/**
 * How the word at the cursor may go on: Hydra's own matches, and beyond them flags and their values,
 * subcommands, packages, options of sweeps, values that the schema lists, keys behind `++` and `~`.
 *
 * @throws ConfigError for words that the program would refuse
 */
export async function complete(
  session: CompletionSession,
  { words, word, describe }: CompletionRequest,
): Promise<readonly Candidate[]> {
  const { options, flags } = session;
  // What follows `--` is another program's.
  if (words.includes("--")) return [];
  const subcommand = subcommandOf(words, options.subcommands ?? []);
  if (subcommand !== undefined)
    return completeSubcommand(
      await subcommand.commandLine?.(),
      { word, before: words.slice(1) },
      session.invocation.cwd,
    );

  const pending = flagIn(words.at(-1) ?? "", flags);
  const takesValue = pending?.glued === undefined && /value$/.test(pending?.flag.takes ?? "");
  const tree = openTree(session, takesValue ? words.slice(0, -1) : words);
  const { cwd } = session.invocation;
  // A value that may be left out does not hide what else may stand there.
  let left: readonly Candidate[] = [];
  if (pending !== undefined && takesValue) {
    const values = flagValues(pending.flag, word, tree, cwd);
    if (pending.flag.takes === "value" || (word !== "" && values.length > 0)) return values;
    left = values;
  }
  if (word.startsWith("-")) return completeFlag(session, word, tree);
  const first = words.length === 0 ? (options.subcommands ?? []) : [];
  const names = first.map(({ name, summary }) => candidate(name, summary));
  return [...left, ...matching(word, names), ...completeOverride(session, word, tree, describe)];
}

function completeFlag(
  { flags, invocation }: CompletionSession,
  word: string,
  tree: ComposedTree,
): readonly Candidate[] {
  const equals = word.indexOf("=");
  const flag = equals < 0 ? undefined : flagIn(word, flags)?.flag;
  if (flag === undefined) return flagCandidates(flags, word);
  const lead = word.slice(0, equals + 1);
  const values = flagValues(flag, word.slice(equals + 1), tree, invocation.cwd);
  return values.map((value) => ({ ...value, text: `${lead}${value.text}` }));
}

function completeOverride(
  session: CompletionSession,
  word: string,
  tree: ComposedTree,
  describe: boolean,
): readonly Candidate[] {
  // What an interpolation leads to is for the user to know.
  if (word.includes("${")) return [];
  const { options, invocation } = session;
  const schema = openSchema(options.schema, tree);
  const fromHydra = hydraMatches(tree, word, invocation.cwd);
  const isOption = fromHydra.length > 0 && /^[^=]*=/.test(word) && isGroup(tree, word);
  const more = isOption
    ? []
    : [
        ...tolerant(() => packageNames(tree, word)),
        ...optionsInContext(tree.groups(), word),
        ...tolerant(() => valueCandidates(tree, word, schema)),
        ...tolerant(() => prefixedKeys(tree, word, schema)),
      ];
  const all = new Map<string, Candidate>();
  for (const each of [...fromHydra.map((text) => fromMatch(tree, text)), ...more])
    if (!all.has(each.text)) all.set(each.text, each);
  const candidates = [...all.values()];
  const shown = describe ? candidates.map((each) => described(each, tree, schema)) : candidates;
  return withoutSecrets(shown, tree.secrets());
}

/** A secret is neither a value to choose nor a description. */
function withoutSecrets(
  candidates: readonly Candidate[],
  secrets: readonly string[],
): readonly Candidate[] {
  return candidates
    .filter(({ text }) => !showsSecret(text, secrets))
    .map((each) => (holdsSecret(each.description ?? "", secrets) ? candidate(each.text) : each));
}

/** A group that has groups beside its options ends in nothing, and yet goes on. */
function fromMatch(tree: ComposedTree, text: string): Candidate {
  const plain = candidate(text);
  const isBeginning = tree.groups().groupExists(text.replace(/^[+]/, ""));
  return isBeginning ? { ...plain, isOpen: true } : plain;
}

const isGroup = (tree: ComposedTree, word: string): boolean =>
  tree.groups().groupExists(word.slice(0, word.lastIndexOf("=")).replace(/^[+~]/, ""));

/** Where the words do not compose, what needs a composition is left out. */
function tolerant(work: () => readonly Candidate[]): readonly Candidate[] {
  try {
    return work();
  } catch (error) {
    if (isConfigError(error)) return [];
    throw error;
  }
}

function openTree(session: CompletionSession, words: readonly string[]): ComposedTree {
  const parsed = parseArgv(words, session.flags);
  const flags = new Map([...session.parsed.flags, ...parsed.flags]);
  const composer = session.composerFor({ ...parsed, flags } satisfies ParsedArguments);
  const overrides = [...parsed.overrides, ...(parsed.more ?? [])];
  return treeFor(composer, overrides, parsed.flags.has("multirun") ? "multirun" : "run");
}

function openSchema(
  schema: string | JsonSchema | undefined,
  tree: ComposedTree,
): SchemaKnowledge | undefined {
  if (schema === undefined) return undefined;
  let known: SchemaKnowledge | undefined;
  const open = (): SchemaKnowledge => {
    known ??= schemaKnowledge(readSchema(schema), tree);
    return known;
  };
  return {
    values: (key) => open().values(key),
    description: (key) => open().description(key),
    properties: (key) => open().properties(key),
  };
}

/**
 * `db@backup=`: groups that stand in the config at packages of their own. Those of the primary config
 * are known from its file; once a word names a package, those of the whole composition are.
 */
function packageNames(tree: ComposedTree, word: string): readonly Candidate[] {
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
function optionsInContext(groups: Repository, word: string): readonly Candidate[] {
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
