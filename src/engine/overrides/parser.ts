/** The parser of the override language. */
import {
  anything,
  checkOptions,
  checkText,
  checkTexts,
  fn,
  type OptionChecks,
  optional,
} from "../values/check-options.ts";
import { DEFAULT_DIALECT, type Dialect, withoutExtensions } from "../values/dialect.ts";
import { ConfigError, isConfigError } from "../values/errors.ts";
import { isInterpolation } from "../values/interpolation/interpolation-parser.ts";
import type { Key } from "../values/node.ts";
import { parsePythonFloat, parsePythonInt, pyRepr } from "../values/python-text.ts";
import type {
  ArgumentSyntax,
  CallSyntax,
  ColumnSyntax,
  DictSyntax,
  ElementScalar,
  ElementSyntax,
  ExtensionElement,
  KeySyntax,
  ListSyntax,
  Override,
  OverrideSyntax,
  OverrideType,
  OverrideValue,
  Quote,
  ScalarElement,
  SimpleChoiceSyntax,
  Span,
  UnionSyntax,
  ValueSyntax,
} from "./ast.ts";
import { type EvaluationOptions, evaluateValue } from "./evaluate.ts";
import { FUNCTIONS } from "./functions/function-table.ts";
import { corrected, quoteHint, saying, use, wordHint } from "./hints.ts";
import {
  type Cursor,
  createCursor,
  expect,
  expectClosing,
  peek,
  peekSecond,
  readAgain,
  refuse,
  type Token,
  type TokenKind,
  take,
  takeIf,
  textOf,
} from "./lexer.ts";
import { functionError, type OverrideSource, syntaxError } from "./override-errors.ts";
import { unescapeUnquoted, unquote } from "./print.ts";
import { withValueHint } from "./value-hint.ts";

/**
 * The limit for nested brackets, braces and calls. Hydra itself fails with a RecursionError at a similar depth; here it
 * is a normal error.
 */
const MAX_DEPTH = 400;

/**
 * Parses one override and evaluates its functions.
 * @param index its position in the list of overrides, kept in the origin
 * @throws ConfigError `override.syntax` or `override.function`, with the span in its origin
 */
export function parseOverride(text: string, options: EvaluationOptions = {}, index = 0): Override {
  checkText("parseOverride", "the override", text);
  checkOptions("parseOverride", options, EVALUATION_OPTIONS);
  try {
    return readOverride(sourceOf(text, index, options), options);
  } catch (error) {
    throw withValueHint(error, text, (other) => isRight(other, options.dialect));
  }
}

const sourceOf = (text: string, index: number, { dialect }: EvaluationOptions): OverrideSource => ({
  text,
  index,
  ...(dialect !== undefined && { dialect }),
});

/** Whether Hydra itself takes an override: it refuses those with what is ours. */
export const isOverrideOfHydra = (text: string, dialect: Dialect): boolean =>
  isOverride(text, { dialect: withoutExtensions(dialect) });

const isOverride = (text: string, options: EvaluationOptions): boolean =>
  overrideIn(text, options) !== undefined;

/** Whether a text is an override with interpolations that are right, too: the grammar of overrides reads little of them. */
function isRight(text: string, dialect: Dialect = DEFAULT_DIALECT): boolean {
  const override = overrideIn(text, { dialect });
  return (
    override !== undefined &&
    textsIn(override.value).every((text) => !text.includes("${") || isInterpolation(text, dialect))
  );
}

function overrideIn(text: string, options: EvaluationOptions): Override | undefined {
  try {
    return readOverride(sourceOf(text, 0, options), options);
  } catch (error) {
    if (isConfigError(error)) return undefined;
    throw error;
  }
}

/** The texts in a value, except those of globs, which are names. */
function textsIn(value: OverrideValue | undefined): readonly string[] {
  switch (value?.kind) {
    case "scalar":
      return typeof value.value === "string" ? [value.value] : [];
    case "list":
    case "choice":
      return value.items.flatMap(textsIn);
    case "dict":
      return [...value.entries.values()].flatMap((entry) => textsIn(entry.value));
    case "extension":
      return value.values.flatMap(textsIn);
    case "union":
      return value.parts.flatMap(textsIn);
    case "zip":
      return value.columns.flatMap((column) => textsIn(column.value));
    default:
      return [];
  }
}

