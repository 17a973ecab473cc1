/** The syntax tree of a text with interpolations. */
import type { ReferenceKey } from "../key-path.ts";
import type { ScalarValue } from "../node.ts";

/** A text with interpolations, parsed. Escapes are already undone in its literal parts. */
export interface InterpolationAst {
  readonly kind: "text";
  readonly parts: readonly TextPart[];
}

export type TextPart = LiteralPart | Interpolation;

export interface LiteralPart {
  readonly kind: "literal";
  readonly text: string;
}

export type Interpolation = Reference | ResolverUse;

/** `${a.b[c]}` or, with leading dots, `${..a}`. */
export type Reference = StaticReference | NestedReference;

/** A key without nested interpolations: split once for all evaluations. */
export interface StaticReference extends ReferenceKey {
  readonly kind: "reference";
  readonly parts?: undefined;
}

/**
 * A key with interpolations in it. When it is evaluated, its parts are joined and split again, because a nested
 * interpolation may give a key with dots in it.
 */
export interface NestedReference {
  readonly kind: "reference";
  readonly parts: readonly (string | Interpolation)[];
}

/** `${name:arg,…}`; the name's components are joined with dots. */
export interface ResolverUse {
  readonly kind: "resolver";
  readonly name: readonly (string | Interpolation)[];
  readonly args: Sequence;
}

/** Elements between commas. An empty one is an empty string. */
export interface Sequence {
  readonly args: readonly Argument[];
  /** The source text of a sequence with empty elements: OmegaConf warns about it. */
  readonly incomplete?: string;
}

export interface Argument {
  readonly value: Element;
  /** The source text; caches of resolvers are keyed by it. */
  readonly source: string;
}

/** One argument of a resolver, or one element of a list or dict among them. */
export type Element = PrimitiveElement | TextElement | Interpolation | ListElement | DictElement;

export interface PrimitiveElement {
  readonly kind: "primitive";
  readonly value: ScalarValue;
}

/** A quoted value or a concatenation: a string, whatever its interpolations evaluate to. */
export interface TextElement {
  readonly kind: "text";
  readonly parts: readonly TextPart[];
}

export interface ListElement {
  readonly kind: "list";
  readonly items: Sequence;
}

export interface DictElement {
  readonly kind: "dict";
  readonly entries: readonly (readonly [PrimitiveElement, Element])[];
}
