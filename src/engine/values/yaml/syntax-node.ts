/** The syntax tree of a YAML document, with tags resolved and aliases replaced. */
import type { SourceText } from "../origin.ts";
import { yamlError } from "./cursor.ts";
import type { Scanner } from "./scanner.ts";
import type { ScalarToken, TagToken } from "./tokens.ts";

/**
 * The parser's result: nodes with resolved tags, aliases replaced. An alias is the node of its anchor, so that this is
 * a graph, possibly with cycles.
 */
export type SyntaxNode = ScalarSyntax | SequenceSyntax | MappingSyntax;

interface SyntaxBase {
  /** The full tag, e.g. `tag:yaml.org,2002:int`. */
  readonly tag: string;
  readonly start: number;
  readonly end: number;
}

interface ScalarSyntax extends SyntaxBase {
  readonly kind: "scalar";
  readonly value: string;
}

export interface SequenceSyntax extends SyntaxBase {
  readonly kind: "sequence";
  readonly items: readonly SyntaxNode[];
}

export interface MappingSyntax extends SyntaxBase {
  readonly kind: "mapping";
  readonly pairs: readonly SyntaxPair[];
}

export interface SyntaxPair {
  readonly key: SyntaxNode;
  readonly value: SyntaxNode;
}

const STANDARD = "tag:yaml.org,2002:";

/** The standard tags, which nodes have without being written. */
export const TAG = {
  string: `${STANDARD}str`,
  integer: `${STANDARD}int`,
  float: `${STANDARD}float`,
  boolean: `${STANDARD}bool`,
  null: `${STANDARD}null`,
  merge: `${STANDARD}merge`,
  value: `${STANDARD}value`,
  sequence: `${STANDARD}seq`,
  mapping: `${STANDARD}map`,
} as const;

export const DEFAULT_TAG_HANDLES: ReadonlyMap<string, string> = new Map([
  ["!", "!"],
  ["!!", STANDARD],
]);

/** YAML 1.1's integers: binary, octal with a leading 0, decimal, hexadecimal, sexagesimal. */
const INTEGER =
  /^(?:[-+]?0b[01_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$/;

/** PyYAML's floats: an exponent needs a fraction and a sign. */
const YAML_FLOAT =
  /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/** OmegaConf's additional floats: exponents without fraction or sign, e.g. `1e3`. */
const OMEGACONF_FLOAT =
  /^(?:[-+]?[0-9]+(?:_[0-9]+)*(?:\.[0-9_]*)?[eE][-+]?[0-9]+|\.[0-9]+(?:_[0-9]+)*[eE][-+][0-9]+)$/;

const BOOLEAN = /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/;

/** The rules for implicit tags of plain scalars. */
export type Dialect = "omegaconf" | "pyyaml";

const TIMESTAMP =
  /^(?:\d\d\d\d-\d\d-\d\d|\d\d\d\d-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?)$/;

/**
 * The implicit tag of an unquoted scalar. OmegaConf's loader reads `1e3` as a float and no
 * timestamps; PyYAML's own dialect decides whether a written string needs quotes.
 */
export function plainTag(text: string, dialect: Dialect): string {
  const first = text.charCodeAt(0);
  // Most scalars are words, whose first letter excludes all other types.
  if (first >= 0x30 && first <= 0x39) return numberTag(text, dialect);
  switch (text[0]) {
    case "-":
    case "+":
    case ".":
      return numberTag(text, dialect);
    case undefined:
    case "~":
      return text.length < 2 ? TAG.null : TAG.string;
    case "n":
    case "N":
      if (text === "null" || text === "Null" || text === "NULL") return TAG.null;
      return BOOLEAN.test(text) ? TAG.boolean : TAG.string;
    case "y":
    case "Y":
    case "t":
    case "T":
    case "f":
    case "F":
    case "o":
    case "O":
      return text.length < 6 && BOOLEAN.test(text) ? TAG.boolean : TAG.string;
    case "<":
      return text === "<<" ? TAG.merge : TAG.string;
    case "=":
      return text === "=" ? TAG.value : TAG.string;
    default:
      return TAG.string;
  }
}

function numberTag(text: string, dialect: Dialect): string {
  // Python's `$` also matches before a final line break, but no plain scalar has one.
  if (INTEGER.test(text)) return TAG.integer;
  if (YAML_FLOAT.test(text)) return TAG.float;
  if (dialect === "omegaconf") return OMEGACONF_FLOAT.test(text) ? TAG.float : TAG.string;
  return TIMESTAMP.test(text) ? "tag:yaml.org,2002:timestamp" : TAG.string;
}

/** Tag handles such as `!!`, with the prefixes that they stand for. */
export type TagHandles = ReadonlyMap<string, string>;

/** The anchor and tag of a node. */
export interface Properties {
  readonly anchor: string | null;
  /** With null or `!`, the content determines the tag. */
  readonly tag: string | null;
  /** Offset of the properties; -1 without any. */
  readonly start: number;
}

export const NO_PROPERTIES: Properties = { anchor: null, tag: null, start: -1 };

/** Reads an anchor and a tag, in either order. */
export function readProperties(
  source: SourceText,
  { peek, next }: Scanner,
  handles: TagHandles,
): Properties {
  const { start } = peek();
  let anchor: string | null = null;
  let tag: TagToken | null = null;
  while (anchor === null || tag === null) {
    const token = peek();
    if (token.type === "<anchor>" && anchor === null) anchor = token.name;
    else if (token.type === "<tag>" && tag === null) tag = token;
    else break;
    next();
  }
  return { anchor, tag: tag === null ? null : fullTag(source, tag, handles), start };
}

function fullTag(source: SourceText, token: TagToken, handles: TagHandles): string {
  if (token.handle === null) return token.suffix;
  const prefix = handles.get(token.handle);
  if (prefix !== undefined) return prefix + token.suffix;
  throw yamlError(source, {
    context: "while parsing a node",
    problem: `found undefined tag handle '${token.handle}'`,
    start: token.start,
    end: token.end,
  });
}

/** A scalar with its tag: explicit, implicit by its plain text, or string. */
export function scalarNode(
  { tag }: Properties,
  { value, plain }: Pick<ScalarToken, "value" | "plain">,
  start: number,
  end: number,
): ScalarSyntax {
  if (tag !== null && tag !== "!") return { kind: "scalar", tag, value, start, end };
  // A lone `!` makes even a quoted scalar count as plain.
  const implicit = plain || tag === "!";
  const resolved = implicit ? plainTag(value, "omegaconf") : TAG.string;
  return { kind: "scalar", tag: resolved, value, start, end };
}

/** Missing content is an empty plain scalar. */
export const emptyScalar = (start: number): ScalarSyntax => ({
  kind: "scalar",
  tag: TAG.null,
  value: "",
  start,
  end: start,
});

/** The tag of a list or mapping. */
export const collectionTag = ({ tag }: Properties, implicit: string): string =>
  tag === null || tag === "!" ? implicit : tag;
