/** What an override function is: its parameters, its evaluation and the types of its arguments. */
import type { Dialect } from "../../values/dialect.ts";
import type { Override, OverrideValue, Span } from "../ast.ts";
import { functionError, type OverrideSource } from "../override-errors.ts";

/** A function of the override language: a data object, listed in `function-table.ts`. */
export interface OverrideFunction {
  readonly name: string;
  /** Whether it is an addition of ours, which no version of Hydra has. */
  readonly isOurs?: true;
  readonly parameters: Parameters;
  /** Quoted strings that are direct arguments arrive without their quotes. */
  evaluate(args: BoundArguments, call: Call): OverrideValue;
}

export interface Parameters {
  /** The type of any number of positional arguments; absent if the function has no such parameter. */
  readonly rest?: Acceptance;
  /** Parameters that may be given by position (unless there is `rest`) or by name. */
  readonly named: readonly Parameter[];
  /** The type of the values where arguments are `key=value` with config keys and groups. */
  readonly columns?: Acceptance;
}

export interface Parameter {
  readonly name: string;
  readonly accepts: Acceptance;
  readonly required?: boolean;
}

export interface BoundArguments {
  readonly rest: readonly OverrideValue[];
  /** The argument of a parameter; undefined if it is not given. */
  get(name: string): OverrideValue | undefined;
  /** The `key=value` arguments of a function with config keys and groups; otherwise empty. */
  readonly columns: readonly Override[];
}

/** The context of a call: its place, and what its evaluation needs. */
export interface Call {
  readonly source: OverrideSource;
  readonly span: Span;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  readonly functions: ReadonlyMap<string, OverrideFunction>;
  readonly dialect: Dialect;
  /** Receives warnings. */
  readonly warn: (message: string) => void;
}

export function fail(call: Call, problem: string): never {
  throw functionError(call.source, call.span, problem);
}

/** A type of values that a parameter accepts, like Hydra's type annotations. */
export interface Acceptance {
  /** Its name with an article, for messages: `a number`. */
  readonly words: string;
  accepts(value: OverrideValue): boolean;
  /** What to write in place of a refused value. */
  readonly remedy?: (value: OverrideValue) => string;
}

/** The type of a value, for messages. */
export function describeValue(value: OverrideValue): string {
  if (value.kind !== "scalar") return NOUNS[value.kind];
  if (value.value === null) return "null";
  switch (typeof value.value) {
    case "boolean":
      return `the bool ${value.value}`;
    case "bigint":
      return `the int ${value.value}`;
    case "number":
      return `the float ${value.value}`;
    default:
      return `the string '${value.value}'`;
  }
}

const NOUNS = {
  list: "a list",
  dict: "a dict",
  extension: "extend_list(...)",
  choice: "a choice",
  range: "a range",
  interval: "an interval",
  glob: "a glob",
  zip: "a zip",
  union: "a union of sweeps",
} as const;

const isNull = (value: OverrideValue) => value.kind === "scalar" && value.value === null;

const isNumber = (value: OverrideValue) =>
  value.kind === "scalar" && value.value !== null && typeof value.value !== "string";

/** Any element but null, which Hydra's type annotations of sort, shuffle and choice exclude. */
const isElement = (value: OverrideValue) =>
  value.kind === "list" || value.kind === "dict" || (value.kind === "scalar" && !isNull(value));

/** Bools are numbers, as in Python. */
export const NUMBER: Acceptance = { words: "a number", accepts: isNumber };

export const NUMBER_OR_NULL: Acceptance = {
  words: "a number",
  accepts: (value) => isNumber(value) || isNull(value),
};

export const BOOL: Acceptance = {
  words: "true or false",
  accepts: (value) => value.kind === "scalar" && typeof value.value === "boolean",
};

export const LIST_OR_NULL: Acceptance = {
  words: "a list",
  accepts: (value) => value.kind === "list" || isNull(value),
};

export const ELEMENT_OR_CHOICE: Acceptance = {
  words: "a value or a choice",
  accepts: (value) => isElement(value) || value.kind === "choice",
};

export const ELEMENT_CHOICE_OR_RANGE: Acceptance = {
  words: "a value, a choice or a range",
  accepts: (value) => isElement(value) || value.kind === "choice" || value.kind === "range",
};

export const CHOICE_RANGE_OR_NULL: Acceptance = {
  words: "a choice or a range",
  accepts: (value) => value.kind === "choice" || value.kind === "range" || isNull(value),
};

const isTaggable = (value: OverrideValue) =>
  value.kind === "choice" || value.kind === "range" || value.kind === "interval";

export const SWEEP_OR_NULL: Acceptance = {
  words: "a choice, a range or an interval",
  accepts: (value) => isTaggable(value) || isNull(value),
};

export const STRING_OR_SWEEP: Acceptance = {
  words: "a string, a choice, a range or an interval",
  accepts: (value) =>
    isTaggable(value) || (value.kind === "scalar" && typeof value.value === "string"),
};

const isStringOrList = (value: OverrideValue) =>
  value.kind === "list" || (value.kind === "scalar" && typeof value.value === "string");

export const STRING_OR_LIST: Acceptance = {
  words: "a string or a list of strings",
  accepts: isStringOrList,
};

export const STRING_LIST_OR_NULL: Acceptance = {
  words: "a string or a list of strings",
  accepts: (value) => isStringOrList(value) || isNull(value),
};

export const ANY_BUT_GLOB: Acceptance = {
  words: "a value, a choice, a range or an interval",
  accepts: (value) => value.kind !== "glob" && value.kind !== "extension",
};

export const ANYTHING: Acceptance = { words: "a value", accepts: () => true };
