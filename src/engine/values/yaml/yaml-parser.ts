/** The parser of YAML 1.1: tokens to a tree of syntax nodes. */
import { MAX_TREE_DEPTH } from "../node.ts";
import type { SourceText } from "../origin.ts";
import { yamlError } from "./cursor.ts";
import { wrongDash } from "./dash-hint.ts";
import type { Scanner } from "./scanner.ts";
import {
  collectionTag,
  DEFAULT_TAG_HANDLES,
  emptyScalar,
  type MappingSyntax,
  NO_PROPERTIES,
  type Properties,
  readProperties,
  type SequenceSyntax,
  type SyntaxNode,
  type SyntaxPair,
  scalarNode,
  TAG,
  type TagHandles,
} from "./syntax-node.ts";
import type { NameToken, Token, TokenType } from "./tokens.ts";

const ENDS_DOCUMENT: ReadonlySet<TokenType> = new Set([
  "<directive>",
  "<document start>",
  "<document end>",
  "<stream end>",
]);

export interface ParsedDocument {
  readonly root: SyntaxNode;
  /** Whether aliases share nodes; otherwise the graph is a tree. */
  readonly hasAliases: boolean;
}

/** The root node of a text with one document, or null for a text without any. */
export function parseDocument(
  source: SourceText,
  scanner: Scanner,
  libyaml = false,
): ParsedDocument | null {
  const first = scanner.peek().type;
  if (first === "<stream end>") return null;
  const explicit = first === "<directive>" || first === "<document start>";
  const handles = explicit ? startDocument(source, scanner) : DEFAULT_TAG_HANDLES;
  const parser = createNodeParser(source, scanner, handles, libyaml);
  const { type, start } = scanner.peek();
  const root = explicit && ENDS_DOCUMENT.has(type) ? emptyScalar(start) : parser.node("block");
  endDocument(source, scanner, root);
  return { root, hasAliases: parser.hasAliases };
}

/** Reads directives and `---`; returns the tag handles of the document. */
function startDocument(source: SourceText, scanner: Scanner): TagHandles {
  const tagHandles = readDirectives(source, scanner);
  const token = scanner.peek();
  if (token.type !== "<document start>") throw expectedDocumentStart(source, token);
  scanner.next();
  return new Map([...DEFAULT_TAG_HANDLES, ...tagHandles]);
}

/** The tag handles that directives declare. */
function readDirectives(source: SourceText, { peek, next }: Scanner): TagHandles {
  let sawVersion = false;
  const handles = new Map<string, string>();
  for (let token = peek(); token.type === "<directive>"; token = peek()) {
    next();
    if (token.name === "TAG") {
      if (handles.has(token.handle))
        throw problemAt(source, token, `duplicate tag handle '${token.handle}'`);
      handles.set(token.handle, token.prefix);
    } else if (token.name === "YAML") {
      if (sawVersion) throw problemAt(source, token, "found duplicate YAML directive");
      if (!token.isSupported)
        throw problemAt(
          source,
          token,
          "found incompatible YAML document (version 1.* is required)",
        );
      sawVersion = true;
    }
  }
  return handles;
}

/** After the document: document end markers, and no second document. */
function endDocument(source: SourceText, scanner: Scanner, root: SyntaxNode): void {
  while (scanner.peek().type === "<document end>") scanner.next();
  const token = scanner.peek();
  if (token.type === "<stream end>") return;
  // An error in the head of a second document takes precedence over the error about the document itself.
  if (token.type === "<directive>") startDocument(source, scanner);
  else if (token.type !== "<document start>") throw expectedDocumentStart(source, token);
  throw yamlError(source, {
    context: "expected a single document in the stream",
    contextStart: root.start,
    problem: "but found another document",
    start: token.start,
    end: token.end,
  });
}

const expectedDocumentStart = (source: SourceText, token: Token) =>
  problemAt(source, token, `expected '<document start>', but found '${token.type}'`);

const problemAt = (source: SourceText, { start, end }: Token, problem: string) =>
  yamlError(source, { problem, start, end });

/** An anchor or a tag without content belongs to an empty plain scalar. */
const NOTHING = { value: "", plain: true };
const NO_TEXT = { value: "", plain: false };

