import { parseArgs } from "node:util";
import { ConfigError } from "../../values/errors.ts";
import { nearest } from "../../values/nearest.ts";
import type { SubcommandLine } from "../subcommand.ts";
import { SWEEP_ACTIONS, type SweepAction } from "./next-commands.ts";

const OPTIONS = {
  status: { json: "boolean" },
  wait: { json: "boolean", timeout: "string" },
  cancel: {},
  collect: {},
} as const satisfies Readonly<Record<SweepAction, Readonly<Record<string, "boolean" | "string">>>>;

/** For shell completion. */
export const SWEEP_LINE: SubcommandLine = {
  actions: SWEEP_ACTIONS,
  options: {
    json: { help: "of status and wait: print JSON" },
    timeout: { value: "SECONDS", help: "of wait: wait at most this long" },
  },
};

/** @throws ConfigError `app.usage` */
export function actionOf(word: string): SweepAction {
  const names = Object.keys(SWEEP_ACTIONS) as SweepAction[];
  const action = names.find((name) => name === word);
  if (action !== undefined) return action;
  const near = nearest(word, names);
  throw new ConfigError({
    code: "app.usage",
    message:
      word === ""
        ? "expected an action and the directory of a sweep"
        : `expected an action, not '${word}'`,
    ...(near !== undefined && { nearest: near }),
    hint: names.map((name) => `hydraconf sweep ${name} DIR`).join(", "),
  });
}

/** What stands behind an action. */
export interface Parsed {
  /** Undefined where help was asked for. */
  readonly name: string | undefined;
  readonly json: boolean;
  /** Milliseconds. */
  readonly timeout: number | undefined;
}

/** @throws ConfigError `app.usage` */
export function parseSweepLine(action: SweepAction, args: readonly string[]): Parsed {
  const types: Readonly<Record<string, "boolean" | "string">> = OPTIONS[action];
  const { tokens } = parseArgs({
    args: [...args],
    options: {
      ...Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }])),
      help: { type: "boolean", short: "h" },
    },
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const names: string[] = [];
  let json = false;
  let timeout: number | undefined;
  for (const token of tokens) {
    if (token.kind === "positional") names.push(token.value);
    if (token.kind !== "option") continue;
    if (token.name === "help") return { name: undefined, json, timeout };
    if (!Object.hasOwn(types, token.name)) throw unknownOption(token.rawName, Object.keys(types));
    if (types[token.name] === "boolean" && token.value !== undefined)
      throw usage(
        `${token.rawName} takes no value`,
        `hydraconf sweep ${action} ${token.rawName} DIR`,
      );
    if (token.name === "json") json = true;
    if (token.name === "timeout") timeout = milliseconds(token.value);
  }
  const [name, ...more] = names;
  if (name === undefined || more.length > 0)
    throw usage(`${action}: expected the directory of one sweep`, `hydraconf sweep ${action} DIR`);
  return { name, json, timeout };
}

function milliseconds(text: string | undefined): number {
  const seconds = text === undefined || text.trim() === "" ? Number.NaN : Number(text);
  if (seconds >= 0) return seconds * 1000;
  throw usage("--timeout: expected a number of seconds", "hydraconf sweep wait --timeout 3600 DIR");
}

function unknownOption(name: string, known: readonly string[]): ConfigError {
  const near = nearest(name.replace(/^-+/, ""), [...known, "help"]);
  return new ConfigError({
    code: "app.usage",
    message: `unknown option ${name}`,
    ...(near !== undefined && { nearest: `--${near}` }),
  });
}

const usage = (message: string, hint: string): ConfigError =>
  new ConfigError({ code: "app.usage", message, hint });
