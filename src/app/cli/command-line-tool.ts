/** Command-line tools (`hydraMain({ tool })`): their command line, their help, and the run of their task without a job. */
import {
  createConfig,
  leavesOf,
  maskSecrets,
  pathText,
  sameButSeparators,
} from "../../engine/compose/index.ts";
import { quoted } from "../../engine/overrides/index.ts";
import { showValue } from "../../engine/schema/show-value.ts";
import type { Dialect } from "../../engine/values/dialect.ts";
import { ConfigError, isConfigError, nearest } from "../../engine/values/errors.ts";
import { isInterpolationNode } from "../../engine/values/interpolation/interpolation-parser.ts";
import { nearestKey, splitKey } from "../../engine/values/key-path.ts";
import { type ConfigNode, getAt } from "../../engine/values/node.ts";
import { once } from "../../foundation/system/get-or-create.ts";
import { visibleControls } from "../../foundation/text/printable.ts";
import { splitAtEquals } from "../../foundation/text/shell-words.ts";
import { checkJobs } from "../job/check-jobs.ts";
import type { Composer } from "../job/composer.ts";
import { requiredAt } from "../job/hydra-values.ts";
import { createLogging } from "../job/logging/logging.ts";
import {
  type Flag,
  flagLabel,
  flagValueName,
  type Positional,
  type ProgramOptions,
} from "../job/options.ts";
import { jobPlace, planJob } from "../job/plan-job.ts";
import { reportError } from "../job/report-error.ts";
import { runBare } from "../job/run-job.ts";
import { EXIT_ERROR, EXIT_OK, type ParsedArguments, type Session } from "../job/session.ts";
import { argumentsUsage } from "./arguments/hydra-flags.ts";

/** A command line of a tool, in the words that every program understands. */
export interface ToolLine {
  /** Flags and overrides. */
  readonly argv: readonly string[];
  /** The words that are neither. */
  readonly words: readonly string[];
}

/** `+a.b=`, `a@b=`, `~a`: what begins so is an override. */
const OVERRIDE = /^(?:\+{0,2}[A-Za-z_][\w./@$:[\]-]*=|~[A-Za-z_])/;

/** `--a.b`, `--a.b=value` and `--no-a.b`. */
const PLAIN = /^--(no-)?([A-Za-z_][\w./@[\]-]*)(?:=([\s\S]*))?$/;

/**
 * Separates a command line: flags, overrides (plain flags become some) and the words that are neither.
 *
 * @param openedBy makes the composer for the words of the line that are no plain flags; asked only if there are some
 * @throws ConfigError `app.usage` for a plain flag that the config does not have, without its value, or with one that it does not take
 */
export async function readToolLine(
  argv: readonly string[],
  {
    plainFlags = false,
    tool: { positionals = [] } = {},
  }: Pick<ProgramOptions, "plainFlags" | "tool">,
  flags: readonly Flag[],
  openedBy: (words: readonly string[]) => Promise<OpenedLine>,
): Promise<ToolLine> {
  const kept: string[] = [];
  const words: string[] = [];
  const dashes = argv.indexOf("--");
  const end = dashes < 0 ? argv.length : dashes;
  const preceding = argv.slice(0, end);
  const opened = once(() =>
    openedBy([
      ...preceding.flatMap((word, index) => flagWithValue(word, preceding[index + 1], flags) ?? []),
      ...argv.slice(end),
    ]),
  );
  const byDefault = once(async () => settableOf(await opened(), []));
  const chosen = once(async () => {
    try {
      return settableOf(await opened(), choicesOf(preceding, flags, await byDefault()));
    } catch (error) {
      // The composition of the whole line tells what is wrong.
      if (isConfigError(error)) return undefined;
      throw error;
    }
  });
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? "";
    const next = argv[index + 1];
    if (word === "--") {
      if (positionals.length > 0) words.push(...argv.slice(index + 1));
      else kept.push(...argv.slice(index));
      break;
    }
    const flag = flagWithValue(word, next, flags);
    const plain = plainFlags && flag === undefined ? PLAIN.exec(word) : null;
    if (flag !== undefined) {
      kept.push(...flag);
      index += flag.length - 1;
    } else if (plain !== null) {
      const settable = await byDefault();
      // Further keys come with what the line chooses.
      const all = isSet(plain, settable) ? settable : await chosen();
      if (all !== undefined) refuseUnknown(plain, all, flags);
      const { override, tookNext } = plainOverride(plain, next, all ?? settable);
      if (!tookNext && positionals.length === 0) refuseSwitchValue(plain, next);
      kept.push(override);
      if (tookNext) index++;
    } else if (positionals.length === 0 || OVERRIDE.test(word) || /^-./.test(word)) kept.push(word);
    else words.push(word);
  }
  return { argv: kept, words };
}

