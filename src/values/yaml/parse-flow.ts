import { at, type Building, type NodeParser } from "./node-parser.ts";
import { emptyScalar } from "./node-properties.ts";
import { refusal } from "./refusal.ts";
import {
  type MappingSyntax,
  type SequenceSyntax,
  type SyntaxNode,
  type SyntaxPair,
  TAG,
} from "./syntax-node.ts";
import type { Token } from "./tokens.ts";

type Close = "]" | "}";

export function flowSequence(parser: NodeParser, target: Building<SequenceSyntax>): SequenceSyntax {
  const open = parser.scanner.next();
  const items: SyntaxNode[] = [];
  target.items = items;
  while (!at(parser, "]")) {
    if (items.length > 0) separator(parser, "while parsing a flow sequence", open, "]");
    if (at(parser, "?")) items.push(singlePair(parser));
    else if (!at(parser, "]")) items.push(parser.node("flow"));
    else break;
  }
  target.end = parser.scanner.next().end;
  return target;
}

/** `[a: 1]` is a list of one mapping. */
function singlePair(parser: NodeParser): MappingSyntax {
  const { start } = parser.scanner.peek();
  const { key, value } = pair(parser, "]");
  const end = Math.max(value.end, key.end);
  return { kind: "mapping", tag: TAG.mapping, pairs: [{ key, value }], start, end };
}

export function flowMapping(parser: NodeParser, target: Building<MappingSyntax>): MappingSyntax {
  const open = parser.scanner.next();
  const pairs: SyntaxPair[] = [];
  target.pairs = pairs;
  while (!at(parser, "}")) {
    if (pairs.length > 0) separator(parser, "while parsing a flow mapping", open, "}");
    if (at(parser, "?")) pairs.push(pair(parser, "}"));
    else if (!at(parser, "}")) pairs.push(loneKey(parser));
    else break;
  }
  target.end = parser.scanner.next().end;
  return target;
}

/** Key and value behind `?`; where one is left out, an empty scalar stands for it. */
function pair(parser: NodeParser, close: Close): SyntaxPair {
  const { end } = parser.scanner.next();
  const key = at(parser, ":") || endsPart(parser, close) ? emptyScalar(end) : parser.node("flow");
  if (!at(parser, ":")) return { key, value: emptyScalar(key.end) };
  const colon = parser.scanner.next();
  return { key, value: endsPart(parser, close) ? emptyScalar(colon.end) : parser.node("flow") };
}

const endsPart = (parser: NodeParser, close: Close): boolean =>
  at(parser, ",") || at(parser, close);

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
  throw refusal(parser.source, {
    context,
    contextStart: open.start,
    problem: `expected ',' or '${close}', but got '${token.type}'`,
    start: token.start,
    end: Math.max(token.end, token.start + 1),
    ...(isInterpolation && { hint: "put quotes around an interpolation inside brackets" }),
  });
}