/** Composes nodes from tokens: aliases are replaced by their nodes, tags completed and resolved. */
function createNodeParser(
  source: SourceText,
  scanner: Scanner,
  handles: TagHandles,
  libyaml: boolean,
): NodeParser {
  const parser: NodeParser = {
    source,
    scanner,
    handles,
    libyaml,
    anchors: new Map(),
    depth: 0,
    hasAliases: false,
    node: (context) => parseNode(parser, context),
  };
  return parser;
}

function parseNode(parser: NodeParser, context: NodeContext): SyntaxNode {
  const { source, scanner, handles } = parser;
  const token = scanner.peek();
  if (token.type === "<alias>") return aliased(parser, token);
  const properties =
    token.type === "<anchor>" || token.type === "<tag>"
      ? readProperties(source, scanner, handles)
      : NO_PROPERTIES;
  if (++parser.depth > MAX_TREE_DEPTH)
    throw yamlError(source, {
      code: "yaml.depth_limit",
      problem: `the document is nested more than ${MAX_TREE_DEPTH} levels deep`,
      start: token.start,
    });
  const node = parseContent(parser, context, properties);
  parser.depth--;
  return node;
}

function aliased(parser: NodeParser, { name, start, end }: NameToken): SyntaxNode {
  parser.scanner.next();
  const target = parser.anchors.get(name);
  if (target === undefined)
    throw yamlError(parser.source, {
      problem: `found undefined alias '${name}'`,
      start,
      end,
      hint: `a string that starts with '*' needs quotes: '*${name}'; an alias follows its anchor, &${name}`,
    });
  parser.hasAliases = true;
  return target;
}

function parseContent(
  parser: NodeParser,
  context: NodeContext,
  properties: Properties,
): SyntaxNode {
  const token = parser.scanner.peek();
  const start = properties.start < 0 ? token.start : properties.start;
  switch (token.type) {
    case "<scalar>":
      parser.scanner.next();
      return register(parser, properties, scalarNode(properties, token, start, token.end));
    case "[":
      return flowSequence(parser, startSequence(parser, properties, start));
    case "{":
      return flowMapping(parser, startMapping(parser, properties, start));
    case "-":
      if (context !== "block or indentless") break;
      return indentlessSequence(parser, startSequence(parser, properties, start));
    case "<block sequence start>":
      if (context === "flow") break;
      return blockSequence(parser, startSequence(parser, properties, start));
    case "<block mapping start>":
      if (context === "flow") break;
      return blockMapping(parser, startMapping(parser, properties, start));
    default:
  }
  if (properties.start < 0) throw noContent(parser.source, context, token);
  // For libyaml, a lone `!` without content is an empty string.
  const isText = properties.tag === "!" && parser.libyaml;
  const empty = isText
    ? scalarNode(NO_PROPERTIES, NO_TEXT, start, token.start)
    : scalarNode(properties, NOTHING, start, token.start);
  return register(parser, properties, empty);
}

function startSequence(
  parser: NodeParser,
  properties: Properties,
  start: number,
): Building<SequenceSyntax> {
  const tag = collectionTag(properties, TAG.sequence);
  return register(parser, properties, { kind: "sequence", tag, items: [], start, end: start });
}

function startMapping(
  parser: NodeParser,
  properties: Properties,
  start: number,
): Building<MappingSyntax> {
  const tag = collectionTag(properties, TAG.mapping);
  return register(parser, properties, { kind: "mapping", tag, pairs: [], start, end: start });
}

/** Registers the anchor of a node before its content is read, because an alias inside may refer to it. */
function register<T extends SyntaxNode>(
  { source, anchors }: NodeParser,
  { anchor }: Properties,
  target: T,
): T {
  if (anchor === null) return target;
  const first = anchors.get(anchor);
  if (first !== undefined)
    throw yamlError(source, {
      context: `found duplicate anchor '${anchor}'; first occurrence`,
      contextStart: first.start,
      problem: "second occurrence",
      start: target.start,
    });
  anchors.set(anchor, target);
  return target;
}

