import { MAX_TREE_DEPTH } from "../node.ts";
import type { SourceText } from "../origin.ts";
import {
  collectionTag,
  emptyScalar,
  NO_PROPERTIES,
  type Properties,
  readProperties,
  scalarNode,
  type TagHandles,
} from "./node-properties.ts";
import { refusal } from "./refusal.ts";
import type { Scanner } from "./scanner.ts";
import {
  type MappingSyntax,
  type SequenceSyntax,
  type SyntaxNode,
  type SyntaxPair,
  TAG,
} from "./syntax-node.ts";
import type { Token, TokenType } from "./tokens.ts";

type Building<T> = { -readonly [K in keyof T]: T[K] };

export interface NodeParser {
  /** Reads the node at the next token. Throws where none can begin. */
  node(context: "block" | "flow"): SyntaxNode;
  /** Whether any alias was read: only then are nodes shared. */
  hasAliases(): boolean;
}

/** Composes nodes from tokens: anchors are followed, tags completed and resolved. */
export function createNodeParser(
  source: SourceText,
  scanner: Scanner,
  handles: TagHandles,
): NodeParser {
  const { peek, next } = scanner;
  const anchors = new Map<string, SyntaxNode>();
  let depth = 0;
  let hasAliases = false;

  const at = (type: TokenType): boolean => peek().type === type;

  function node(context: "block" | "flow", indentless = false): SyntaxNode {
    const token = peek();
    if (token.type === "<alias>") {
      next();
      const target = anchors.get(token.name);
      if (target === undefined)
        throw refusal(source, {
          problem: `found undefined alias '${token.name}'`,
          start: token.start,
          end: token.end,
        });
      hasAliases = true;
      return target;
    }
    const properties =
      token.type === "<anchor>" || token.type === "<tag>"
        ? readProperties(source, scanner, handles)
        : NO_PROPERTIES;
    if (++depth > MAX_TREE_DEPTH)
      throw refusal(source, {
        code: "yaml.depth_limit",
        problem: `the document is nested more than ${MAX_TREE_DEPTH} levels deep`,
        start: token.start,
      });
    const result = content(context, indentless, properties);
    depth--;
    return result;
  }

  function content(
    context: "block" | "flow",
    indentless: boolean,
    properties: Properties,
  ): SyntaxNode {
    const token = peek();
    const start = properties.start < 0 ? token.start : properties.start;
    switch (token.type) {
      case "<scalar>":
        next();
        return register(
          properties,
          scalarNode(properties, token.value, token.plain, start, token.end),
        );
      case "[":
        return flowSequence(startSequence(properties, start));
      case "{":
        return flowMapping(startMapping(properties, start));
      case "-":
        if (!indentless) break;
        return indentlessSequence(startSequence(properties, start));
      case "<block sequence start>":
        if (context === "flow") break;
        return blockSequence(startSequence(properties, start));
      case "<block mapping start>":
        if (context === "flow") break;
        return blockMapping(startMapping(properties, start));
      default:
    }
    if (properties.start < 0) throw noContent(context, token);
    return register(properties, scalarNode(properties, "", true, start, token.start));
  }

  function startSequence(properties: Properties, start: number): Building<SequenceSyntax> {
    const tag = collectionTag(properties, TAG.sequence);
    return register(properties, { kind: "sequence", tag, items: [], start, end: start });
  }

  function startMapping(properties: Properties, start: number): Building<MappingSyntax> {
    const tag = collectionTag(properties, TAG.mapping);
    return register(properties, { kind: "mapping", tag, pairs: [], start, end: start });
  }

  /** Names the node before its content is read: an alias inside may mean it. */
  function register<T extends SyntaxNode>({ anchor }: Properties, target: T): T {
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

  function blockSequence(target: Building<SequenceSyntax>): SequenceSyntax {
    const open = next();
    const items: SyntaxNode[] = [];
    target.items = items;
    while (at("-")) {
      const { end } = next();
      items.push(at("-") || at("<block end>") ? emptyScalar(end) : node("block"));
    }
    target.end = closeBlock("while parsing a block collection", open);
    return target;
  }

  /** The items of a list that stands at the column of its key. */
  function indentlessSequence(target: Building<SequenceSyntax>): SequenceSyntax {
    const items: SyntaxNode[] = [];
    target.items = items;
    while (at("-")) {
      target.end = next().end;
      const { type } = peek();
      const absent = type === "-" || type === "?" || type === ":" || type === "<block end>";
      const item = absent ? emptyScalar(target.end) : node("block");
      items.push(item);
      target.end = Math.max(target.end, item.end);
    }
    return target;
  }

  function blockMapping(target: Building<MappingSyntax>): MappingSyntax {
    const open = next();
    const pairs: SyntaxPair[] = [];
    target.pairs = pairs;
    while (at("?")) {
      const { end } = next();
      const key = blockPart(end);
      pairs.push({ key, value: at(":") ? blockPart(next().end) : emptyScalar(key.end) });
    }
    target.end = closeBlock("while parsing a block mapping", open);
    return target;
  }

  /** A key or a value in a block mapping. */
  function blockPart(after: number): SyntaxNode {
    const { type } = peek();
    if (type === "?" || type === ":" || type === "<block end>") return emptyScalar(after);
    return node("block", true);
  }

  function closeBlock(context: string, open: Token): number {
    const token = peek();
    if (token.type !== "<block end>")
      throw refusal(source, {
        context,
        contextStart: open.start,
        problem: `expected <block end>, but found '${token.type}'`,
        start: token.start,
        end: Math.max(token.end, token.start + 1),
      });
    next();
    return token.start;
  }

  function flowSequence(target: Building<SequenceSyntax>): SequenceSyntax {
    const open = next();
    const items: SyntaxNode[] = [];
    target.items = items;
    while (!at("]")) {
      if (items.length > 0) separator("while parsing a flow sequence", open, "]");
      if (at("?")) items.push(singlePair());
      else if (!at("]")) items.push(node("flow"));
      else break;
    }
    target.end = next().end;
    return target;
  }

  /** `[a: 1]` is a list of one mapping. */
  function singlePair(): MappingSyntax {
    const { start, end } = next();
    const key = at(":") || at(",") || at("]") ? emptyScalar(end) : node("flow");
    let value: SyntaxNode = emptyScalar(key.end);
    if (at(":")) {
      const colon = next();
      value = at(",") || at("]") ? emptyScalar(colon.end) : node("flow");
    }
    const pairs = [{ key, value }];
    return { kind: "mapping", tag: TAG.mapping, pairs, start, end: Math.max(value.end, key.end) };
  }

  function flowMapping(target: Building<MappingSyntax>): MappingSyntax {
    const open = next();
    const pairs: SyntaxPair[] = [];
    target.pairs = pairs;
    while (!at("}")) {
      if (pairs.length > 0) separator("while parsing a flow mapping", open, "}");
      if (at("?")) pairs.push(flowPair(next().end));
      else if (!at("}")) pairs.push(loneKey());
      else break;
    }
    target.end = next().end;
    return target;
  }

  function flowPair(after: number): SyntaxPair {
    const key = at(":") || at(",") || at("}") ? emptyScalar(after) : node("flow");
    if (!at(":")) return { key, value: emptyScalar(key.end) };
    const { end } = next();
    return { key, value: at(",") || at("}") ? emptyScalar(end) : node("flow") };
  }

  /** `{a}` is a key without a value. */
  function loneKey(): SyntaxPair {
    const key = node("flow");
    return { key, value: emptyScalar(key.end) };
  }

  function separator(context: string, open: Token, close: "]" | "}"): void {
    const token = peek();
    if (token.type === ",") {
      next();
      return;
    }
    throw refusal(source, {
      context,
      contextStart: open.start,
      problem: `expected ',' or '${close}', but got '${token.type}'`,
      start: token.start,
      end: Math.max(token.end, token.start + 1),
      ...interpolationHint(token),
    });
  }

  function interpolationHint(token: Token): { hint?: string } {
    if (token.type !== "{" || source.text[token.start - 1] !== "$") return {};
    return { hint: "put quotes around an interpolation inside brackets" };
  }

  function noContent(context: "block" | "flow", token: Token) {
    const missing = context === "flow" && token.type === "?" && source.text[token.start] === "?";
    return refusal(source, {
      context: `while parsing a ${context} node`,
      problem: `expected the node content, but found '${token.type}'`,
      start: token.start,
      end: Math.max(token.end, token.start + 1),
      ...(missing
        ? { hint: "quote '???' inside brackets, or write the mapping in block style" }
        : {}),
    });
  }

  return { node, hasAliases: () => hasAliases };
}
