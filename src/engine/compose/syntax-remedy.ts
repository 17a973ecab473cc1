/** The remedy for a text that is no override: what it means in this config, tried on it before it is proposed. */
import type { Override } from "../overrides/ast.ts";
import { type Advice, saying, splitExample, use } from "../overrides/hints.ts";
import { parseOverride } from "../overrides/parser.ts";
import { quoted } from "../overrides/print.ts";
import type { ErrorDetails } from "../values/error-details.ts";
import { ConfigError, isConfigError } from "../values/errors.ts";
import { splitKey } from "../values/key-path.ts";
import { getAt } from "../values/node.ts";
import type { Composition } from "./compose.ts";
import { asWholeList, extendedList, keepsValues, select } from "./override-remedy.ts";
import { isAboutSecret, secretOverrides } from "./secrets.ts";

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
    ? (extension(text, position, typed) ?? bareOption(text, position, typed))
    : meantByWord(text, position, typed);
  return found ?? nextRemedy(told, position, typed);
}

/** An option first: the rest of a value may be any word. */
function meantByWord(text: string, position: number, typed: TypedOverrides): Advice | undefined {
  const base = composed(typed, position);
  const chosenAs = (isMeant: Effect) =>
    base && chosenOption(text, position, typed, { base, isMeant });
  return chosenAs(isChoice) ?? restOfValue(position, typed) ?? chosenAs(setsKey);
}

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

type Effect = (override: Override, base: Composition) => boolean;

interface Meant {
  /** Without the wrong override. */
  readonly base: Composition;
  readonly isMeant: Effect;
}

const isChoice: Effect = ({ keyOrGroup }, { repository }) => repository.groupExists(keyOrGroup);

const setsKey: Effect = (override, base) => keepsValues(base.root, override, base);

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

/** `name=my run`, of which a shell made two arguments. */
function restOfValue(position: number, typed: TypedOverrides): Advice | undefined {
  const { texts, compose } = typed;
  const previous = texts[position - 1];
  const end = texts.findIndex((text, index) => index > position && text.includes("="));
  const words = texts.slice(position, end < 0 ? texts.length : end);
  if (previous?.includes("=") !== true || !words.every((word) => /^[^\s+~-]\S*$/.test(word)))
    return undefined;
  const others = select(() => compose(texts.toSpliced(position, words.length)));
  const [word = ""] = words;
  // The first of two words that were meant as an override of their own.
  if (others === undefined || getAt(others.root, splitKey(word, others.dialect)) !== undefined)
    return undefined;
  const equal = previous.indexOf("=") + 1;
  const value = [previous.slice(equal), ...words].join(" ");
  for (const written of [value, quoted(value, '"')]) {
    const whole = previous.slice(0, equal) + written;
    const joined = select(() => compose(texts.toSpliced(position - 1, words.length + 1, whole)));
    if (joined !== undefined) return splitExample(secretOverrides(joined).get(whole) ?? whole);
  }
  return undefined;
}