function readOverride(source: OverrideSource, options: EvaluationOptions): Override {
  const { index, text } = source;
  const { type, key, value } = parseOverrideSyntax(source);
  const origin = { kind: "override", text, index } as const;
  if (value === undefined) return { type, ...key, origin };
  const messages: string[] = [];
  const onWarning = (message: string): number => messages.push(message);
  const element = evaluateValue(value, source, { ...options, onWarning });
  const warnings = messages.length === 0 ? {} : { warnings: messages };
  if (element.kind !== "extension") return { type, ...key, value: element, ...warnings, origin };
  if (type !== "change") throw prefixedExtension(source, element);
  const { span, values: items } = element;
  return {
    type: "extend_list",
    ...key,
    value: { kind: "list", items, span },
    warnings: [...messages, EXTEND_LIST_WARNING],
    origin,
  };
}

const EXTEND_LIST_WARNING =
  "extend_list(...) is deprecated and will be removed in Hydra 1.5. " +
  "See https://github.com/hydra-ecosystem/hydra/issues/3200";

function prefixedExtension(source: OverrideSource, { span }: ExtensionElement): ConfigError {
  const { text } = source;
  return functionError(source, span, "extend_list takes no '+', '++' or '~' before the key", {
    ...use(text.replace(/^[+~]+/, "")),
  });
}

/** Parses a list of overrides; throws for the first invalid one. */
export function parseOverrides(
  texts: readonly string[],
  options: EvaluationOptions = {},
): readonly Override[] {
  checkTexts("parseOverrides", "overrides", texts, '["db=mysql", "+lr=0.1"]');
  checkOptions("parseOverrides", options, EVALUATION_OPTIONS);
  return texts.map((text, index) => {
    try {
      return parseOverride(text, options, index);
    } catch (error) {
      throw options.dialect?.listsOverrides === true ? withList(error, texts) : error;
    }
  });
}

/** The error of one of several overrides, whose message lists all of them first. */
function withList(error: unknown, texts: readonly string[]): unknown {
  if (!isConfigError(error) || error.details.origin?.kind !== "override") return error;
  const { index, text } = error.details.origin;
  const all = texts.map((each) => pyRepr(each)).join(", ");
  const first = `Error when parsing index: ${index}, string: ${text} out of [${all}].`;
  return new ConfigError({ ...error.details, message: `${first}\n${error.details.message}` });
}

const EVALUATION_OPTIONS: OptionChecks<EvaluationOptions> = {
  functions: anything,
  dialect: anything,
  random: optional(fn),
};

/** `key=value`, `+key=value`, `++key=value`, `key:=value`, `~key` and `~key=value`, up to the end of the text. */
function parseOverrideSyntax(source: OverrideSource): OverrideSyntax {
  const cursor = createCursor(source, "key");
  const operator = parseType(cursor);
  if (operator === "change" || operator === "add") expectKey(cursor);
  const key = parseKey(cursor);
  if (operator === "delete" && peek(cursor).kind === "end") return { type: operator, key };
  const type = isReplaced(cursor, operator, key) ? "replace" : operator;
  expect(cursor, "equal", "'='", wordHint);
  cursor.mode = "value";
  const value = peek(cursor).kind === "end" ? emptyValue(cursor) : parseValue(cursor);
  expect(cursor, "end", "the end of the override", quoteHint);
  return { type, key, value };
}

function parseType(cursor: Cursor): OverrideType {
  if (takeIf(cursor, "tilde") !== null) return "delete";
  if (takeIf(cursor, "plus") === null) return "change";
  return takeIf(cursor, "plus") === null ? "add" : "force_add";
}

/**
 * Consumes the `:` of `key:=value`, which replaces what the key has instead of merging into it.
 *
 * @see https://github.com/facebookresearch/hydra/issues/2227
 */
function isReplaced(cursor: Cursor, operator: OverrideType, key: KeySyntax): boolean {
  if (!areExtensionsOn(cursor) || peek(cursor).kind !== "colon") return false;
  if (peekSecond(cursor).kind !== "equal" || key.package !== undefined || key.keyOrGroup === "")
    return false;
  if (operator !== "change") {
    const plain = cursor.source.text.replace(/^[+~]+/, "");
    refuse(cursor, "'='", corrected("':=' takes no '+', '++' or '~' before the key", plain));
  }
  take(cursor);
  return true;
}

const areExtensionsOn = ({ source }: Cursor): boolean =>
  (source.dialect ?? DEFAULT_DIALECT).extendsOverrides;

