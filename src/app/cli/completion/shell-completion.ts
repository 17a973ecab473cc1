/** `--shell-completion`: prints code for a shell, or answers it. */
import { basename, resolve } from "node:path";
import type { Dialect } from "../../../engine/values/dialect.ts";
import { ConfigError, isConfigError, nearest } from "../../../engine/values/errors.ts";
import { pyStr } from "../../../engine/values/python-text.ts";
import { readYamlValue } from "../../../engine/values/yaml/reader.ts";
import { isError } from "../../../foundation/system/builtin-types.ts";
import type { Flag, Subcommand } from "../../job/options.ts";
import type { Invocation } from "../../job/process/invocation.ts";
import type { ParsedArguments, Session } from "../../job/session.ts";
import { subcommandOf } from "../arguments/find-subcommand.ts";
import { flagIn, parseArgv } from "../arguments/parse-argv.ts";
import type { Candidate } from "./candidate.ts";
import { type CompletionRequest, type CompletionSession, complete } from "./complete.ts";
import { hydraQuery, stripProgram } from "./hydra-query.ts";
import {
  type InstalledProgram,
  readShellLine,
  SHELLS,
  type Shell,
  type ShellLine,
} from "./shells.ts";

const ACTIONS = ["install", "uninstall", "query"] as const;
type Action = (typeof ACTIONS)[number];

/**
 * `-sc install=SHELL`, `-sc uninstall=SHELL`: prints code for the shell to evaluate. `-sc query=SHELL`: answers a shell
 * that completes a line, passed in `COMP_LINE`, or word by word after `--`.
 *
 * @throws ConfigError `app.flags` for other requests, and of the YAML reader for their values
 */
export async function runCompletion(session: Session): Promise<void> {
  const { invocation, options, parsed } = session;
  const { action, shell } = readRequest(parsed.overrides, session.composer.context.dialect);
  const program = installedProgram(invocation, options.name);
  const { stdout } = invocation.console;
  if (action === "install") stdout(shell.install(program));
  else if (action === "uninstall") stdout(shell.uninstall(program));
  else {
    requireLine(session);
    const isHydras = asksAsHydra(session);
    stdout(isHydras ? hydraQuery(session, shell.hydraSeparator) : await answer(session, shell));
  }
}

/** Without a line to complete, the request does not come from a shell. */
function requireLine({ invocation: { env }, parsed }: Session): void {
  if (parsed.rest !== undefined || env["COMP_LINE"] !== undefined) return;
  throw new ConfigError({
    code: "app.flags",
    message: "The environment variable 'COMP_LINE' is not set",
    hint: "shells set it to the line to complete, after -sc install=SHELL",
  });
}

/** A word without `=` has the value None. */
function readWord(word: string, dialect: Dialect): readonly [key: string, value: string] {
  const [key = ""] = word.split("=", 1);
  return [
    key,
    key === word ? pyStr(null) : pyStr(readYamlValue(word.slice(key.length + 1), { dialect })),
  ];
}

function readRequest(words: readonly string[], dialect: Dialect): { action: Action; shell: Shell } {
  // Hydra reads a dotlist: values are YAML, and of a repeated key the last one counts.
  const asked = new Map(words.map((word) => readWord(word, dialect)));
  const requests = ACTIONS.flatMap((action) => {
    const name = asked.get(action);
    return name === undefined ? [] : [{ action, name }];
  });
  const [request] = requests;
  if (request === undefined || requests.length > 1)
    throw new ConfigError({
      code: "app.flags",
      message: `Expecting one subcommand from [${ACTIONS.map((action) => `'${action}'`).join(", ")}] to be set`,
      hint: `ask for ${ACTIONS.map((action) => `-sc ${action}=SHELL`).join(" or ")}`,
    });
  const shell = SHELLS.find(({ name }) => name === request.name);
  if (shell !== undefined) return { action: request.action, shell };
  const names = SHELLS.map(({ name }) => name).sort();
  const near = nearest(request.name, names);
  throw new ConfigError({
    code: "app.flags",
    message: `No completion plugin for '${request.name}' found, available : \n${names.map((name) => `\t${name}`).join("\n")}`,
    nearest: near,
  });
}

/** The ways to call the program: by its file name, and by `node` if it is a script. */
function installedProgram({ script, cwd }: Invocation, name: string): InstalledProgram {
  if (script === undefined) return { name };
  const path = resolve(cwd, script);
  return /\.[cm]?[jt]s$/.test(path)
    ? { name: basename(path), script: path }
    : { name: basename(path), isPackaged: /\/node_modules\/\.bin\/[^/]+$/.test(path) };
}

/** A message would disturb the line that the user is typing, so an error gives no answer. */
async function answer(session: Session, shell: Shell): Promise<string> {
  const { env, console } = session.invocation;
  try {
    const line = readLine(callOf(session));
    const { words, word } = line;
    const subcommand = subcommandOf(words, session.options.subcommands ?? []);
    if (subcommand?.isProgram === true) {
      await subcommand.run(...handedOn(session, shell));
      return "";
    }
    const request = { words, word, describe: shell.describes };
    return shell.print(await completeInAll(session, request), line);
  } catch (error) {
    if (env["HYDRA_COMP_DEBUG"] === "1")
      console.stderr(`${isError(error) ? error.stack : String(error)}\n`);
    return "";
  }
}

