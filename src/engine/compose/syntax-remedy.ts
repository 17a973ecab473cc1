/** The remedy for a text that is no override: what it means in this config, tried on it before it is proposed. */
import { shellCommand } from "../../foundation/text/shell-words.ts";
import type { Override } from "../overrides/ast.ts";
import { FUNCTIONS } from "../overrides/functions/function-table.ts";
import {
  type Advice,
  corrected,
  NO_EQUALS,
  saying,
  splitExample,
  use,
  useAnyOf,
} from "../overrides/hints.ts";
import { parseOverride } from "../overrides/parser.ts";
import { quoted } from "../overrides/print.ts";
import type { ErrorDetails } from "../values/error-details.ts";
import { ConfigError, isConfigError } from "../values/errors.ts";
import { splitKey } from "../values/key-path.ts";
import { type ConfigNode, getAt, isMissingOrNull } from "../values/node.ts";
import type { Composition } from "./compose.ts";
import { asWholeList, extendedList, keepsValues, select } from "./override-remedy.ts";
import { isAboutSecret, secretOverrides } from "./secrets.ts";
import { optionsForHint } from "./sources/repository.ts";

/** The overrides of a composition as texts, and the composition of others in their place. */
export interface TypedOverrides {
  readonly texts: readonly string[];
  /** @throws ConfigError if they cannot be composed */
  readonly compose: (texts: readonly string[]) => Composition;
}

/**
 * The syntax error of an override with a remedy that depends on the config: the next item of a list, the option of a group, the
 * rest of a value that a shell has split. Other errors are returned unchanged.
 */
export function withSyntaxRemedy(error: unknown, typed: TypedOverrides): unknown {
  if (!isConfigError(error) || error.code !== "override.syntax") return error;
  const { origin } = error.details;
  if (origin?.kind !== "override" || typed.texts[origin.index] !== origin.text) return error;
  const position = origin.index;
  // Computed when it is shown, since it composes.
  return new ConfigError(error.details, () => remedyAt(position, error.details, typed) ?? {});
}

type Told = Pick<ErrorDetails, keyof Advice>;

function remedyAt(position: number, told: Told, typed: TypedOverrides): Advice | undefined {
  const text = typed.texts[position] ?? "";
  const found = text.includes("=")
    ? (extension(text, position, typed) ??
      bareOption(text, position, typed) ??
      restOfValue(position, typed))
    : meantByWord(text, position, typed);
  return found ?? nextRemedy(told, position, typed);
}

/** An option first: the rest of a value may be any word. */
function meantByWord(text: string, position: number, typed: TypedOverrides): Advice | undefined {
  const base = composed(typed, position);
  const chosenAs = (isMeant: Effect) =>
    base && chosenOption(text, position, typed, { base, isMeant });
  return (
    chosenAs(isChoice) ??
    restOfValue(position, typed) ??
    chosenAs(setsKey) ??
    (base && withValue(position, typed.texts, base))
  );
}

/** A key or group without a value: `use_amp` for `use_amp=true`, `db` for one of its options. */
function withValue(
  position: number,
  texts: readonly string[],
  base: Composition,
): Advice | undefined {
  const [key = "", next] = texts.slice(position);
  // `lr 0.3` and `lr =0.3`: what follows is the value.
  if (!/^[A-Za-z_][\w./@]*$/.test(key) || (next !== undefined && !/[^=]=/.test(next)))
    return undefined;
  const [group = ""] = key.split("@");
  if (isChoice({ keyOrGroup: group }, base)) {
    const options = optionsForHint(base.repository, group).slice(0, MOST_OPTIONS);
    return options.length === 0
      ? undefined
      : useAnyOf(options.map((option) => ({ override: `${key}=${option}` })));
  }
  const node = getAt(base.root, splitKey(key, base.dialect));
  if (node === undefined) return undefined;
  return node.kind === "scalar" && typeof node.value === "boolean"
    ? use(`${key}=${!node.value}`)
    : saying(`a value follows the key: ${key}=VALUE`);
}

