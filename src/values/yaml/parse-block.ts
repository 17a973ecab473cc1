import { at, type Building, type NodeParser } from "./node-parser.ts";
import { emptyScalar } from "./node-properties.ts";
import { refusal } from "./refusal.ts";
import type { MappingSyntax, SequenceSyntax, SyntaxNode, SyntaxPair } from "./syntax-node.ts";
import type { Token } from "./tokens.ts";

export function blockSequence(
  parser: NodeParser,
  target: Building<SequenceSyntax>,
): SequenceSyntax {
  const open = parser.scanner.next();
  const items: SyntaxNode[] = [];
  target.items = items;
  while (at(parser, "-")) {
    const { end } = parser.scanner.next();
    const absent = at(parser, "-") || at(parser, "<block end>");
    items.push(absent ? emptyScalar(end) : parser.node("block"));
  }
  target.end = closeBlock(parser, "while parsing a block collection", open);
  return target;
}

/** The items of a list that stands at the column of its key: nothing opens or closes it. */
export function indentlessSequence(
  parser: NodeParser,
  target: Building<SequenceSyntax>,
): SequenceSyntax {
  const items: SyntaxNode[] = [];
  target.items = items;
  while (at(parser, "-")) {
    target.end = parser.scanner.next().end;
    const { type } = parser.scanner.peek();
    const absent = type === "-" || type === "?" || type === ":" || type === "<block end>";
    const item = absent ? emptyScalar(target.end) : parser.node("block");
    items.push(item);
    target.end = Math.max(target.end, item.end);
  }
  return target;
}

export function blockMapping(parser: NodeParser, target: Building<MappingSyntax>): MappingSyntax {
  const { scanner } = parser;
  const open = scanner.next();
  const pairs: SyntaxPair[] = [];
  target.pairs = pairs;
  while (at(parser, "?")) {
    const key = keyOrValue(parser, scanner.next().end);
    const value = at(parser, ":") ? keyOrValue(parser, scanner.next().end) : emptyScalar(key.end);
    pairs.push({ key, value });
  }
  target.end = closeBlock(parser, "while parsing a block mapping", open);
  return target;
}

/** @param after where the `?` or `:` in front of it ends */
function keyOrValue(parser: NodeParser, after: number): SyntaxNode {
  const { type } = parser.scanner.peek();
  if (type === "?" || type === ":" || type === "<block end>") return emptyScalar(after);
  return parser.node("block or indentless");
}

/** Returns where the block ends. */
function closeBlock({ source, scanner }: NodeParser, context: string, open: Token): number {
  const token = scanner.peek();
  if (token.type !== "<block end>")
    throw refusal(source, {
      context,
      contextStart: open.start,
      problem: `expected <block end>, but found '${token.type}'`,
      start: token.start,
      end: Math.max(token.end, token.start + 1),
    });
  scanner.next();
  return token.start;
}