function expectKey(cursor: Cursor): void {
  const { kind } = peek(cursor);
  if (isKeyName(kind) || mayFollowKey(kind)) return;
  const unrooted = cursor.source.text.replace(/^([+~]*)\/+/, "$1");
  refuse(
    cursor,
    "a key",
    kind === "slash" ? corrected("write the group without a leading '/'", unrooted) : undefined,
  );
}

const isPackageName = (kind: TokenKind) => kind === "id" || kind === "special" || kind === "path";

const isKeyName = (kind: TokenKind) => isPackageName(kind) || kind === "access";

const mayFollowKey = (kind: TokenKind) => kind === "at" || kind === "equal" || kind === "end";

/** `key`, `group/sub`, `group@package`; key and package may be empty. */
export function parseKey(cursor: Cursor): KeySyntax {
  if (peek(cursor).kind === "access") return { keyOrGroup: textOf(cursor, take(cursor)) };
  const keyOrGroup = parsePackageOrGroup(cursor);
  if (takeIf(cursor, "at") === null) return { keyOrGroup };
  return { keyOrGroup, package: parsePackage(cursor) };
}

export function parsePackageOrGroup(cursor: Cursor): string {
  if (peek(cursor).kind !== "id" || peekSecond(cursor).kind !== "slash")
    return parsePackage(cursor);
  const start = take(cursor).start;
  let end = start;
  while (takeIf(cursor, "slash") !== null)
    end = expect(cursor, "id", "the name of a group after '/'", wordHint).end;
  return textOf(cursor, { start, end });
}

export function parsePackage(cursor: Cursor): string {
  const { kind } = peek(cursor);
  if (isPackageName(kind)) return textOf(cursor, take(cursor));
  if (mayFollowKey(kind)) return "";
  cursor.predicting = true;
  return refuse(cursor, "a key");
}

const emptyValue = ({ position }: Cursor): ElementSyntax => ({
  kind: "scalar",
  value: "",
  span: { start: position, end: position },
});

export function parseValue(cursor: Cursor): ValueSyntax {
  cursor.predicting = opensContainer(cursor);
  const first = parseElement(cursor);
  cursor.predicting = false;
  if (first.kind === "call" && areExtensionsOn(cursor)) {
    const joined = restOfUnion(cursor, first);
    if (joined !== undefined) return joined;
  }
  return peek(cursor).kind === "comma" ? restOfSimpleChoice(cursor, first) : first;
}

/** The part after the first call of `choice(a)+range(3)`; undefined if no `+` follows. */
function restOfUnion(cursor: Cursor, first: CallSyntax, depth = 0): UnionSyntax | undefined {
  const parts = [first];
  while (isPlus(cursor)) {
    takeIf(cursor, "blank");
    const { end, kind } = peek(cursor);
    if (kind !== "char") refuse(cursor, "a sweep after '+'", JOINS_SWEEPS);
    take(cursor);
    takeIf(cursor, "blank");
    if (peek(cursor).kind !== "id" || peekSecond(cursor).kind !== "parenthesis_open")
      throw syntaxError(cursor.source, { start: end - 1, end }, "no sweep after '+'", JOINS_SWEEPS);
    parts.push(parseCall(cursor, depth));
  }
  const { start } = first.span;
  return parts.length === 1
    ? undefined
    : { kind: "union", parts, span: { start, end: parts.at(-1)?.span.end ?? start } };
}

const JOINS_SWEEPS = saying(
  "'+' joins sweeps, like choice(1,2)+choice(5); a single value is choice(5)",
);

/** Whether the next token begins with a `+`, perhaps after a blank. */
function isPlus(cursor: Cursor): boolean {
  const next = peek(cursor);
  const token = next.kind === "blank" ? peekSecond(cursor) : next;
  return token.kind !== "end" && textOf(cursor, token).startsWith("+");
}

function opensContainer(cursor: Cursor): boolean {
  const { kind } = peek(cursor);
  if (kind === "id") return peekSecond(cursor).kind === "parenthesis_open";
  return kind === "bracket_open" || kind === "brace_open";
}

/** `a,b,…`: at least two elements. */
function restOfSimpleChoice(cursor: Cursor, first: ElementSyntax): SimpleChoiceSyntax {
  const items = [first];
  expect(cursor, "comma", "','");
  do items.push(parseElement(cursor));
  while (takeIf(cursor, "comma") !== null);
  return { kind: "choices", items, span: { start: first.span.start, end: cursor.position } };
}