/** A flag that every program has, by its full name, with the word that is its value. */
function flagWithValue(
  word: string,
  next: string | undefined,
  flags: readonly Flag[],
): readonly string[] | undefined {
  const [name] = splitAtEquals(word);
  const flag = flags.find(({ names }) => names.includes(name));
  if (flag === undefined) return undefined;
  const takesNext = flag.takes === "value" && name === word && next !== undefined;
  return takesNext ? [word, next] : [word];
}

/** What a line without its plain flags composes with. */
interface OpenedLine {
  readonly composer: Composer;
  /** Keys whose mappings take any key; `""` is the whole config. */
  readonly freeKeys: readonly string[];
}

/** What plain flags set: a config that is composed without their values. */
interface Settable {
  readonly config: ConfigNode;
  readonly dialect: Dialect;
  readonly isGroup: (name: string) => boolean;
  /** Keys at the root of the config, groups of the defaults list, aliases, and keys whose mappings take any key. */
  readonly names: readonly string[];
}

function settableOf({ composer, freeKeys }: OpenedLine, overrides: readonly string[]): Settable {
  const { choices, config, dialect } = composer.compose(overrides, { mode: "multirun" });
  const entries = config.kind === "map" ? [...config.entries.values()] : [];
  return {
    config,
    dialect,
    isGroup: composer.repository.groupExists,
    names: [
      ...freeKeys,
      ...entries.map(({ key }) => String(key)),
      ...[...choices.keys()].filter((group) => !group.startsWith("hydra/")),
      ...composer.aliases().map(({ name }) => name),
    ],
  };
}

/** The overrides of a line, and its plain flags that choose options. */
function choicesOf(
  words: readonly string[],
  flags: readonly Flag[],
  settable: Settable,
): readonly string[] {
  const found: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    const next = words[index + 1];
    const flag = flagWithValue(word, next, flags);
    const plain = PLAIN.exec(word);
    if (flag !== undefined) index += flag.length - 1;
    else if (plain !== null && settable.isGroup(plain[2] ?? "")) {
      const { override, tookNext } = plainOverride(plain, next, settable);
      found.push(override);
      if (tookNext) index++;
    } else if (OVERRIDE.test(word)) found.push(word);
  }
  return found;
}

/** Whether a plain flag names a group, or a key with a value. */
const isSet = ([, no, key = ""]: RegExpExecArray, { config, dialect, isGroup }: Settable) =>
  (no === undefined ? [key] : [`no-${key}`, key]).some(
    (name) => isGroup(name) || getAt(config, splitKey(name, dialect)) !== undefined,
  );

/** Refuses a plain flag that names no key, not even one below a key that there is, and no group. */
function refuseUnknown(
  [word, no, key = ""]: RegExpExecArray,
  { config, dialect, isGroup, names }: Settable,
  flags: readonly Flag[],
): void {
  const written = no === undefined ? [key] : [`no-${key}`, key];
  const isKnown = (name: string): boolean =>
    isGroup(name.replace(/@.*$/s, "")) ||
    [name, splitKey(name, dialect)[0]].some(
      (part) => part === "hydra" || names.includes(part ?? ""),
    );
  if (names.includes("") || written.some(isKnown)) return;
  const allNames = [...flags.flatMap((flag) => flag.names), ...names.map((name) => `--${name}`)];
  throw new ConfigError({
    code: "app.usage",
    message: `unrecognized arguments: ${word}`,
    nearest:
      sameKey(config, key, no) ??
      nearest(`--${written[0]}`, allNames) ??
      flagOf(nearestKey(config, splitKey(key, dialect)).nearest, no),
  });
}