function noContent(source: SourceText, context: NodeContext, token: Token) {
  const inFlow = context === "flow";
  const missing = inFlow && token.type === "?" && source.text[token.start] === "?";
  return yamlError(source, {
    context: `while parsing a ${inFlow ? "flow" : "block"} node`,
    problem: `expected the node content, but found '${token.type}'`,
    start: token.start,
    end: Math.max(token.end, token.start + 1),
    ...(missing && { hint: "quote '???' inside brackets, or write the mapping in block style" }),
  });
}

/** The kinds of nodes that may stand at a place; "indentless" is a list whose `-` stands at the column of its key. */
type NodeContext = "block" | "block or indentless" | "flow";

/** The parser's state: the only state that the parse functions share. */
interface NodeParser {
  readonly source: SourceText;
  readonly scanner: Scanner;
  readonly handles: TagHandles;
  readonly libyaml: boolean;
  /** All anchored nodes so far. */
  readonly anchors: Map<string, SyntaxNode>;
  /** Number of open nodes around the next token. */
  depth: number;
  /** Whether an alias was read: only then are nodes shared. */
  hasAliases: boolean;
  /**
   * Reads the node at the next token. Parsers of collections call it for their children.
   * @throws ConfigError where no node can begin
   */
  readonly node: (context: NodeContext) => SyntaxNode;
}

/** A collection that is being filled, and that aliases may already refer to. */
type Building<T> = { -readonly [K in keyof T]: T[K] };

const isAt = ({ scanner }: NodeParser, type: TokenType): boolean => scanner.peek().type === type;

function blockSequence(parser: NodeParser, target: Building<SequenceSyntax>): SequenceSyntax {
  const open = parser.scanner.next();
  const items: SyntaxNode[] = [];
  target.items = items;
  while (isAt(parser, "-")) {
    const { end } = parser.scanner.next();
    const absent = isAt(parser, "-") || isAt(parser, "<block end>");
    items.push(absent ? emptyScalar(end) : parser.node("block"));
  }
  target.end = closeBlock(parser, "while parsing a block collection", open);
  return target;
}

/** The items of a list at the column of its key, which has no start and end tokens of a block. */
function indentlessSequence(parser: NodeParser, target: Building<SequenceSyntax>): SequenceSyntax {
  const items: SyntaxNode[] = [];
  target.items = items;
  while (isAt(parser, "-")) {
    target.end = parser.scanner.next().end;
    const { type } = parser.scanner.peek();
    const absent = type === "-" || type === "?" || type === ":" || type === "<block end>";
    const item = absent ? emptyScalar(target.end) : parser.node("block");
    items.push(item);
    target.end = Math.max(target.end, item.end);
  }
  return target;
}

function blockMapping(parser: NodeParser, target: Building<MappingSyntax>): MappingSyntax {
  const { scanner } = parser;
  const open = scanner.next();
  const pairs: SyntaxPair[] = [];
  target.pairs = pairs;
  while (isAt(parser, "?")) {
    const key = keyOrValue(parser, scanner.next().end);
    const value = isAt(parser, ":") ? keyOrValue(parser, scanner.next().end) : emptyScalar(key.end);
    pairs.push({ key, value });
  }
  target.end = closeBlock(parser, "while parsing a block mapping", open);
  return target;
}

/** @param after offset where the `?` or `:` before it ends */
function keyOrValue(parser: NodeParser, after: number): SyntaxNode {
  const { type } = parser.scanner.peek();
  if (type === "?" || type === ":" || type === "<block end>") return emptyScalar(after);
  return parser.node("block or indentless");
}

/** Returns the offset where the block ends. */
function closeBlock({ source, scanner }: NodeParser, context: string, open: Token): number {
  const token = scanner.peek();
  if (token.type !== "<block end>") {
    const wrong = token.type === "<scalar>" ? undefined : wrongDash(source.text, token.start);
    // As with a misplaced key, the place is that of the mistake, and the message tells where PyYAML stopped.
    const isAbove = wrong !== undefined && wrong.start < token.start;
    throw yamlError(source, {
      context,
      contextStart: open.start,
      problem: `expected <block end>, but found '${token.type}'${isAbove ? ` (line ${wrong.refusedLine})` : ""}`,
      start: isAbove ? wrong.start : token.start,
      ...(!isAbove && { end: Math.max(token.end, token.start + 1) }),
      ...(token.type === "<scalar>" && quoteHint(source.text, token.start)),
      ...(wrong !== undefined && { hint: wrong.hint }),
    });
  }
  scanner.next();
  return token.start;
}