/** A hint names so many options. */
const MOST_OPTIONS = 3;

/** Where what the parser proposes is refused in its turn: the remedy for that, which may be refused as well. */
function nextRemedy(
  { hint, proposals = [] }: Told,
  position: number,
  typed: TypedOverrides,
  rounds = 3,
): Advice | undefined {
  const [proposal] = proposals;
  // Several were tried before.
  if (proposal === undefined || proposals.length > 1) return undefined;
  try {
    typed.compose(typed.texts.with(position, proposal));
    return undefined;
  } catch (error) {
    if (!isConfigError(error)) throw error;
    const { code, hint: next, message, origin, proposals: others } = error.details;
    if (origin?.kind !== "override" || origin.index !== position) return undefined;
    const [problem] = message.split("\n");
    if (next === undefined || rounds === 0)
      return saying(`${proposal} is refused, too: ${problem}`);
    const further = { hint: next, proposals: others };
    const remedy = nextRemedy(further, position, typed, rounds - 1) ?? further;
    // It is about how the line is run, for which the text must be right as well.
    return code === "override.sweep_not_allowed" && others === undefined
      ? { hint: `${remedy.hint}, and ${hint}`, proposals }
      : remedy;
  }
}

/** The composition with a text in place of one of the overrides, or without it. */
const composed = (
  { compose, texts }: TypedOverrides,
  position: number,
  text?: string,
): Composition | undefined =>
  select(() => compose(texts.toSpliced(position, 1, ...(text === undefined ? [] : [text]))));

/** `layers+=3`, where `layers` is a list. */
function extension(text: string, position: number, typed: TypedOverrides): Advice | undefined {
  const [, key, value = ""] = /^([A-Za-z_][\w.]*)\s*\+=\s*(.*)$/s.exec(text) ?? [];
  const base = key === undefined ? undefined : composed(typed, position);
  if (key === undefined || base === undefined) return undefined;
  const path = splitKey(key, base.dialect);
  const node = getAt(base.root, path);
  const items = value.replace(/^\[(.*)\]\s*$/s, "$1");
  const written = node?.kind === "list" ? extendedList(key, node, [items]) : undefined;
  const extended = written === undefined ? undefined : composed(typed, position, written);
  // The items would be shown.
  return written === undefined || extended === undefined || isAboutSecret(path, extended.secrets)
    ? undefined
    : asWholeList(written);
}

type Effect<Changed = Override> = (override: Changed, base: Composition) => boolean;

interface Meant {
  /** Without the wrong override. */
  readonly base: Composition;
  readonly isMeant: Effect;
}

const isChoice: Effect<Pick<Override, "keyOrGroup">> = ({ keyOrGroup }, { repository }) =>
  repository.groupExists(keyOrGroup);

/** Whether a key keeps its kind of value, also a number. */
const setsKey: Effect = (override, base) => {
  const node = getAt(base.root, splitKey(override.keyOrGroup, base.dialect));
  const isText = override.value?.kind === "scalar" && typeof override.value.value === "string";
  return (
    keepsValues(base.root, override, base) && (node === undefined || !isText || takesText(node))
  );
};

/** `db.mysql` for `db=mysql`, and `lr.0.1` for `lr=0.1`. */
function chosenOption(
  text: string,
  position: number,
  typed: TypedOverrides,
  meant: Meant,
): Advice | undefined {
  const separators = [...text.matchAll(/[./:-]/g)].reverse();
  for (const { index } of separators.slice(0, MOST_SEPARATORS)) {
    const written = `${text.slice(0, index)}=${text.slice(index + 1)}`;
    if (worksFor(written, position, typed, meant)) return use(written);
  }
  return undefined;
}

/** An option or a value has few of them. */
const MOST_SEPARATORS = 8;

