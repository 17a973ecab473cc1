/** Completes the word at the cursor of a shell. */
import type { ConfigSchema } from "../../../engine/values/config-schema.ts";
import { isConfigError } from "../../../engine/values/errors.ts";
import type { Composer } from "../../job/composer.ts";
import { readJsonSchema } from "../../job/options.ts";
import type { ParsedArguments, Session } from "../../job/session.ts";
import { subcommandOf } from "../arguments/find-subcommand.ts";
import { flagIn, parseArgv } from "../arguments/parse-argv.ts";
import { type Candidate, candidate, matching } from "./candidate.ts";
import { type ComposedTree, treeFor } from "./completion-tree.ts";
import { matchFiles } from "./file-candidates.ts";
import { completeSubcommand, flagCandidates, flagValues } from "./flags.ts";
import { completeOverride } from "./override.ts";
import { type SchemaKnowledge, schemaKnowledge } from "./value-candidates.ts";

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
      { word, preceding: words.slice(1) },
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
  const schema = openSchema(options.schema, tree);
  const filesFor = (text: string) => matchFiles(text, cwd);
  const completed = completeOverride({ tree, schema, filesFor }, word, describe);
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
  schema: ConfigSchema | undefined,
  tree: ComposedTree,
): SchemaKnowledge | undefined {
  if (schema === undefined) return undefined;
  let knowledge: SchemaKnowledge | undefined;
  const open = (): SchemaKnowledge => {
    knowledge ??= schemaKnowledge(readJsonSchema(schema) ?? true, tree);
    return knowledge;
  };
  return {
    values: (key) => open().values(key),
    description: (key) => open().description(key),
    properties: (key) => open().properties(key),
  };
}
