/** The parser of interpolations and of arguments of resolvers. */

import { DEFAULT_DIALECT, type Dialect } from "../dialect.ts";
import { ConfigError, isConfigError } from "../errors.ts";
import { referenceKey } from "../key-path.ts";
import type { ConfigNode, ScalarNode } from "../node.ts";
import type {
  Argument,
  DictElement,
  Element,
  Interpolation,
  InterpolationAst,
  ListElement,
  PrimitiveElement,
  Reference,
  Sequence,
  StaticReference,
  TextElement,
  TextPart,
} from "./interpolation-ast.ts";
import {
  accept,
  type Cursor,
  descend,
  endOf,
  expect,
  next,
  openCursor,
  peek,
  placeSyntaxError,
  primitive,
  primitiveText,
  type TextKind,
  type Token,
  type TokenKind,
  unescapeText,
  unexpected,
  withInterpolationClosed,
} from "./interpolation-lexer.ts";

/** Whether a string may contain interpolations. An escaped one counts, since its escape must be removed. */
const hasInterpolation = (text: string): boolean => text.includes("${");

/**
 * Parses a text that contains interpolations, by OmegaConf's grammar
 * (https://omegaconf.readthedocs.io/en/2.3_branch/grammar.html).
 * @param references shared with other texts
 * @throws ConfigError `interpolation.syntax`
 */
export function parseInterpolation(
  text: string,
  dialect: Dialect = DEFAULT_DIALECT,
  references?: Map<string, StaticReference>,
): InterpolationAst {
  try {
    return readInterpolation(text, dialect, references);
  } catch (error) {
    if (!isConfigError(error)) throw error;
    const isValid = (other: string) => isInterpolation(other, dialect);
    throw withBracesClosed(error, text, isValid) ?? withArgumentQuoted(error, text, isValid);
  }
}

/** Whether a text that contains interpolations can be parsed. */
export function isInterpolation(text: string, dialect: Dialect): boolean {
  try {
    readInterpolation(text, dialect);
    return true;
  } catch (error) {
    if (isConfigError(error)) return false;
    throw error;
  }
}

/** The error with the hint to close the interpolation, if that is all that is wrong. */
function withBracesClosed(
  error: ConfigError,
  text: string,
  isValid: (text: string) => boolean,
): ConfigError | undefined {
  const closed = withInterpolationClosed(text);
  return closed !== text && isValid(closed)
    ? new ConfigError({ ...error.details, hint: `close the interpolation: write ${closed}` })
    : undefined;
}

