import { maskSecrets } from "../../compose/index.ts";
import { isConfigError } from "../../values/errors.ts";
import { flagsHelp } from "../flags/usage.ts";
import { readSchema } from "../read-schema.ts";
import { helpText } from "../show/help.ts";
import { isUsualLog } from "../show/usual-log.ts";
import { subcommandsHelp } from "../subcommand.ts";
import { type Command, EXIT_OK, type Session } from "./command.ts";

/** `--help`: the program's groups and config. `--help KEY...`: what these keys are. */
export const helpCommand: Command = {
  isAsked: ({ flags }) => flags.has("help"),
  execute: (session) => {
    const keys = session.overrides.filter(isKey);
    return keys.length === 0 ? printHelp(session, "app") : printKeys(keys, session);
  },
};

/** `--hydra-help`: the flags and Hydra's own groups. */
export const hydraHelpCommand: Command = {
  isAsked: ({ flags }) => flags.has("hydra-help"),
  execute: (session) => printHelp(session, "hydra"),
};

/** A word that can be no override. */
const isKey = (word: string): boolean =>
  word.trim() !== "" && !word.includes("=") && !/^[~+]/.test(word);

async function printKeys(keys: readonly string[], session: Session): Promise<number> {
  const { keyHelp } = await import("../show/help-key.ts");
  const { composer, invocation, options, overrides } = session;
  const composition = composer.compose(
    overrides.filter((word) => !isKey(word)),
    { mode: "multirun" },
  );
  const { schema } = options;
  const texts = keys.map((key) =>
    keyHelp({
      key,
      composition,
      color: invocation.console.stdoutColor === true,
      ...(schema !== undefined && { schema: readSchema(schema) }),
    }),
  );
  invocation.console.stdout(texts.join("\n"));
  return EXIT_OK;
}

async function printHelp(session: Session, about: "app" | "hydra"): Promise<number> {
  const { options, flags, invocation } = session;
  const { stdout } = invocation.console;
  const ofTree = () => configHelp(session, about);
  if (options.about === undefined) {
    const help = await ofTree();
    stdout(about === "app" ? help + otherHelp(session, help) : help);
    return EXIT_OK;
  }
  // A program for any tree must explain itself also where there is none.
  const own = `${options.about}\n${otherHelp(session, options.about)}\n${flagsHelp(flags)}\n`;
  const help = await unlessMissing(ofTree);
  if (help === null) stdout(own);
  else stdout(about === "app" ? `${own}\n${help}` : help);
  return EXIT_OK;
}

/** What the config's template cannot know, unless it says it itself. */
function otherHelp({ options: { name, subcommands = [] } }: Session, help: string): string {
  if (subcommands.every((subcommand) => help.includes(`${name} ${subcommand.name}`))) return "";
  return `\n== Subcommands ==\nWith arguments of their own (${name} NAME --help)\n\n${subcommandsHelp(name, subcommands)}\n`;
}

async function configHelp(session: Session, about: "app" | "hydra"): Promise<string> {
  const { composer, flags, overrides, parsed } = session;
  // Hydra's own help needs no primary config, and must work where there is a broken one.
  const changes = about === "hydra" ? { configName: null } : {};
  const composed = composer.compose(overrides, changes);
  if (!isUsualLog(composed.root, composer.repository)) {
    const { logHelp } = await import("../show/log-help.ts");
    await logHelp(session, composed, changes);
  }
  const resolving = parsed.flags.has("resolve");
  const composition = { ...composed, root: maskSecrets(composed.root, composed, { resolving }) };
  const request = {
    composition,
    repository: composer.repository,
    about,
    flags,
    resolve: parsed.flags.has("resolve"),
  };
  return helpText(request, composer.context);
}

async function unlessMissing<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (isConfigError(error) && error.code === "compose.missing_config") return null;
    throw error;
  }
}
