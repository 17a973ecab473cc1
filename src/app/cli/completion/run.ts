import { basename, resolve } from "node:path";
import type { Dialect } from "../../../engine/values/dialect.ts";
import { ConfigError, nearest } from "../../../engine/values/errors.ts";
import { pyStr } from "../../../engine/values/python-text.ts";
import { readYamlValue } from "../../../engine/values/yaml/reader.ts";
import { isError } from "../../../foundation/system/builtin-types.ts";
import type { Invocation } from "../../job/process/invocation.ts";
import type { Session } from "../../job/session.ts";
import { complete } from "./complete.ts";
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
    : { name: basename(path) };
}

/** A message would disturb the line that the user is typing, so an error gives no answer. */
async function answer(session: Session, shell: Shell): Promise<string> {
  const { env, console } = session.invocation;
  try {
    const line = readLine(session);
    const { words, word } = line;
    const candidates = await complete(session, { words, word, describe: shell.describes });
    return shell.print(candidates, line);
  } catch (error) {
    if (env["HYDRA_COMP_DEBUG"] === "1")
      console.stderr(`${isError(error) ? error.stack : String(error)}\n`);
    return "";
  }
}

/** Hydra's shell code passes neither words after `--` nor `COMP_WORDBREAKS`. */
const asksAsHydra = ({ invocation, parsed }: Session): boolean =>
  parsed.rest === undefined && invocation.env["COMP_WORDBREAKS"] === undefined;

/** @throws ConfigError `app.flags` for a line without a program */
function readLine({ composer, invocation, parsed }: Session): ShellLine {
  const { env } = invocation;
  if (parsed.rest !== undefined)
    return { words: parsed.rest.slice(0, -1), word: parsed.rest.at(-1) ?? "", kept: 0, quote: "" };
  const whole = [...(env["COMP_LINE"] ?? "")];
  const point = Number(env["COMP_POINT"]);
  const typed = whole.slice(0, Number.isInteger(point) ? point : whole.length).join("");
  return readShellLine(stripProgram(typed, composer.context.dialect), env["COMP_WORDBREAKS"] ?? "");
}
