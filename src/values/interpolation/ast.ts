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

/** A key that is known as it stands: taken apart once for all evaluations. */
export interface StaticReference extends ReferenceKey {
  readonly kind: "reference";
  readonly parts?: undefined;
}

/**
 * A key with interpolations in it. The parts are joined to one text and split again when it is
 * evaluated, because a nested interpolation may give a key with dots in it.
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

/** Elements between commas. One that is left out is an empty string. */
export interface Sequence {
  readonly args: readonly Argument[];
  /** The whole sequence as it is written, when elements are left out: OmegaConf warns of it. */
  readonly incomplete?: string;
}

export interface Argument {
  readonly value: Element;
  /** As it is written; caches of resolvers are keyed by it. */
  readonly source: string;
}

/** One argument of a resolver, or one element of a list or dict among them. */
export type Element = PrimitiveElement | TextElement | Interpolation | ListElement | DictElement;

export interface PrimitiveElement {
  readonly kind: "primitive";
  readonly value: ScalarValue;
}

/** A quoted value or a concatenation: a string, whatever its interpolations give. */
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
