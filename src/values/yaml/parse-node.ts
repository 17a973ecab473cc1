import { MAX_TREE_DEPTH } from "../node.ts";
import type { SourceText } from "../origin.ts";
import type { Building, NodeContext, NodeParser } from "./node-parser.ts";
import {
  collectionTag,
  NO_PROPERTIES,
  type Properties,
  readProperties,
  scalarNode,
  type TagHandles,
} from "./node-properties.ts";
import { blockMapping, blockSequence, indentlessSequence } from "./parse-block.ts";
import { flowMapping, flowSequence } from "./parse-flow.ts";
import { refusal } from "./refusal.ts";
import type { Scanner } from "./scanner.ts";
import { type MappingSyntax, type SequenceSyntax, type SyntaxNode, TAG } from "./syntax-node.ts";
import type { NameToken, Token } from "./tokens.ts";

/** Where only an anchor or a tag stands, an empty plain scalar follows it. */
const NOTHING = { value: "", plain: true };

/** Composes nodes from tokens: anchors are followed, tags completed and resolved. */
export function createNodeParser(
  source: SourceText,
  scanner: Scanner,
  handles: TagHandles,
): NodeParser {
  const parser: NodeParser = {
    source,
    scanner,
    handles,
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
    throw refusal(source, {
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
    throw refusal(parser.source, { problem: `found undefined alias '${name}'`, start, end });
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
  return register(parser, properties, scalarNode(properties, NOTHING, start, token.start));
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

/** Names the node before its content is read: an alias inside may mean it. */
function register<T extends SyntaxNode>(
  { source, anchors }: NodeParser,
  { anchor }: Properties,
  target: T,
): T {
  if (anchor === null) return target;
  const first = anchors.get(anchor);
  if (first !== undefined)
    throw refusal(source, {
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
  return refusal(source, {
    context: `while parsing a ${inFlow ? "flow" : "block"} node`,
    problem: `expected the node content, but found '${token.type}'`,
    start: token.start,
    end: Math.max(token.end, token.start + 1),
    ...(missing && { hint: "quote '???' inside brackets, or write the mapping in block style" }),
  });
}