/** `db={mysql}`, `db=<mysql>` or `db=(mysql)`, as a manual writes a name that is to be replaced. */
function bareOption(text: string, position: number, typed: TypedOverrides): Advice | undefined {
  const [, key, option] =
    /^([~+]*[A-Za-z_][\w./@-]*)=[^\w\s]+([A-Za-z_][\w./-]*)[^\w\s]+$/.exec(text) ?? [];
  const base = key === undefined ? undefined : composed(typed, position);
  const written = `${key}=${option}`;
  return base !== undefined && worksFor(written, position, typed, { base, isMeant: isChoice })
    ? use(written)
    : undefined;
}

/** Whether an override in place of the wrong one composes, and has the effect that is meant. */
function worksFor(
  written: string,
  position: number,
  typed: TypedOverrides,
  { base, isMeant }: Meant,
): boolean {
  const override = select(() => parseOverride(written));
  return (
    override !== undefined &&
    override.keyOrGroup !== "" &&
    select(() => isMeant(override, base)) === true &&
    composed(typed, position, written) !== undefined
  );
}

/** An override that a shell has split at its blanks, as its parts. */
interface SplitOverride {
  /** The key with its sign and the `=`. */
  readonly head: string;
  /** What stands between the blanks. */
  readonly values: readonly string[];
  /** The config without it. */
  readonly base: Composition;
  /** Its group, if it chooses an option. */
  readonly group: string | undefined;
  /** What it sets, before. */
  readonly node: ConfigNode | undefined;
  /** The index of the first text behind it. */
  readonly end: number;
  /** The overrides with another one in place of the parts. */
  readonly replaced: (written: string) => {
    readonly typed: TypedOverrides;
    readonly position: number;
  };
}

/** What is said of an override that a shell has split, and the override itself, if that is all it needs. */
interface Joined {
  readonly advice: Advice;
  readonly written?: string;
}

/** `name=my run`, `lr=0.1 0.2`, `lr=0.1, 0.2` or `tags=[a b]`, of which a shell made several arguments; further ones are told at once. */
function restOfValue(position: number, typed: TypedOverrides): Advice | undefined {
  const split = splitAt(position, typed);
  const joined = split && joinedOverride(position, typed, split);
  if (joined?.written === undefined) return joined?.advice;
  const others: string[] = [];
  for (let index = split?.end ?? typed.texts.length; index < typed.texts.length; index++) {
    const next = typed.texts[index]?.includes("=") === true ? undefined : splitAt(index, typed);
    if (next === undefined) continue;
    const { written } = joinedOverride(index, typed, next) ?? {};
    if (written !== undefined) others.push(written);
    index = next.end - 1;
  }
  const { advice } = joined;
  return others.length === 0
    ? advice
    : { ...advice, hint: `${advice.hint}; likewise ${shellCommand(others)}` };
}

