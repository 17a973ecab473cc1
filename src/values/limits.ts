import { checkObject, wrongArgument } from "./check-arguments.ts";
import { checkMembers, type OptionCheck, type OptionChecks } from "./check-options.ts";
import { ConfigError } from "./errors.ts";

/**
 * How much one operation may make of a small input: a few lines of aliases or interpolations can double what they refer
 * to again and again, and a compressed file can hold nothing but zeros. What files hold as it is read is never limited.
 */
export interface Limits {
  /** Values (maps, lists and scalars) that aliases and interpolations add to those that are written. */
  readonly values: number;
  /** UTF-16 units of the texts that they add or make, and those of the YAML that a config is written as, all of them. */
  readonly characters: number;
  /** Bytes that a compressed file may hold. */
  readonly unpackedBytes: number;
}

/**
 * A thousand times what any config of the recorded corpus stays below, and no more than some 500 MB of memory. Reports that
 * ncu compressed are unpacked to the disk.
 */
export const DEFAULT_LIMITS: Limits = {
  values: 1_000_000,
  characters: 100_000_000,
  unpackedBytes: 4_000_000_000,
};

/** The variables of the environment that set them for a command. */
export const LIMIT_VARIABLES: Readonly<Record<keyof Limits, string>> = {
  values: "HYDRACONF_MAX_VALUES",
  characters: "HYDRACONF_MAX_CHARACTERS",
  unpackedBytes: "HYDRACONF_MAX_UNPACKED_BYTES",
};

/**
 * The limits that an environment sets, and the defaults of the others.
 *
 * @throws ConfigError `value.wrong_type` for what is no number
 */
export function limitsOf(env: Readonly<Record<string, string | undefined>>): Limits {
  const { values, characters, unpackedBytes } = LIMIT_VARIABLES;
  // Hardly anybody sets one, and this is asked for by every operation.
  if (
    env[values] === undefined &&
    env[characters] === undefined &&
    env[unpackedBytes] === undefined
  )
    return DEFAULT_LIMITS;
  return {
    values: limitIn(env, "values"),
    characters: limitIn(env, "characters"),
    unpackedBytes: limitIn(env, "unpackedBytes"),
  };
}

function limitIn(env: Readonly<Record<string, string | undefined>>, name: keyof Limits): number {
  const variable = LIMIT_VARIABLES[name];
  const text = (env[variable] ?? "").trim();
  if (text === "") return DEFAULT_LIMITS[name];
  const limit = /^\d+(?:_\d+)*$/.test(text) ? Number(text.replaceAll("_", "")) : Number.NaN;
  if (Number.isSafeInteger(limit)) return limit;
  throw new ConfigError({
    code: "value.wrong_type",
    message: `${variable} must be a whole number, not '${text}'`,
    hint: `for example ${variable}=${DEFAULT_LIMITS[name] * 10}`,
  });
}

const limit: OptionCheck = (by, name, value) => {
  if (value !== undefined && (typeof value !== "number" || !(value >= 0)))
    throw wrongArgument(by, name, "a number from 0", value);
};

const LIMITS: OptionChecks<Limits> = { values: limit, characters: limit, unpackedBytes: limit };

/** The option `limits` of a function: those that are given, any of them. */
export const limitsOption: OptionCheck = (by, name, value) => {
  if (value === undefined) return;
  checkObject(by, name, value);
  checkMembers(by, value, LIMITS, `${name}.`);
};

/** Limits with others in their place, where they are given. */
export function withLimits(base: Limits, given: Partial<Limits> | undefined): Limits {
  if (given === undefined) return base;
  const { values, characters, unpackedBytes } = given;
  return {
    values: values ?? base.values,
    characters: characters ?? base.characters,
    unpackedBytes: unpackedBytes ?? base.unpackedBytes,
  };
}
