import type { SourceText } from "../origin.ts";
import { emptyScalar, type TagHandles } from "./node-properties.ts";
import { createNodeParser } from "./parse-node.ts";
import { refusal } from "./refusal.ts";
import type { Scanner } from "./scanner.ts";
import { DEFAULT_TAG_HANDLES, type SyntaxNode } from "./syntax-node.ts";
import type { Token, TokenType } from "./tokens.ts";

const ENDS_DOCUMENT: ReadonlySet<TokenType> = new Set([
  "<directive>",
  "<document start>",
  "<document end>",
  "<stream end>",
]);

export interface ParsedDocument {
  readonly root: SyntaxNode;
  /** Whether nodes are shared: without aliases the graph is a tree. */
  readonly hasAliases: boolean;
}

/** The node of a text that holds one document, or null for a text without any. */
export function parseDocument(source: SourceText, scanner: Scanner): ParsedDocument | null {
  const { peek, next } = scanner;

  const at = (type: TokenType): boolean => peek().type === type;

  function document(): ParsedDocument | null {
    if (at("<stream end>")) return null;
    const explicit = at("<directive>") || at("<document start>");
    const handles = explicit ? startDocument() : DEFAULT_TAG_HANDLES;
    const parser = createNodeParser(source, scanner, handles);
    const { type, start } = peek();
    const root = explicit && ENDS_DOCUMENT.has(type) ? emptyScalar(start) : parser.node("block");
    endDocument(root);
    return { root, hasAliases: parser.hasAliases };
  }

  /** Reads directives and `---`; returns the tag handles of the document. */
  function startDocument(): TagHandles {
    let sawVersion = false;
    const own = new Map<string, string>();
    while (at("<directive>")) {
      const token = next();
      if (token.type !== "<directive>") break;
      if (token.name === "TAG") {
        if (own.has(token.handle)) throw problemAt(token, `duplicate tag handle '${token.handle}'`);
        own.set(token.handle, token.prefix);
      } else if (token.name === "YAML") {
        if (sawVersion) throw problemAt(token, "found duplicate YAML directive");
        if (token.major !== 1)
          throw problemAt(token, "found incompatible YAML document (version 1.* is required)");
        sawVersion = true;
      }
    }
    if (!at("<document start>")) throw expectedDocumentStart();
    next();
    return new Map([...DEFAULT_TAG_HANDLES, ...own]);
  }

  /** Behind the document: markers, and no second document. */
  function endDocument(root: SyntaxNode): void {
    while (at("<document end>")) next();
    const token = peek();
    if (token.type === "<stream end>") return;
    const second = token.type === "<directive>" || token.type === "<document start>";
    if (token.type === "<directive>") startDocument();
    if (!second) throw expectedDocumentStart();
    throw refusal(source, {
      context: "expected a single document in the stream",
      contextStart: root.start,
      problem: "but found another document",
      start: token.start,
      end: token.end,
    });
  }

  const expectedDocumentStart = () => {
    const token = peek();
    return problemAt(token, `expected '<document start>', but found '${token.type}'`);
  };

  const problemAt = (token: Token, problem: string) =>
    refusal(source, { problem, start: token.start, end: token.end });

  return document();
}