function joinedOverride(
  position: number,
  typed: TypedOverrides,
  split: SplitOverride,
): Joined | undefined {
  const { values } = split;
  if (values.length === 1) return tried(NO_EQUALS, values.join(), split);
  if (/^["']/.test(values[0] ?? "")) return inQuotes(split);
  const isOpen = typed.texts[position]?.includes("=") === true;
  if (isOpen || values.some((value) => /^,|,$/.test(value))) return withoutBlanks(split);
  return asCall(split) ?? asItems(split) ?? asSweep(split) ?? inQuotes(split);
}

function splitAt(position: number, typed: TypedOverrides): SplitOverride | undefined {
  const { texts, compose } = typed;
  const start = texts[position]?.includes("=") === true ? position : position - 1;
  const [, head, key, value] =
    /^([~+]*([A-Za-z_][\w./@-]*):?=)\s*(.*)$/s.exec(texts[start] ?? "") ?? [];
  const next = texts.findIndex((text, index) => index > start && text.includes("="));
  const end = next < 0 ? texts.length : next;
  const words = texts.slice(start + 1, end);
  if (head === undefined || key === undefined || value === undefined) return undefined;
  if (words.length === 0 || !words.every((word) => /^[^\s+~-]\S*$/.test(word))) return undefined;
  // Other overrides may be split, too.
  const whole = (text: string) => /^[+~]|=/.test(text);
  const [above, below] = [texts.slice(0, start).filter(whole), texts.slice(end).filter(whole)];
  const base = select(() => compose([...above, ...below]));
  if (base === undefined) return undefined;
  const nodeAt = (path: string) => getAt(base.root, splitKey(path, base.dialect));
  // The first of two words that were meant as an override of their own.
  const [word = ""] = words;
  if (start < position && value !== "" && nodeAt(word) !== undefined) return undefined;
  return {
    head,
    values: value === "" ? words : [value, ...words],
    base,
    group: isChoice({ keyOrGroup: key }, base) ? key : undefined,
    node: nodeAt(key),
    end,
    replaced: (written) => ({
      typed: { texts: [...above, written, ...below], compose },
      position: above.length,
    }),
  };
}

/** For a list, dict, call or row of values with blanks between its parts: without them, or with commas. */
function withoutBlanks(split: SplitOverride): Joined | undefined {
  const joined = split.values.reduce((text, part) => {
    const isSeparated = /[,:[{(]$/.test(text) || /^[,:\]})]/.test(part);
    return `${text}${isSeparated ? "" : ","}${part}`;
  });
  return tried("a shell splits an override at its blanks", joined.replace(/,$/, ""), split);
}

/** For the name of a function with its arguments: `lr=range 1 4`. */
function asCall(split: SplitOverride): Joined | undefined {
  const [name = "", ...parameters] = split.values;
  return FUNCTIONS.has(name) && parameters.every(isNumber)
    ? tried("arguments stand in parentheses", `${name}(${parameters.join(",")})`, split)
    : undefined;
}

/** For a key with a list. */
function asItems(split: SplitOverride): Joined | undefined {
  const { node, values } = split;
  return node?.kind === "list" && !values.some((value) => /^\[.*\]$/.test(value))
    ? tried("a list stands in brackets", `[${values.join(",")}]`, split)
    : undefined;
}

/** For a group, and for numbers: none of them is a text with blanks. */
function asSweep(split: SplitOverride): Joined | undefined {
  const { base, group, values } = split;
  const options = group === undefined ? undefined : optionsForHint(base.repository, group);
  const isOne = (value: string): boolean =>
    options?.includes(value) ?? (isNumber(value) || /^(?:true|false)$/i.test(value));
  return values.every(isOne)
    ? tried("the values of a sweep have commas between them", values.join(","), split)
    : undefined;
}

const isNumber = (value: string): boolean => /^[-+]?(?:\d|\.\d)[\w.+-]*$/.test(value);

/** The value in place of the parts, or what it needs besides. */
function tried(reason: string, value: string, split: SplitOverride): Joined | undefined {
  const written = split.head + value;
  if (select(() => parseOverride(written)) === undefined) return undefined;
  const advice = corrected(reason, written);
  const { position, typed } = split.replaced(written);
  const next = nextRemedy(advice, position, typed);
  if (next !== undefined) {
    const isSame = next.proposals?.includes(written) === true;
    return next.proposals === undefined ? undefined : { advice: next, ...(isSame && { written }) };
  }
  const secrets = select(() => secretOverrides(typed.compose(typed.texts)));
  return secrets?.has(written) === true ? undefined : { advice, written };
}

function inQuotes({ head, node, replaced, values }: SplitOverride): Joined | undefined {
  const [first = ""] = values;
  if (node !== undefined && !takesText(node) && isNumber(first)) return undefined;
  const value = values.join(" ");
  for (const text of [value, quoted(value, '"')]) {
    const whole = head + text;
    const { typed } = replaced(whole);
    const joined = select(() => typed.compose(typed.texts));
    if (joined === undefined) continue;
    const written = secretOverrides(joined).get(whole) ?? whole;
    return { advice: splitExample(written), written };
  }
  return undefined;
}

const takesText = (node: ConfigNode): boolean =>
  isMissingOrNull(node) || (node.kind === "scalar" && typeof node.value === "string");
