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
  const first = scanner.peek().type;
  if (first === "<stream end>") return null;
  const explicit = first === "<directive>" || first === "<document start>";
  const handles = explicit ? startDocument(source, scanner) : DEFAULT_TAG_HANDLES;
  const parser = createNodeParser(source, scanner, handles);
  const { type, start } = scanner.peek();
  const root = explicit && ENDS_DOCUMENT.has(type) ? emptyScalar(start) : parser.node("block");
  endDocument(source, scanner, root);
  return { root, hasAliases: parser.hasAliases };
}

/** Reads directives and `---`; returns the tag handles of the document. */
function startDocument(source: SourceText, scanner: Scanner): TagHandles {
  const own = readDirectives(source, scanner);
  const token = scanner.peek();
  if (token.type !== "<document start>") throw expectedDocumentStart(source, token);
  scanner.next();
  return new Map([...DEFAULT_TAG_HANDLES, ...own]);
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
      if (token.major !== 1)
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

/** Behind the document: markers, and no second document. */
function endDocument(source: SourceText, scanner: Scanner, root: SyntaxNode): void {
  while (scanner.peek().type === "<document end>") scanner.next();
  const token = scanner.peek();
  if (token.type === "<stream end>") return;
  // What is wrong in a second document's head is refused before the document itself.
  if (token.type === "<directive>") startDocument(source, scanner);
  else if (token.type !== "<document start>") throw expectedDocumentStart(source, token);
  throw refusal(source, {
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
  refusal(source, { problem, start, end });
