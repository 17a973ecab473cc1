import type { Key } from "../values/node.ts";
import type { OverrideType, ScalarElement, Span } from "./ast.ts";

/**
 * What the parser reads, before any function is evaluated. Hydra evaluates only what parsed as a
 * whole, so that an error of the grammar is reported before one of a function.
 */
export interface OverrideSyntax {
  readonly type: OverrideType;
  readonly key: KeySyntax;
  readonly value?: ValueSyntax;
}

export interface KeySyntax {
  readonly keyOrGroup: string;
  readonly package?: string;
}

export type ValueSyntax = ElementSyntax | SimpleChoiceSyntax;

export type ElementSyntax = ScalarElement | ListSyntax | DictSyntax | CallSyntax;

/** `a,b,c`, with two items at least. */
export interface SimpleChoiceSyntax {
  readonly kind: "choices";
  readonly items: readonly ElementSyntax[];
  readonly span: Span;
}

export interface ListSyntax {
  readonly kind: "list";
  readonly items: readonly ElementSyntax[];
  readonly span: Span;
}

export interface DictSyntax {
  readonly kind: "dict";
  readonly entries: readonly (readonly [Key, ElementSyntax])[];
  readonly span: Span;
}

export interface CallSyntax {
  readonly kind: "call";
  readonly name: string;
  readonly arguments: readonly ArgumentSyntax[];
  /** The arguments of a function that takes config keys and groups; it has no others. */
  readonly columns?: readonly ColumnSyntax[];
  readonly span: Span;
}

/** `+db@backup=choice(a,b)` as an argument. */
export interface ColumnSyntax {
  readonly type: OverrideType;
  readonly key: KeySyntax;
  readonly value: ElementSyntax;
  readonly span: Span;
}

export interface ArgumentSyntax {
  /** Present for `name=value`. */
  readonly name?: string;
  readonly value: ElementSyntax;
}