/** For `'it's'`, where a quote within the text ends it. */
function quoteHint(text: string, after: number): { hint?: string } {
  const line = text.slice(text.lastIndexOf("\n", after - 1) + 1).split("\n", 1)[0] ?? "";
  const [, inner] = /^[^'"]*[:-] +'(.*)'\s*$/.exec(line) ?? [];
  return text[after - 1] !== "'" || inner === undefined
    ? {}
    : { hint: `in single quotes, write a quote twice: '${inner.replaceAll("'", "''")}'` };
}

type Close = "]" | "}";

function flowSequence(parser: NodeParser, target: Building<SequenceSyntax>): SequenceSyntax {
  const open = parser.scanner.next();
  const items: SyntaxNode[] = [];
  target.items = items;
  while (!isAt(parser, "]")) {
    if (items.length > 0) separator(parser, "while parsing a flow sequence", open, "]");
    if (isAt(parser, "?")) items.push(singlePair(parser));
    else if (!isAt(parser, "]")) items.push(parser.node("flow"));
    else break;
  }
  target.end = parser.scanner.next().end;
  return target;
}

/** `[a: 1]` is a list of one mapping. */
function singlePair(parser: NodeParser): MappingSyntax {
  const { start } = parser.scanner.peek();
  const { key, value } = pair(parser, "]", parser.libyaml);
  const end = Math.max(value.end, key.end);
  return { kind: "mapping", tag: TAG.mapping, pairs: [{ key, value }], start, end };
}

function flowMapping(parser: NodeParser, target: Building<MappingSyntax>): MappingSyntax {
  const open = parser.scanner.next();
  const pairs: SyntaxPair[] = [];
  target.pairs = pairs;
  while (!isAt(parser, "}")) {
    if (pairs.length > 0) separator(parser, "while parsing a flow mapping", open, "}");
    if (isAt(parser, "?")) pairs.push(pair(parser, "}"));
    else if (!isAt(parser, "}")) pairs.push(loneKey(parser));
    else break;
  }
  target.end = parser.scanner.next().end;
  return target;
}

/**
 * The key and value of `?`; an omitted one is an empty scalar.
 * @param skipping whether a key is passed over, as libyaml does in lists
 */
function pair(parser: NodeParser, close: Close, skipping = false): SyntaxPair {
  const { end } = parser.scanner.next();
  const isEmpty = isAt(parser, ":") || endsPart(parser, close);
  const key = isEmpty ? emptyScalar(end) : parser.node("flow");
  if (isEmpty && skipping) parser.scanner.next();
  if (!isAt(parser, ":")) return { key, value: emptyScalar(key.end) };
  const colon = parser.scanner.next();
  return { key, value: endsPart(parser, close) ? emptyScalar(colon.end) : parser.node("flow") };
}

const endsPart = (parser: NodeParser, close: Close): boolean =>
  isAt(parser, ",") || isAt(parser, close);

/** `{a}` is a key without a value. */
function loneKey(parser: NodeParser): SyntaxPair {
  const key = parser.node("flow");
  return { key, value: emptyScalar(key.end) };
}

function separator(parser: NodeParser, context: string, open: Token, close: Close): void {
  const token = parser.scanner.peek();
  if (token.type === ",") {
    parser.scanner.next();
    return;
  }
  const { text } = parser.source;
  const isInterpolation = token.type === "{" && text[token.start - 1] === "$";
  const isOnOtherLine = text.slice(open.start, token.start).includes("\n");
  throw yamlError(parser.source, {
    context,
    contextStart: open.start,
    problem: `expected ',' or '${close}', but got '${token.type}'`,
    start: token.start,
    end: Math.max(token.end, token.start + 1),
    ...(isOnOtherLine && {
      hint: `'${open.type}' is not closed before this line: add '${close}' where the ${close === "]" ? "list" : "map"} ends`,
    }),
    ...(isInterpolation && { hint: "put quotes around an interpolation inside brackets" }),
  });
}
