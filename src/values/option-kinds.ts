import { checkObject, checkText, wrongArgument } from "./check-arguments.ts";
import { checkKnown, checkMembers, type OptionCheck, type OptionChecks } from "./check-options.ts";

// What an option may be: the entries of the tables that `checkOptions` takes. Each throws ConfigError `value.wrong_type`.

/** An option that need not be given. */
export const optional =
  (check: OptionCheck): OptionCheck =>
  (by, name, value) => {
    if (value !== undefined) check(by, name, value);
  };

/** An option that is null for none. */
export const orNull =
  (check: OptionCheck): OptionCheck =>
  (by, name, value) => {
    if (value !== undefined && value !== null) check(by, name, value);
  };

export const text: OptionCheck = checkText;

/** A path, for which a URL is often taken. */
export const path: OptionCheck = (by, name, value) =>
  checkText(
    by,
    name,
    value,
    value instanceof URL ? "fileURLToPath(url) of node:url gives a path" : undefined,
  );

export const trueOrFalse: OptionCheck = (by, name, value) => {
  if (typeof value !== "boolean") throw wrongArgument(by, name, "true or false", value);
};

/** How many of something; Infinity for all. */
export const count: OptionCheck = (by, name, value) => {
  if (typeof value !== "number" || !(value >= 0))
    throw wrongArgument(by, name, "a number from 0", value);
};

export const fn: OptionCheck = (by, name, value) => {
  if (typeof value !== "function") throw wrongArgument(by, name, "a function", value);
};

/** Anything: what it may be is seen where it is used. */
export const anything: OptionCheck = () => {};

/** What is wrong with resolvers is said where they are registered: an iterable can be gone through but once. */
export const checkedAsRegistered: OptionCheck = anything;

/** @param is what such an object is: "a Date" */
export const instance =
  (of: abstract new (...args: never[]) => object, is: string): OptionCheck =>
  (by, name, value) => {
    if (!(value instanceof of)) throw wrongArgument(by, name, is, value);
  };

export const oneOf =
  (...choices: readonly string[]): OptionCheck =>
  (by, name, value) => {
    if (!choices.some((choice) => choice === value))
      throw wrongArgument(by, name, choices.map((choice) => `'${choice}'`).join(" or "), value);
  };

/**
 * @param of what the items are: "strings"
 * @param example of such a list
 */
export const listOf =
  (of: string, item: OptionCheck, example?: string): OptionCheck =>
  (by, name, value) => {
    const hint = example === undefined ? undefined : `${name}: ${example}`;
    if (!Array.isArray(value)) throw wrongArgument(by, name, `a list of ${of}`, value, hint);
    for (const [index, one] of value.entries()) item(by, `${name}[${index}]`, one);
  };

/** An object with members that are checked as options are. */
export const shape =
  <Members extends object>(checks: OptionChecks<Members>): OptionCheck =>
  (by, name, value) => {
    checkObject(by, name, value);
    checkMembers(by, value, checks, `${name}.`);
  };

/** As `shape` for an object of a program's own, which may have more members, for itself. */
export const having =
  <Members extends object>(checks: OptionChecks<Members>): OptionCheck =>
  (by, name, value) => {
    checkObject(by, name, value);
    checkKnown(by, value, checks, `${name}.`);
  };

/**
 * An object that others may have made, and more than what is needed of it: nothing is said of the rest.
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
 * A Map by names.
 * @param of what its values are: "configs"
 */
export const mapOf =
  (of: string, item: OptionCheck): OptionCheck =>
  (by, name, value) => {
    const hint = `${name}: new Map([["name", ...]])`;
    if (!isMap(value)) throw wrongArgument(by, name, `a Map of ${of}`, value, hint);
    for (const [key, one] of value) {
      checkText(by, `a name in ${name}`, key);
      item(by, `${name}['${key}']`, one);
    }
  };

/** Not by its class: a Map of another realm, or what is read as one, will do. */
const isMap = (value: unknown): value is ReadonlyMap<unknown, unknown> =>
  typeof value === "object" &&
  value !== null &&
  Symbol.iterator in value &&
  ["get", "has", "keys"].every((method) => typeof Reflect.get(value, method) === "function");

/** An object by names. */
export const recordOf =
  (item: OptionCheck): OptionCheck =>
  (by, name, value) => {
    checkObject(by, name, value);
    for (const [key, one] of Object.entries(value)) item(by, `${name}.${key}`, one);
  };

/** Variables of an environment, by name; one that is undefined is not set. */
export const environment: OptionCheck = recordOf(optional(text));
