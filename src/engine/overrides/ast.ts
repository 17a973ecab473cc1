/** The syntax tree of overrides, and the values of their functions. */
import type { Dialect } from "../values/dialect.ts";
import type { Key, KeyId } from "../values/node.ts";
import type { OverrideOrigin } from "../values/origin.ts";

/** One override of the command line or the API, parsed, with its functions evaluated. */
export interface Override {
  readonly type: OverrideType;
  /** The config group (`db`, `hydra/launcher`) or dotted key (`db.port`); may be empty. */
  readonly keyOrGroup: string;
  /** What follows the `@`; absent when there is none, `""` for `group@=x` (the global package). */
  readonly package?: string;
  /** Absent only for a deletion without a value (`~key`). */
  readonly value?: OverrideValue;
  /** Warnings about the override; absent for none. */
  readonly warnings?: readonly string[];
  readonly origin: OverrideOrigin;
}

/** `key=x`, `+key=x`, `++key=x`, `~key`, `key=extend_list(x)`, and `key:=x`, which is ours and not Hydra's. */
export type OverrideType = "change" | "add" | "force_add" | "delete" | "extend_list" | "replace";

/** The value right of the `=`: a value to assign, or a sweep over several of them. */
export type OverrideValue = Element | Sweep;

/**
 * A value that can be assigned. Lists and dicts may contain sweeps in the grammar (`key=[choice(1,2)]` parses), but
 * such a value cannot become a config node.
 */
export type Element = ScalarElement | ListElement | DictElement | ExtensionElement;

/** The source of a sweep's values. */
export type Sweep = ChoiceSweep | RangeSweep | IntervalSweep | GlobSweep | ZipSweep | UnionSweep;

/** Offsets in the override's text, in UTF-16 code units, end exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A text, a number, a bool or null. */
export interface ScalarElement {
  readonly kind: "scalar";
  readonly value: ElementScalar;
  /**
   * The quotes of a quoted string, so that it is printed with the same ones. Absent for other values: an unquoted
   * string is printed with escapes.
   */
  readonly quote?: Quote;
  readonly span: Span;
}

/** A bigint is an int, a number a float. */
export type ElementScalar = null | boolean | bigint | number | string;

/** How a string was quoted. */
export type Quote = "'" | '"';

/** `[1,2]`. */
export interface ListElement {
  readonly kind: "list";
  readonly items: readonly OverrideValue[];
  readonly span: Span;
}

/** `{a:1,b:2}`. */
export interface DictElement {
  readonly kind: "dict";
  /** In insertion order; keys are equal as in Python: `{1:a,1.0:b}` is one entry, `1: b`. */
  readonly entries: ReadonlyMap<KeyId, DictEntry>;
  readonly span: Span;
}

/** `extend_list(a,b)` inside another value, where it is not a list extension but a dict `{values:[a,b]}`. */
export interface ExtensionElement {
  readonly kind: "extension";
  readonly values: readonly OverrideValue[];
  readonly span: Span;
}

/** A key of a dict, in its exact type, with its value. */
export interface DictEntry {
  readonly key: Key;
  readonly value: OverrideValue;
}

/** `a,b` (simple) or `choice(a,b)`. */
export interface ChoiceSweep {
  readonly kind: "choice";
  readonly items: readonly OverrideValue[];
  readonly simple: boolean;
  readonly shuffle: boolean;
  /** Sorted and unique. */
  readonly tags: readonly string[];
  readonly span: Span;
}

/** `range(start,stop,step)`. */
export interface RangeSweep {
  readonly kind: "range";
  readonly start: PythonNumber;
  readonly stop: PythonNumber;
  readonly step: PythonNumber;
  /** How float bounds are read (`rangeDecimals` of the dialect). */
  readonly decimals: Dialect["rangeDecimals"];
  /** The casts of each value, in order; absent for none. */
  readonly casts?: readonly ("int" | "float")[];
  readonly shuffle: boolean;
  readonly tags: readonly string[];
  readonly span: Span;
}

/** `interval(start,end)`: usable only by sweepers that draw samples. */
export interface IntervalSweep {
  readonly kind: "interval";
  readonly start: PythonNumber;
  readonly end: PythonNumber;
  readonly tags: readonly string[];
  readonly span: Span;
}

/** `glob(include,exclude)`: all options of the override's group whose names match. */
export interface GlobSweep {
  readonly kind: "glob";
  /** Strings; the grammar also allows other values in the lists, which match nothing. */
  readonly include: readonly OverrideValue[];
  readonly exclude: readonly OverrideValue[];
  readonly span: Span;
}

/** `zip(a=choice(1,2),b=choice(3,4))`: the keys take their values together. Ours, not Hydra's. */
export interface ZipSweep {
  readonly kind: "zip";
  /** An override for each key, whose value is a choice, a range or a glob. */
  readonly columns: readonly Override[];
  readonly span: Span;
}

/** `choice(a,b)+range(3)`: the values of each part, one part after the other. Ours, not Hydra's. */
export interface UnionSweep {
  readonly kind: "union";
  /** At least two. Either all are zips, of the same keys, or none is. */
  readonly parts: readonly UnionPart[];
  readonly span: Span;
}

/** A sweep whose values can be enumerated. */
export type UnionPart = ChoiceSweep | RangeSweep | GlobSweep | ZipSweep;

/** The overrides of the keys that a zip, or a union of zips, sets; empty for all other values. */
export function columnsOf(value: OverrideValue | undefined): readonly Override[] {
  if (value?.kind === "union") return value.parts.flatMap(columnsOf);
  return value?.kind === "zip" ? value.columns : [];
}

/** An int (`bigint`), a float (`number`), or a bool, which in Python is an int. */
export type PythonNumber = bigint | number | boolean;

export const isSweepValue = (value: OverrideValue): value is Sweep =>
  value.kind === "choice" ||
  value.kind === "range" ||
  value.kind === "interval" ||
  value.kind === "glob" ||
  value.kind === "zip" ||
  value.kind === "union";

/**
 * The parser's result, before functions are evaluated. Hydra evaluates only an override that parsed as a whole, so a
 * syntax error takes precedence over an error of a function.
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

export type ValueSyntax = ElementSyntax | SimpleChoiceSyntax | UnionSyntax;

export type ElementSyntax = ScalarElement | ListSyntax | DictSyntax | CallSyntax;

/** `a,b,c`, with at least two items. */
export interface SimpleChoiceSyntax {
  readonly kind: "choices";
  readonly items: readonly ElementSyntax[];
  readonly span: Span;
}

/** `choice(a)+range(3)`, with at least two calls. */
export interface UnionSyntax {
  readonly kind: "union";
  readonly parts: readonly CallSyntax[];
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
  /** The arguments of a function with config keys and groups as parameters; such a function has no other arguments. */
  readonly columns?: readonly ColumnSyntax[];
  readonly span: Span;
}

/** `+db@backup=choice(a,b)` as an argument. */
export interface ColumnSyntax {
  readonly type: OverrideType;
  readonly key: KeySyntax;
  readonly value: ElementSyntax | UnionSyntax;
  readonly span: Span;
}

export interface ArgumentSyntax {
  /** Present for `name=value`. */
  readonly name?: string;
  readonly value: ElementSyntax;
}
