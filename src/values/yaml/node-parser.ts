import type { SourceText } from "../origin.ts";
import type { TagHandles } from "./node-properties.ts";
import type { Scanner } from "./scanner.ts";
import type { SyntaxNode } from "./syntax-node.ts";
import type { TokenType } from "./tokens.ts";

/** What may stand at a place; "indentless" is a list whose `-` stands at the column of its key. */
export type NodeContext = "block" | "block or indentless" | "flow";

/** Where parsing a document stands: the only state that the parse functions share. */
export interface NodeParser {
  readonly source: SourceText;
  readonly scanner: Scanner;
  readonly handles: TagHandles;
  /** Every node that has a name so far. */
  readonly anchors: Map<string, SyntaxNode>;
  /** How many nodes are open around the next token. */
  depth: number;
  /** Whether any alias was read: only then are nodes shared. */
  hasAliases: boolean;
  /**
   * Reads the node at the next token. Collections read by it what is in them.
   * @throws ConfigError where none can begin
   */
  readonly node: (context: NodeContext) => SyntaxNode;
}

/** A collection that may be referred to already, while it is filled. */
export type Building<T> = { -readonly [K in keyof T]: T[K] };

export const at = ({ scanner }: NodeParser, type: TokenType): boolean =>
  scanner.peek().type === type;