export function parseElement(cursor: Cursor, depth = 0): ElementSyntax {
  const { kind } = peek(cursor);
  if (kind === "bracket_open") return parseList(cursor, depth);
  if (kind === "brace_open") return parseDict(cursor, depth);
  if (kind === "id" && peekSecond(cursor).kind === "parenthesis_open")
    return parseCall(cursor, depth);
  return parsePrimitive(cursor);
}

export function parseList(cursor: Cursor, depth = 0): ListSyntax {
  const { start } = expect(cursor, "bracket_open", "'['");
  const items: ElementSyntax[] = [];
  if (peek(cursor).kind !== "bracket_close")
    do items.push(parseElement(cursor, deeper(cursor, start, depth)));
    while (takeIf(cursor, "comma") !== null);
  const { end } = expectClosing(cursor, "bracket_close", "',' or ']'", items);
  return { kind: "list", items, span: { start, end } };
}

export function parseDict(cursor: Cursor, depth = 0): DictSyntax {
  const { start } = expect(cursor, "brace_open", "'{'");
  const entries: DictSyntax["entries"][number][] = [];
  if (peek(cursor).kind !== "brace_close")
    do entries.push(parseEntry(cursor, deeper(cursor, start, depth)));
    while (takeIf(cursor, "comma") !== null);
  const { end } = expectClosing(cursor, "brace_close", "',' or '}'", entries);
  return { kind: "dict", entries, span: { start, end } };
}

function parseEntry(cursor: Cursor, depth: number): DictSyntax["entries"][number] {
  const { kind } = peek(cursor);
  if (kind === "quoted") refuse(cursor, "a key without quotes");
  if (!isPrimitivePart(kind) || kind === "colon" || kind === "interpolation")
    refuse(cursor, "a key");
  const key = primitiveKey(cursor);
  expect(cursor, "colon", "':' after the key");
  return [key, parseElement(cursor, depth)];
}

/** `name(value,name=value)`. Whether the function exists is checked when it is evaluated. */
export function parseCall(cursor: Cursor, depth = 0): CallSyntax {
  const token = expect(cursor, "id", "the name of a function");
  const name = textOf(cursor, token);
  expect(cursor, "parenthesis_open", "'('");
  if (FUNCTIONS.get(name)?.parameters.columns !== undefined)
    return restOfColumns(cursor, name, token.start, depth);
  const args: ArgumentSyntax[] = [];
  if (peek(cursor).kind !== "parenthesis_close")
    do args.push(parseArgument(cursor, deeper(cursor, token.start, depth)));
    while (takeIf(cursor, "comma") !== null);
  const { end } = expectClosing(cursor, "parenthesis_close", "',' or ')'", args);
  return { kind: "call", name, arguments: args, span: { start: token.start, end } };
}

/** The part after `zip(`: `+db@backup=choice(a,b),lr=choice(1,2))`. */
function restOfColumns(cursor: Cursor, name: string, start: number, depth: number): CallSyntax {
  const columns: ColumnSyntax[] = [];
  const inner = deeper(cursor, start, depth);
  if (peek(cursor).kind !== "parenthesis_close")
    do columns.push(parseColumn(cursor, inner, columns.at(-1)));
    while (takeIf(cursor, "comma") !== null);
  const { end } = expect(cursor, "parenthesis_close", "',' or ')'");
  return { kind: "call", name, arguments: [], columns, span: { start, end } };
}

/**
 * The key is parsed like that of an override.
 * @param previous the preceding column
 */
function parseColumn(cursor: Cursor, depth: number, previous?: ColumnSyntax): ColumnSyntax {
  const start = cursor.position;
  const { key, type } = parseColumnKey(cursor, previous);
  readAgain(cursor, "value");
  const element = parseElement(cursor, depth);
  const value =
    (element.kind === "call" ? restOfUnion(cursor, element, depth) : undefined) ?? element;
  return { type, key, value, span: { start, end: value.span.end } };
}

/**
 * Text that is no key may be another value of the preceding column, written as in a sweep of its own:
 * `zip(lr=1,2,...)`.
 */
function parseColumnKey(cursor: Cursor, previous: ColumnSyntax | undefined) {
  try {
    return readColumnKey(cursor);
  } catch (error) {
    if (!isConfigError(error) || previous === undefined || previous.value.kind === "call")
      throw error;
    const column = cursor.source.text.slice(previous.span.start, previous.span.end);
    const hint = `put the values of a key into a choice: ${column.replace("=", "=choice(")},...)`;
    throw new ConfigError({ ...error.details, ...saying(hint) });
  }
}

