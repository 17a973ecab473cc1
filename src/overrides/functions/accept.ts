import type { OverrideValue } from "../ast.ts";

/** A set of values that a parameter accepts, as Hydra's type annotations have it. */
export interface Acceptance {
  /** With an article, for messages: `a number`. */
  readonly words: string;
  accepts(value: OverrideValue): boolean;
  /** What to write instead of a value that is not accepted. */
  readonly remedy?: (value: OverrideValue) => string;
}

/** What a value is, for messages. */
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
  choice: "a choice",
  range: "a range",
  interval: "an interval",
  glob: "a glob",
  zip: "a zip",
} as const;

const isNull = (value: OverrideValue) => value.kind === "scalar" && value.value === null;

const isNumber = (value: OverrideValue) =>
  value.kind === "scalar" && value.value !== null && typeof value.value !== "string";

/** Elements but null: Hydra has no type for that one where it sorts, shuffles and chooses. */
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
  accepts: (value) => value.kind !== "glob",
};
