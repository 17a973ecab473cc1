/**
 * Checks of the arguments and options of public functions: which values are accepted, and errors that name the others.
 */
import { isBytes, isUrl } from "../../foundation/system/builtin-types.ts";
import { alternativesTo, ConfigError } from "./errors.ts";

// Checks at run time what the types check in TypeScript. Without them a string passed for a list is split into letters,
// or fails far from the call. All throw ConfigError `value.wrong_type`.

/** @param by name of the called function, with which messages begin */
export function checkText(by: string, name: string, value: unknown, hint?: string): void {
  if (typeof value !== "string") throw wrongArgument(by, name, "a string", value, hint);
}

/** @param hint an example of such a list */
export function checkTexts(by: string, name: string, value: unknown, hint: string): void {
  if (!Array.isArray(value)) throw wrongArgument(by, name, "a list of strings", value, hint);
  for (const [index, item] of value.entries()) checkText(by, `${name}[${index}]`, item);
}

export function checkObject(
  by: string,
  name: string,
  value: unknown,
  hint?: string,
): asserts value is object {
  if (typeof value !== "object" || value === null)
    throw wrongArgument(by, name, "an object", value, hint);
}

export const wrongArgument = (
  by: string,
  name: string,
  expected: string,
  value: unknown,
  hint?: string,
): ConfigError =>
  new ConfigError({
    code: "value.wrong_type",
    message: `${by}: ${name} must be ${expected}, not ${described(value)}`,
    hint,
  });

function described(value: unknown): string {
  if (typeof value === "string") return `the string '${value}'`;
  if (typeof value === "number" || typeof value === "boolean") return `${typeof value} ${value}`;
  if (value === undefined || value === null) return String(value);
  if (isUrl(value)) return "a URL";
  if (isBytes(value)) return "bytes";
  return Array.isArray(value)
    ? "a list"
    : typeof value === "object"
      ? "an object"
      : `a ${typeof value}`;
}

// Options of a public function are checked against a table. TypeScript checks that the table has every option; the
// table checks calls from JavaScript. All throw ConfigError `value.wrong_type`, and name the option.

/**
 * Throws for a value that an option may not have.
 * @param by name of the called function
 * @param name the option, as messages call it
 */
export type OptionCheck = (by: string, name: string, value: unknown) => void;

/** The check of each option of a function. */
export type OptionChecks<Options extends object> = {
  readonly [Name in keyof Options]-?: OptionCheck;
};

/**
 * Refuses values that the types do not allow, and unknown names, since a misspelt option would be ignored. An option
 * that is undefined counts as not given.
 */
export function checkOptions<Options extends object>(
  by: string,
  options: unknown,
  checks: OptionChecks<Options>,
  example?: string,
): void {
  checkObject(by, "the options", options, example);
  checkMembers(by, options, checks, "");
}

/** Refuses unknown and inherited members of an object, and members with wrong values. */
export function checkMembers(by: string, value: object, checks: object, prefix: string): void {
  const names = Object.keys(checks);
  for (const name of Object.keys(value))
    if (!Object.hasOwn(checks, name)) throw unknownOption(by, prefix, name, names);
  for (const name of names)
    if (!Object.hasOwn(value, name) && Reflect.get(value, name) !== undefined)
      throw inheritedOption(by, `${prefix}${name}`);
  checkKnown(by, value, checks, prefix);
}

/** Checks the members that a table names, and ignores others. @param prefix of their names in messages: `html.` */
function checkKnown(by: string, value: object, checks: object, prefix: string): void {
  for (const name of Object.keys(checks)) {
    const check: OptionCheck = Reflect.get(checks, name);
    check(by, `${prefix}${name}`, Reflect.get(value, name));
  }
}

/** An inherited option (a getter of a class, a value of a prototype) would be lost when options are copied. */
const inheritedOption = (by: string, name: string): ConfigError =>
  new ConfigError({
    code: "value.wrong_type",
    message: `${by}: the option '${name}' is inherited from a class or another object`,
    hint: "options must be own properties of the object",
  });

function unknownOption(
  by: string,
  prefix: string,
  name: string,
  names: readonly string[],
): ConfigError {
  return new ConfigError({
    code: "value.wrong_type",
    message: `${by}: there is no option '${prefix}${name}'`,
    ...alternativesTo(name, names),
  });
}

// Checks of option values: the entries of the tables that `checkOptions` takes. Each throws ConfigError
// `value.wrong_type`.

/** An option that may be omitted. */
export const optional =
  (check: OptionCheck): OptionCheck =>
  (by, name, value) => {
    if (value !== undefined) check(by, name, value);
  };

/** An option that may be null, which stands for none. */
export const orNull =
  (check: OptionCheck): OptionCheck =>
  (by, name, value) => {
    if (value !== undefined && value !== null) check(by, name, value);
  };