function readColumnKey(cursor: Cursor): Pick<ColumnSyntax, "key" | "type"> {
  if (opensContainer(cursor)) refuse(cursor, "KEY=SWEEP");
  readAgain(cursor, "key");
  const type = parseType(cursor);
  if (type === "delete" || !isKeyName(peek(cursor).kind)) refuse(cursor, "a key to sweep");
  const key = parseKey(cursor);
  expect(cursor, "equal", "'='");
  return { type, key };
}

function parseArgument(cursor: Cursor, depth: number): ArgumentSyntax {
  if (peek(cursor).kind !== "id" || peekSecond(cursor).kind !== "equal")
    return { value: parseElement(cursor, depth) };
  const name = textOf(cursor, take(cursor));
  take(cursor);
  return { name, value: parseElement(cursor, depth) };
}

function deeper(cursor: Cursor, start: number, depth: number): number {
  if (depth < MAX_DEPTH) return depth + 1;
  const span: Span = { start, end: cursor.position };
  throw syntaxError(cursor.source, span, `nested more than ${MAX_DEPTH} levels deep`);
}

/** The tokens of an unquoted value. Dict keys consist of the same without the last two. */
const PARTS: ReadonlySet<TokenKind> = new Set<TokenKind>([
  "id",
  "null",
  "int",
  "float",
  "bool",
  "char",
  "escape",
  "blank",
  "colon",
  "interpolation",
]);

const isPrimitivePart = (kind: TokenKind): boolean => PARTS.has(kind);

/** A quoted string, or an unquoted value: one typed token, or several that make a string. */
export function parsePrimitive(cursor: Cursor): ScalarElement {
  const { kind } = peek(cursor);
  if (isPrimitivePart(kind)) return unquotedElement(cursor, takeWhile(cursor, isPrimitivePart));
  if (kind !== "quoted") refuse(cursor, "a value");
  const span = take(cursor);
  const text = textOf(cursor, span);
  const quote: Quote = text.startsWith("'") ? "'" : '"';
  return { kind: "scalar", value: unquote(text), quote, span };
}

function primitiveKey(cursor: Cursor): Key {
  const isKeyPart = (kind: TokenKind) =>
    isPrimitivePart(kind) && kind !== "colon" && kind !== "interpolation";
  return unquotedElement(cursor, takeWhile(cursor, isKeyPart)).value;
}

function takeWhile(cursor: Cursor, accepts: (kind: TokenKind) => boolean): readonly Token[] {
  const tokens = [take(cursor)];
  while (accepts(peek(cursor).kind)) tokens.push(take(cursor));
  return tokens;
}

/** Blanks around the value do not belong to it; `blank` tokens inside do. */
function unquotedElement(cursor: Cursor, tokens: readonly Token[]): ScalarElement {
  const from = tokens[0]?.kind === "blank" ? 1 : 0;
  const to = tokens.length - (tokens.length > from && tokens.at(-1)?.kind === "blank" ? 1 : 0);
  const parts = tokens.length === to && from === 0 ? tokens : tokens.slice(from, to);
  const [first] = parts;
  if (first === undefined) throw onlyBlanks(cursor, tokens);
  const end = parts.at(-1)?.end ?? first.end;
  const value =
    parts.length === 1
      ? tokenValue(cursor, first)
      : parts.map((token) => tokenText(cursor, token)).join("");
  return { kind: "scalar", value, span: { start: first.start, end } };
}

function tokenText(cursor: Cursor, token: Token): string {
  const text = textOf(cursor, token);
  return token.kind === "escape" ? unescapeUnquoted(text) : text;
}

function tokenValue(cursor: Cursor, token: Token): ElementScalar {
  const text = tokenText(cursor, token);
  switch (token.kind) {
    case "null":
      return null;
    case "bool":
      return text.toLowerCase() === "true";
    case "int":
      return parsePythonInt(text) ?? refuseInt(cursor, token);
    case "float":
      return parsePythonFloat(text) ?? text;
    default:
      return text;
  }
}

/** Python limits the number of digits that it converts. */
function refuseInt(cursor: Cursor, token: Token): never {
  throw syntaxError(cursor.source, token, "an int of more than 4300 digits");
}

function onlyBlanks(cursor: Cursor, tokens: readonly Token[]) {
  const span = { start: tokens[0]?.start ?? 0, end: cursor.position };
  return syntaxError(cursor.source, span, "a value of only spaces");
}