/** The flag for a key that differs only in what separates its parts: `--server.port` for `--server-port`. */
const sameKey = (config: ConfigNode, key: string, no: string | undefined): string | undefined =>
  flagOf(sameButSeparators(config, key)[0], no);

const flagOf = (key: string | undefined, no = ""): string | undefined =>
  key === undefined ? undefined : `--${no}${key}`;

/** Whether a word is a flag or `--`, and no value, by argparse's rules. */
const isFlagWord = (word: string): boolean =>
  /^-[^\s\d.][^\s]*$/.test(word) && !/^-(?:inf|nan)\b/i.test(word);

/** Refuses the word behind `--fast` that says what the flag says by itself, where no argument can be meant. */
function refuseSwitchValue([word, no, key, glued]: RegExpExecArray, next = ""): void {
  if (glued !== undefined || !/^(?:true|false|yes|no|on|off|1|0)$/i.test(next)) return;
  throw new ConfigError({
    code: "app.usage",
    message: `argument ${word}: it takes no value ('${next}')`,
    hint: `write --${key} or --no-${key}${no === undefined ? `, or ${key}=${next}` : ""}`,
  });
}

function plainOverride(
  [word, no, key = "", glued]: RegExpExecArray,
  next: string | undefined,
  { config, dialect, isGroup }: Settable,
): { readonly override: string; readonly tookNext: boolean } {
  const group = isGroup(key);
  const node = group ? undefined : getAt(config, splitKey(key, dialect));
  const isSwitch = node?.kind === "scalar" && typeof node.value === "boolean";
  if (no !== undefined && isSwitch) return { override: `${key}=false`, tookNext: false };
  const name = no === undefined ? key : `no-${key}`;
  if (glued === undefined && isSwitch) return { override: `${name}=true`, tookNext: false };
  const value = glued ?? next;
  if (value === undefined || (glued === undefined && isFlagWord(value)))
    throw new ConfigError({
      code: "app.usage",
      message: `argument ${word}: expected one argument`,
      hint:
        value === undefined || value === "--"
          ? `write ${word} VALUE, or ${name}=VALUE`
          : `write ${word}=${value} if it is the value`,
    });
  return {
    override: `${name}=${group ? value : written(value, node)}`,
    tookNext: glued === undefined,
  };
}