export const text: OptionCheck = checkText;

/** A path. The error has a hint for URLs, which are often passed instead. */
export const path: OptionCheck = (by, name, value) =>
  checkText(
    by,
    name,
    value,
    isUrl(value) ? "fileURLToPath(url) of node:url gives a path" : undefined,
  );

export const trueOrFalse: OptionCheck = (by, name, value) => {
  if (typeof value !== "boolean") throw wrongArgument(by, name, "true or false", value);
};

/** A count; Infinity for no limit. */
export const count: OptionCheck = (by, name, value) => {
  if (typeof value !== "number" || !(value >= 0))
    throw wrongArgument(by, name, "a number from 0", value);
};

export const fn: OptionCheck = (by, name, value) => {
  if (typeof value !== "function") throw wrongArgument(by, name, "a function", value);
};

/** No check here: the value is checked where it is used. */
export const anything: OptionCheck = () => {};

/** Resolvers are checked where they are registered, because an iterable can be read only once. */
export const checkedAsRegistered: OptionCheck = anything;

/** @param what such a value is: "a Date" */
export const whichIs =
  (is: (value: unknown) => boolean, what: string): OptionCheck =>
  (by, name, value) => {
    if (!is(value)) throw wrongArgument(by, name, what, value);
  };

export const oneOf =
  (...choices: readonly string[]): OptionCheck =>
  (by, name, value) => {
    if (!choices.some((choice) => choice === value))
      throw wrongArgument(by, name, choices.map((choice) => `'${choice}'`).join(" or "), value);
  };

/**
 * @param items the plural noun for the items: "strings"
 * @param example of such a list
 */
export const listOf =
  (items: string, item: OptionCheck, example?: string): OptionCheck =>
  (by, name, value) => {
    const hint = example === undefined ? undefined : `${name}: ${example}`;
    if (!Array.isArray(value)) throw wrongArgument(by, name, `a list of ${items}`, value, hint);
    for (const [index, element] of value.entries()) item(by, `${name}[${index}]`, element);
  };

/** An object whose members are checked as options are. */
export const shape =
  <Members extends object>(checks: OptionChecks<Members>): OptionCheck =>
  (by, name, value) => {
    checkObject(by, name, value);
    checkMembers(by, value, checks, `${name}.`);
  };

/** As `shape`, but for an object of the caller, which may have further members for its own use. */
export const having =
  <Members extends object>(checks: OptionChecks<Members>): OptionCheck =>
  (by, name, value) => {
    checkObject(by, name, value);
    checkKnown(by, value, checks, `${name}.`);
  };

/**
 * An object that other code may have made: its methods are checked, other members are ignored.
 * @param is what such an object is: "a resolver"
 */
export const withMethods =
  (methods: readonly string[], is: string, hint?: string): OptionCheck =>
  (by, name, value) => {
    const isObject = typeof value === "object" && value !== null;
    if (!isObject || methods.some((method) => typeof Reflect.get(value, method) !== "function"))
      throw wrongArgument(by, name, is, value, hint);
  };

/**
 * A Map whose keys are names.
 * @param values the plural noun for its values: "configs"
 */
export const mapOf =
  (values: string, item: OptionCheck): OptionCheck =>
  (by, name, value) => {
    const hint = `${name}: new Map([["name", ...]])`;
    if (!isMap(value)) throw wrongArgument(by, name, `a Map of ${values}`, value, hint);
    for (const [key, element] of value) {
      checkText(by, `a name in ${name}`, key);
      item(by, `${name}['${key}']`, element);
    }
  };

/**
 * Checked by its methods and not by its class, so that a Map of another realm, or an object with the same methods, is
 * accepted.
 */
const isMap = (value: unknown): value is ReadonlyMap<unknown, unknown> =>
  typeof value === "object" &&
  value !== null &&
  Symbol.iterator in value &&
  ["get", "has", "keys"].every((method) => typeof Reflect.get(value, method) === "function");

/** An object whose keys are names. */
export const recordOf =
  (item: OptionCheck): OptionCheck =>
  (by, name, value) => {
    checkObject(by, name, value);
    for (const [key, element] of Object.entries(value)) item(by, `${name}.${key}`, element);
  };

/** Variables of an environment, by name; one that is undefined is not set. */
export const environment: OptionCheck = recordOf(optional(text));

/** A JSON Schema, the path of a file with one, or the validator of a library, which may be a function. */
export const schemaOption: OptionCheck = (by, name, value) => {
  const isValidator = typeof value === "function" && "~standard" in value;
  if (typeof value !== "string" && typeof value !== "boolean" && !isValidator)
    checkObject(by, name, value, "a JSON Schema, the path of a file with one, or a validator");
};
