import { commandHelp } from "../../command-line/help.ts";
import {
  checkPositionals,
  type ParsedCommand,
  parseCommandLine,
} from "../../command-line/parse.ts";
import { usage } from "../../command-line/usage.ts";
import { shellQuote } from "../../text/shell-words.ts";
import { ConfigError, nearest } from "../../values/errors.ts";
import { SWEEP_ACTIONS, type SweepAction } from "./next-commands.ts";
import { ACTION_LINES, SWEEP_LINE } from "./sweep-lines.ts";

/** What `hydraconf sweep` is to do: show a help, or an action. */
export type SweepRequest =
  | { readonly help: string }
  | {
      readonly help: null;
      readonly action: SweepAction;
      /** As it was typed. */
      readonly directory: string;
      readonly json: boolean;
      /** Milliseconds. */
      readonly timeout: number | undefined;
    };

const ACTIONS = Object.keys(SWEEP_ACTIONS) as readonly SweepAction[];

/** @throws ConfigError `app.usage` */
export function parseSweepLine(args: readonly string[]): SweepRequest {
  const parsed = parseCommandLine(SWEEP_LINE, args);
  const [word, ...names] = parsed.positionals;
  const named = ACTIONS.find((action) => action === word);
  if (parsed.has("help"))
    return { help: commandHelp(named === undefined ? SWEEP_LINE : ACTION_LINES[named]) };
  const action = named ?? refuseAction(word, names);
  refuseOptionsOfOthers(action, parsed);
  // Before the directory, which may stand in its place.
  const timeout = milliseconds(parsed.value("timeout"));
  checkPositionals(ACTION_LINES[action], names);
  return {
    help: null,
    action,
    directory: names[0] ?? "",
    json: parsed.has("json"),
    timeout,
  };
}

function refuseAction(word: string | undefined, others: readonly string[]): never {
  if (word === undefined) throw usage(`expected ${SWEEP_LINE.takes.expected}`, EACH_ACTION);
  const later = ACTIONS.find((action) => others.includes(action));
  if (later !== undefined)
    throw usage(
      `the action ${later} must come before the directory`,
      `hydraconf sweep ${later} ${shellQuote(word)}`,
    );
  const near = nearest(word, ACTIONS);
  throw new ConfigError({
    code: "app.usage",
    message: `expected an action, not '${word}'`,
    nearest: near,
    hint: EACH_ACTION,
  });
}

const EACH_ACTION = ACTIONS.map((name) => `hydraconf sweep ${name} DIR`).join(", ");

function refuseOptionsOfOthers(action: SweepAction, parsed: ParsedCommand): void {
  const takes = (one: SweepAction, option: string) =>
    Object.hasOwn(ACTION_LINES[one].options, option);
  for (const option of Object.keys(SWEEP_LINE.options)) {
    if (!parsed.has(option) || takes(action, option)) continue;
    const takers = ACTIONS.filter((one) => takes(one, option)).join(" and ");
    throw usage(`--${option} is an option of ${takers}, not of ${action}`);
  }
}

function milliseconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = text.trim() === "" ? Number.NaN : Number(text);
  if (seconds >= 0) return seconds * 1000;
  throw usage(
    `--timeout: '${text}' is not a number of seconds`,
    "e.g. hydraconf sweep wait --timeout 3600 DIR",
  );
}