/** The error with the hint to quote the argument of a resolver, if that is all that is wrong. */
function withArgumentQuoted(
  error: ConfigError,
  text: string,
  isValid: (text: string) => boolean,
): ConfigError {
  const { origin } = error.details;
  if (origin?.kind !== "file" || origin.source.text !== text) return error;
  const start = Math.max(...[",", ":"].map((mark) => text.lastIndexOf(mark, origin.start - 1))) + 1;
  const length = /^[^,{}'"]*/.exec(text.slice(start))?.[0].length ?? 0;
  const argument = text.slice(start, start + length);
  if (start === 0 || argument.trim() === "") return error;
  const blank = /^\s*/.exec(argument)?.[0] ?? "";
  const quoted = `${text.slice(0, start)}${blank}'${argument.trim()}'${text.slice(start + length)}`;
  return isValid(quoted)
    ? new ConfigError({ ...error.details, hint: `put the argument in quotes: ${quoted}` })
    : error;
}

function readInterpolation(
  text: string,
  dialect: Dialect,
  references?: Map<string, StaticReference>,
): InterpolationAst {
  const cursor = openCursor(text, "text", dialect, references);
  const parts = parseText(cursor, "free");
  if (parts.length === 0) throw unexpected(cursor, "an empty text");
  expect(cursor, "end");
  return { kind: "text", parts };
}

/**
 * Parses one element of the grammar of resolver arguments, as `oc.decode` does.
 * @throws ConfigError `interpolation.syntax`
 */
export function parseElement(text: string, dialect: Dialect = DEFAULT_DIALECT): Element {
  const cursor = openCursor(text, "arguments", dialect);
  const element = parseOneElement(cursor);
  expect(cursor, "end");
  return element;
}

const TEXT_TOKENS: ReadonlySet<TokenKind> = new Set<TokenKind>([
  "open",
  "literal",
  "escaped",
  "escaped-interpolation",
  "backslashes",
]);

function parseText(cursor: Cursor, kind: TextKind): readonly TextPart[] {
  const parts: TextPart[] = [];
  while (TEXT_TOKENS.has(peek(cursor).kind)) {
    if (peek(cursor).kind === "open") parts.push(parseInterpolationAt(cursor));
    else appendLiteral(parts, unescapeText(next(cursor), peek(cursor), kind));
  }
  return trimmed(parts);
}

/** Copies an array to its exact size: a grown array has spare capacity, and many parsed texts are kept for long. */
const trimmed = <T>(grown: readonly T[]): readonly T[] => grown.slice();

function parseInterpolationAt(cursor: Cursor): Interpolation {
  descend(cursor);
  expect(cursor, "open");
  const parts: (string | Interpolation)[] = [];
  const leading = parseKeyComponents(cursor, parts);
  const node = accept(cursor, "close")
    ? reference(cursor, parts)
    : parseResolver(cursor, resolverName(cursor, parts, leading));
  cursor.depth--;
  return node;
}

function reference(cursor: Cursor, parts: readonly (string | Interpolation)[]): Reference {
  if (!parts.every((part) => typeof part === "string"))
    return { kind: "reference", parts: trimmed(parts) };
  const key = parts.join("");
  const cached = cursor.references.get(key);
  if (cached !== undefined) return cached;
  const { levels, rest, components } = referenceKey(key, cursor.dialect);
  const fresh = { kind: "reference", levels, rest, components } as const;
  cursor.references.set(key, fresh);
  return fresh;
}

/** Reads dots, keys and brackets. Returns whether the result could also be the name of a resolver. */
function parseKeyComponents(cursor: Cursor, parts: (string | Interpolation)[]): boolean {
  let couldBeName = true;
  while (accept(cursor, "dot")) {
    parts.push(".");
    couldBeName = false;
  }
  couldBeName = parseFirstComponent(cursor, parts) && couldBeName;
  for (;;) {
    if (accept(cursor, "dot")) {
      parts.push(".");
      couldBeName = parseComponent(cursor, parts) && couldBeName;
    } else if (peek(cursor).kind === "list-open") {
      parseBracketed(cursor, parts);
      couldBeName = false;
    } else return couldBeName;
  }
}

function parseFirstComponent(cursor: Cursor, parts: (string | Interpolation)[]): boolean {
  if (peek(cursor).kind !== "list-open") return parseComponent(cursor, parts);
  parseBracketed(cursor, parts);
  return false;
}

function parseBracketed(cursor: Cursor, parts: (string | Interpolation)[]): void {
  expect(cursor, "list-open");
  parts.push("[");
  parseComponent(cursor, parts);
  expect(cursor, "list-close");
  parts.push("]");
}

function parseComponent(cursor: Cursor, parts: (string | Interpolation)[]): boolean {
  const { kind } = peek(cursor);
  if (kind === "open") {
    parts.push(parseInterpolationAt(cursor));
    return true;
  }
  if (kind !== "id" && kind !== "key") throw unexpected(cursor, "expected a key");
  // A colon separates no components, so its escape is undone here.
  parts.push(next(cursor).text.replaceAll("\\:", ":"));
  return kind === "id";
}

function resolverName(
  cursor: Cursor,
  parts: readonly (string | Interpolation)[],
  couldBeName: boolean,
): readonly (string | Interpolation)[] {
  if (peek(cursor).kind !== "colon") throw unexpected(cursor, "expected '.', '[' or '}'");
  if (!couldBeName) throw unexpected(cursor, "a resolver's name cannot hold this key");
  return parts.filter((part) => part !== ".");
}

function parseResolver(cursor: Cursor, name: readonly (string | Interpolation)[]): Interpolation {
  expect(cursor, "colon");
  const args = parseSequence(cursor, "dict-close");
  expect(cursor, "dict-close");
  return { kind: "resolver", name, args };
}

const EMPTY: Argument = { value: { kind: "primitive", value: "" }, source: "" };

function parseSequence(cursor: Cursor, close: TokenKind): Sequence {
  const args: Argument[] = [];
  const first = peek(cursor);
  if (first.kind === close) return { args };
  do {
    const { kind, start } = peek(cursor);
    if (kind === "comma" || kind === close) args.push(EMPTY);
    else {
      const value = parseOneElement(cursor);
      args.push({ value, source: cursor.text.slice(start, endOf(cursor)) });
    }
  } while (accept(cursor, "comma"));
  if (!args.includes(EMPTY)) return { args };
  return { args, incomplete: cursor.text.slice(first.start, endOf(cursor)) };
}

function parseOneElement(cursor: Cursor): Element {
  descend(cursor);
  const element = parseElementAt(cursor);
  cursor.depth--;
  return element;
}

function parseElementAt(cursor: Cursor): Element {
  switch (peek(cursor).kind) {
    case "quote-open":
      return parseQuoted(cursor);
    case "list-open":
      return parseList(cursor);
    case "dict-open":
      return parseDict(cursor);
    default:
      return parsePrimitive(cursor);
  }
}

function parseQuoted(cursor: Cursor): TextElement {
  expect(cursor, "quote-open");
  const parts = parseText(cursor, "quoted");
  expect(cursor, "quote-close");
  return { kind: "text", parts };
}

function parseList(cursor: Cursor): ListElement {
  expect(cursor, "list-open");
  const items = parseSequence(cursor, "list-close");
  expect(cursor, "list-close");
  return { kind: "list", items };
}

function parseDict(cursor: Cursor): DictElement {
  expect(cursor, "dict-open");
  const entries: (readonly [PrimitiveElement, Element])[] = [];
  if (accept(cursor, "dict-close")) return { kind: "dict", entries };
  do {
    const key = parseDictKey(cursor);
    expect(cursor, "colon");
    entries.push([key, parseOneElement(cursor)]);
  } while (accept(cursor, "comma"));
  expect(cursor, "dict-close");
  return { kind: "dict", entries };
}

const KEY_TOKENS: ReadonlySet<TokenKind> = new Set<TokenKind>([
  "id",
  "null",
  "int",
  "float",
  "bool",
  "symbol",
  "escaped",
  "blank",
]);

function parseDictKey(cursor: Cursor): PrimitiveElement {
  const tokens: Token[] = [];
  while (KEY_TOKENS.has(peek(cursor).kind)) tokens.push(next(cursor));
  const [only] = tokens;
  if (only === undefined) throw unexpected(cursor, "expected a key");
  if (tokens.length === 1) return primitive(cursor.text, only);
  return { kind: "primitive", value: tokens.map(primitiveText).join("") };
}

/** A run of tokens and interpolations: a single one keeps its own type, several become one string. */
function parsePrimitive(cursor: Cursor): Element {
  const run: (Token | Interpolation)[] = [];
  for (;;) {
    const { kind } = peek(cursor);
    if (kind === "open") run.push(parseInterpolationAt(cursor));
    else if (KEY_TOKENS.has(kind) || kind === "colon") run.push(next(cursor));
    else break;
  }
  const [only] = run;
  if (only === undefined) throw unexpected(cursor, "expected a value");
  if (run.length === 1) return isToken(only) ? primitive(cursor.text, only) : only;
  const parts: TextPart[] = [];
  for (const item of run) {
    if (isToken(item)) appendLiteral(parts, primitiveText(item));
    else parts.push(item);
  }
  return { kind: "text", parts };
}

function appendLiteral(parts: TextPart[], text: string): void {
  const last = parts.at(-1);
  if (last?.kind === "literal")
    parts[parts.length - 1] = { kind: "literal", text: last.text + text };
  else parts.push({ kind: "literal", text });
}

const isToken = (item: Token | Interpolation): item is Token => "text" in item;

/** A scalar whose text contains interpolations. */
export interface InterpolationNode extends ScalarNode {
  readonly value: string;
}

export const isInterpolationNode = (node: ConfigNode): node is InterpolationNode =>
  node.kind === "scalar" && typeof node.value === "string" && hasInterpolation(node.value);

/** Nodes are immutable and shared between trees, so each is parsed at most once. */
const parsed = new WeakMap<ScalarNode, InterpolationAst>();

/**
 * Parse results that equal texts and equal references of one tree share. A large tree repeats itself, and resolving it
 * is faster the more of it fits into the processor's caches.
 */
export interface SharedTexts {
  readonly texts: Map<string, InterpolationAst>;
  readonly references: Map<string, StaticReference>;
}

export const createSharedTexts = (): SharedTexts => ({ texts: new Map(), references: new Map() });

/**
 * The parsed interpolation of a node. A syntax error points into the text that the node was read from.
 * @throws ConfigError `interpolation.syntax`
 */
export function parseNode(
  node: InterpolationNode,
  dialect: Dialect,
  shared?: SharedTexts,
): InterpolationAst {
  const cached = parsed.get(node);
  if (cached !== undefined) return cached;
  const ast = shared?.texts.get(node.value) ?? parseTextOfNode(node, dialect, shared);
  shared?.texts.set(node.value, ast);
  parsed.set(node, ast);
  return ast;
}

function parseTextOfNode(
  node: InterpolationNode,
  dialect: Dialect,
  shared: SharedTexts | undefined,
): InterpolationAst {
  try {
    return parseInterpolation(node.value, dialect, shared?.references);
  } catch (error) {
    throw placeSyntaxError(error, node.value, node.origin);
  }
}

/**
 * Refuses a text whose interpolations have invalid syntax, as OmegaConf does when a value enters a config. OmegaConf
 * first tries a pattern that accepts some texts which its grammar refuses (`${:x}`, line breaks within the braces):
 * those may stand in a config, and fail when they are resolved. The pattern matches most interpolations, so they are
 * not parsed here.
 * @param parse throws for a text that the grammar refuses
 * @throws ConfigError `interpolation.syntax`
 */
export function checkSyntax(
  text: string,
  dialect: Dialect,
  parse: () => unknown = () => parseInterpolation(text, dialect),
) {
  if (!LOOKS_COMMON.test(text)) parse();
}

/** The ASCII characters that `\s` matches in Python. */
const BLANKS = "[ \\t-\\r]*";
const REFERENCE = "\\.*(?:[$\\w]+|\\[[$\\w]+\\])(?:\\.[$\\w]+|\\[[$\\w]+\\])*";
const NAME = "[A-Za-z_][\\w-]*(?:\\.[A-Za-z_][\\w-]*)*";
const ARGUMENT = "[\\w/+.$%*@?|-]+";
const CALL = `(?:${NAME}${BLANKS})?:${BLANKS}${ARGUMENT}(?:${BLANKS},${BLANKS}${ARGUMENT})*`;
const LITERAL = "(?:[^$]|\\$(?!\\{))*";
const LOOKS_COMMON = new RegExp(
  `^${LITERAL}(?:\\$\\{${BLANKS}(?:${REFERENCE}|${CALL})${BLANKS}\\}${LITERAL})+$`,
);
