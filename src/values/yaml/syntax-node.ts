/**
 * What the parser makes of a text: nodes with resolved tags, aliases followed. An alias is the very
 * node that its anchor names, so that this is a graph, cycles included.
 */
export type SyntaxNode = ScalarSyntax | SequenceSyntax | MappingSyntax;

interface SyntaxBase {
  /** The full tag, e.g. `tag:yaml.org,2002:int`. */
  readonly tag: string;
  readonly start: number;
  readonly end: number;
}

export interface ScalarSyntax extends SyntaxBase {
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

/** The tags that nodes have without anybody writing them. */
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
