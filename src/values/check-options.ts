import { checkObject } from "./check-arguments.ts";
import { ConfigError } from "./errors.ts";
import { alternativesTo } from "./nearest.ts";

// The options of a public function, held to a table of what each may be: TypeScript sees to it that the table has all of them, and the
// table sees to it that callers from JavaScript keep to the types. All throw ConfigError `value.wrong_type`, and name the option.

/**
 * Refuses a value that an option may not have.
 * @param by the function that was called
 * @param name the option, as messages call it
 */
export type OptionCheck = (by: string, name: string, value: unknown) => void;

/** What each option of a function may be. */
export type OptionChecks<Options extends object> = {
  readonly [Name in keyof Options]-?: OptionCheck;
};

/**
 * Refuses options that the types do not allow, and such as there are not: a name that is misspelt would be
 * ignored. One that is undefined is not given.
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

/** Refuses members that an object may not have, those that it inherits, and values that they may not be. */
export function checkMembers(by: string, value: object, checks: object, prefix: string): void {
  const names = Object.keys(checks);
  for (const name of Object.keys(value))
    if (!Object.hasOwn(checks, name)) throw unknownOption(by, prefix, name, names);
  for (const name of names)
    if (!Object.hasOwn(value, name) && Reflect.get(value, name) !== undefined)
      throw inheritedOption(by, `${prefix}${name}`);
  checkKnown(by, value, checks, prefix);
}

/** Checks the members that a table names, and says nothing of others. @param prefix of their names in messages: `html.` */
export function checkKnown(by: string, value: object, checks: object, prefix: string): void {
  for (const name of Object.keys(checks)) {
    const check: OptionCheck = Reflect.get(checks, name);
    check(by, `${prefix}${name}`, Reflect.get(value, name));
  }
}

/** Whoever copies options loses what is none of their own: a getter of a class, a prototype's value. */
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
