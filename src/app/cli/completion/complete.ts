/** Completes the word at the cursor of a shell. */
import { defaultsOf, type Repository } from "../../../engine/compose/index.ts";
import { isConfigError } from "../../../engine/values/errors.ts";
import { selectNode } from "../../../engine/values/resolution/select.ts";
import type { Composer } from "../../job/composer.ts";
import { type ProgramSchema, readJsonSchema } from "../../job/options.ts";
import type { ParsedArguments, Session } from "../../job/session.ts";
import { flagIn, parseArgv } from "../arguments/parse-argv.ts";
import { subcommandOf } from "../arguments/subcommand.ts";
import { type Candidate, candidate, matching } from "./candidate.ts";
import { completeSubcommand, flagCandidates, flagValues } from "./flags.ts";
import { hydraMatches } from "./hydra-query.ts";
import { type ComposedTree, holdsSecret, showsSecret, treeFor } from "./tree.ts";
import {
  described,
  prefixedKeys,
  repeatsMember,
  type SchemaKnowledge,
  schemaKnowledge,
  valueCandidates,
} from "./values.ts";

/** What to complete: the arguments before the cursor, and the word at it, unquoted. */
export interface CompletionRequest {
  readonly words: readonly string[];
  readonly word: string;
  /** Whether the shell shows descriptions. */
  readonly describe: boolean;
}

/** The part of a session that completion uses. */
export type CompletionSession = Pick<
  Session,
  "options" | "flags" | "invocation" | "composerFor" | "parsed" | "hydrasOptionsOnly"
>;

/**
 * The continuations of the word at the cursor: Hydra's own matches, and in addition flags and their values,
 * subcommands, packages, options of sweeps, values that the schema lists, keys after `++` and `~`.
 *
 * @throws ConfigError for words that the program would refuse
 */
export async function complete(
  session: CompletionSession,
  { words, word, describe }: CompletionRequest,
): Promise<readonly Candidate[]> {
  const { options, flags } = session;
  // Arguments after `--` belong to another program.
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
  // An optional value does not exclude other completions.
  let left: readonly Candidate[] = [];
  if (pending !== undefined && takesValue) {
    const values = flagValues(pending.flag, word, tree, cwd);
    if (pending.flag.takes === "value" || (word !== "" && values.length > 0)) return values;
    left = values;
  }
  if (word.startsWith("-")) return completeFlag(session, word, tree);
  const first = words.length === 0 ? (options.subcommands ?? []) : [];
  const names = first.map(({ name, summary }) => candidate(name, summary));
  const values = await programValues(session, word);
  const completed = completeOverride(session, word, tree, describe);
  return [...left, ...matching(word, names), ...completed, ...values];
}

/** `metrics=NAME`, `metrics=[NAME,NAME`: values that the program itself knows. */
async function programValues(
  { options }: CompletionSession,
  word: string,
): Promise<readonly Candidate[]> {
  const [, lead = "", key = "", typed = ""] =
    /^((?:\+\+?)?([\w.]+)=\[?(?:[^,[\]{}()'"$]+,)*)([^,[\]{}()'"$]*)$/.exec(word) ?? [];
  if (key === "" || options.keyValues === undefined) return [];
  const values = await options.keyValues(key, typed);
  return matching(
    word,
    values.map((value) => candidate(`${lead}${value}`)),
  );
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
  // The target of an interpolation is not completed.
  if (word.includes("${")) return [];
  const { options, invocation } = session;
  const schema = openSchema(options.schema, tree);
  const fromHydra = hydraMatches(tree, word, invocation.cwd).filter(
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
        ...tolerant(() => aliasCandidates(session, word, tree)),
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
function aliasCandidates(
  session: CompletionSession,
  word: string,
  tree: ComposedTree,
): readonly Candidate[] {
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
  return completeOverride(session, `${lead}${rest.slice(equals)}`, tree, false)
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

function openTree(session: CompletionSession, words: readonly string[]): ComposedTree {
  const parsed = parseArgv(words, session.flags);
  const flags = new Map([...session.parsed.flags, ...parsed.flags]);
  const composer = session.composerFor({ ...parsed, flags } satisfies ParsedArguments);
  const typed = [...parsed.overrides, ...(parsed.more ?? [])];
  const overrides = withoutAliases(composer, typed);
  const mode = parsed.flags.has("multirun") ? "multirun" : "run";
  const { hydrasOptionsOnly } = session;
  return treeFor(composer, overrides, mode, { hydrasOptionsOnly });
}

/** Words whose aliases cannot be expanded stay as they are: what is wrong with them is told where it matters. */
function withoutAliases(composer: Composer, typed: readonly string[]): readonly string[] {
  try {
    return composer.expand(typed);
  } catch (error) {
    if (isConfigError(error)) return typed;
    throw error;
  }
}

function openSchema(
  schema: ProgramSchema | undefined,
  tree: ComposedTree,
): SchemaKnowledge | undefined {
  if (schema === undefined) return undefined;
  let known: SchemaKnowledge | undefined;
  const open = (): SchemaKnowledge => {
    known ??= schemaKnowledge(readJsonSchema(schema) ?? true, tree);
    return known;
  };
  return {
    values: (key) => open().values(key),
    description: (key) => open().description(key),
    properties: (key) => open().properties(key),
  };
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
  const [, prefix = "", group = "", pkg = "", before = ""] = match;
  const lead = `${prefix}${group}${pkg}=${before}`;
  const chosen = new Set(before.replace("[", "").split(","));
  const options = groups.list(group, "config").filter((option) => !chosen.has(option));
  return matching(
    word,
    options.map((option) => candidate(`${lead}${option}`)),
  );
}