/** The continuations in each tree that the line may be for. Words may fit only some of them. */
async function completeInAll(
  session: Session,
  request: CompletionRequest,
): Promise<readonly Candidate[]> {
  if (session.alternatives.length === 0) return complete(session, request);
  const all = new Map<string, Candidate>();
  for (const each of [{}, ...session.alternatives]) {
    for (const found of await completeIfFits({ ...session, ...each }, request))
      if (!all.has(found.text)) all.set(found.text, found);
  }
  return [...all.values()];
}

async function completeIfFits(
  session: CompletionSession,
  request: CompletionRequest,
): Promise<readonly Candidate[]> {
  try {
    return await complete(session, request);
  } catch (error) {
    if (isConfigError(error)) return [];
    throw error;
  }
}

/** Hydra's shell code passes neither words after `--` nor `COMP_WORDBREAKS`. */
const asksAsHydra = ({ invocation, parsed }: Pick<Session, "invocation" | "parsed">): boolean =>
  parsed.rest === undefined && invocation.env["COMP_WORDBREAKS"] === undefined;

/** A shell's request. */
interface CompletionCall extends Pick<Session, "invocation" | "parsed"> {
  readonly dialect: Dialect;
}

const callOf = ({ composer, invocation, parsed }: Session): CompletionCall => ({
  invocation,
  parsed,
  dialect: composer.context.dialect,
});

/** @throws ConfigError `app.flags` for a line without a program */
function readLine(call: CompletionCall): ShellLine {
  const { rest } = call.parsed;
  if (rest !== undefined)
    return { words: rest.slice(0, -1), word: rest.at(-1) ?? "", kept: 0, quote: "" };
  return readShellLine(typedArguments(call), call.invocation.env["COMP_WORDBREAKS"] ?? "");
}

/** The line up to the cursor, without its program. */
function typedArguments({ dialect, invocation: { env } }: CompletionCall): string {
  const whole = [...(env["COMP_LINE"] ?? "")];
  const point = Number(env["COMP_POINT"]);
  const typed = whole.slice(0, Number.isInteger(point) ? point : whole.length).join("");
  return stripProgram(typed, dialect);
}

/** In which our shell code passes the rest of the line; bash passes the whole line. */
const AFTER_VARIABLE = "HYDRACONF_COMP_AFTER";

/** The text of the line after the cursor. */
function textAfter({ COMP_LINE, COMP_POINT, [AFTER_VARIABLE]: after }: Invocation["env"]): string {
  if (after !== undefined) return after;
  const point = Number(COMP_POINT);
  return COMP_LINE !== undefined && COMP_POINT !== undefined && Number.isInteger(point)
    ? [...COMP_LINE].slice(point).join("")
    : "";
}

/** The program that stands after the cursor behind `--`, with its arguments; undefined if there is none. */
export function completedProgram({ env }: Pick<Invocation, "env">): readonly string[] | undefined {
  // The rest of the word at the cursor is none of its own.
  const { word, words } = readShellLine(`_${textAfter(env)}`, "");
  const all = [...words, ...(word === "" ? [] : [word])];
  const dashes = all.indexOf("--");
  return dashes < 0 || dashes === all.length - 1 ? undefined : all.slice(dashes + 1);
}

/** The request for a subcommand that is a program: its name is the program of the line. */
function handedOn(session: Session, shell: Shell): Parameters<Subcommand["run"]> {
  const { invocation, parsed } = session;
  const request = ["-sc", `query=${shell.name}`];
  if (parsed.rest !== undefined) return [[...request, "--", ...parsed.rest.slice(1)], invocation];
  const env = {
    ...invocation.env,
    COMP_LINE: typedArguments(callOf(session)),
    COMP_POINT: undefined,
    [AFTER_VARIABLE]: textAfter(invocation.env),
  };
  return [request, { ...invocation, env }];
}

/**
 * The flags of the line that a shell completes, as far as it is typed; undefined for other requests, and for Hydra's
 * own shell code, which takes no notice of them.
 */
export function completedFlags(
  call: CompletionCall,
  flags: readonly Flag[],
): ParsedArguments["flags"] | undefined {
  const { invocation, parsed } = call;
  const hasLine = parsed.rest !== undefined || invocation.env["COMP_LINE"] !== undefined;
  if (!hasLine || asksAsHydra(call)) return undefined;
  try {
    const { words } = readLine(call);
    // The value of the last flag may be the word that is completed.
    const isPending = /value$/.test(flagIn(words.at(-1) ?? "", flags)?.flag.takes ?? "");
    return parseArgv(isPending ? words.slice(0, -1) : words, flags).flags;
  } catch (error) {
    if (isConfigError(error)) return undefined;
    throw error;
  }
}