/** The value in an override: a text where the config has one, whatever it contains. */
function written(value: string, node: ConfigNode | undefined): string {
  if (node === undefined) return value;
  if (node.kind === "list") return /^\s*\[/.test(value) ? value : `[${value}]`;
  const isText =
    node.kind === "scalar" && typeof node.value === "string" && !isInterpolationNode(node);
  return isText ? quoted(value, "'") : value;
}

/**
 * The words of a command line by the names of the arguments.
 *
 * @throws ConfigError `app.usage` for words that are missing or left over
 */
export function namedArguments(
  declared: readonly Positional[],
  words: readonly string[],
): Readonly<Record<string, string | readonly string[]>> {
  const named: Record<string, string | readonly string[]> = {};
  let position = 0;
  for (const [index, { isOptional = false, isRepeated = false, name }] of declared.entries()) {
    const needed = declared
      .slice(index + 1)
      .filter((positional) => positional.isOptional !== true).length;
    const most = isRepeated ? Math.max(0, words.length - position - needed) : 1;
    const taken = words.slice(position, position + most);
    if (taken.length === 0 && !isOptional)
      throw new ConfigError({
        code: "app.usage",
        message: `the following arguments are required: ${name}`,
      });
    position += taken.length;
    const [first] = taken;
    if (isRepeated) named[name] = taken;
    else if (first !== undefined) named[name] = first;
  }
  if (position < words.length)
    throw new ConfigError({
      code: "app.usage",
      message: `unrecognized arguments: ${words.slice(position).join(" ")}`,
      hint: "a value of the config is set by key=value",
    });
  return named;
}

/** `--help` of a tool: its own text, or one made of what it declares and of its config. */
export function showToolHelp({ composer, flags, invocation, options, overrides }: Session): number {
  const { about, name, plainFlags = false, tool = {} } = options;
  const { help, positionals = [] } = tool;
  if (help !== undefined) {
    invocation.console.stdout(help.endsWith("\n") ? help : `${help}\n`);
    return EXIT_OK;
  }
  const composition = composer.compose(overrides, { mode: "multirun" });
  const dashes = plainFlags ? "--" : "";
  const groups = [...composition.choices].flatMap(([key, option]) => {
    const [group = key] = key.split("@");
    const options = group.startsWith("hydra/") ? [] : composer.repository.list(group, "config");
    return options.length === 0
      ? []
      : [[`${dashes}${key}`, `${option ?? "none"} (of ${options.join(", ")})`]];
  });
  const settings = leavesOf(maskSecrets(composition.config, composition)).map(({ node, path }) => [
    `${dashes}${pathText(path)}`,
    showValue(node),
  ]);
  const sections = [
    [`usage: ${name} [flags] ${argumentsUsage(tool)}`],
    ...(about === undefined ? [] : [[about.trim()]]),
    section(
      "Arguments:",
      positionals.map((positional) => [positional.name, positional.help]),
    ),
    section(
      "Flags:",
      flags.map((flag) => [
        `${flagLabel(flag).replace("/", ", ")}${flag.takes === "nothing" ? "" : ` ${flagValueName(flag)}`}`,
        flag.help,
      ]),
    ),
    section(`Choices (${plainFlags ? "--GROUP OPTION or " : ""}GROUP=OPTION):`, groups),
    section(
      `Settings, with what they are (${plainFlags ? "--KEY VALUE or " : ""}KEY=VALUE):`,
      settings,
    ),
  ];
  const text = sections.filter((lines) => lines.length > 0).map((lines) => lines.join("\n"));
  invocation.console.stdout(`${text.join("\n\n")}\n`);
  return EXIT_OK;
}

function section(title: string, rows: readonly (readonly string[])[]): readonly string[] {
  if (rows.length === 0) return [];
  const width = Math.max(...rows.map(([first = ""]) => first.length));
  return [
    title,
    ...rows.map(([first = "", rest = ""]) => `  ${first.padEnd(width)}  ${rest}`.trimEnd()),
  ];
}

/** What a tool logs is for people: on standard error, without time and level. */
const TOOL_LOG = {
  version: 1,
  formatters: { plain: { format: "%(message)s" } },
  handlers: {
    console: { class: "logging.StreamHandler", formatter: "plain", stream: "ext://sys.stderr" },
  },
  root: { level: "INFO", handlers: ["console"] },
  disable_existing_loggers: false,
};

/**
 * Runs the task of a tool where it was called: it makes no directory and no file.
 *
 * @returns the exit code
 */
export async function runTool(session: Session): Promise<number> {
  const { composer, invocation, options, overrides, parsed, task } = session;
  const positionals = namedArguments(options.tool?.positionals ?? [], parsed.words ?? []);
  const logging = createLogging({ console: invocation.console });
  try {
    const composition = composer.composeTask(overrides, false).composition();
    const place = jobPlace(session);
    const planned = planJob(composition, place, undefined, invocation.cwd);
    const verbose = requiredAt(planned.root, "hydra.verbose", composer.context);
    logging.configure(TOOL_LOG, verbose, invocation.cwd);
    if (!(await checkJobs([planned], options, invocation.console, place))) return EXIT_ERROR;
    place.publish(planned.root);
    const { root, tree } = planned;
    const config = createConfig(tree, { ...composition, root, config: tree }, composer.context);
    const result = await runBare(planned, task, config, {
      context: composer.context,
      flags: ownFlags(options.flags ?? [], parsed),
      logging,
      positionals,
      program: options.name,
      restArgs: parsed.rest ?? [],
    });
    if (result.status === "failed") reportError(result.error, session);
    else if (result.exitCode !== EXIT_OK && result.reason !== undefined)
      invocation.console.stderr(`${options.name}: ${visibleControls(result.reason)}\n`);
    return result.exitCode;
  } finally {
    logging.close();
  }
}

const ownFlags = (declared: readonly Flag[], { flags }: ParsedArguments) =>
  new Map([...flags].filter(([id]) => declared.some((flag) => flag.id === id)));
