import { grouped } from "../text/plural.ts";
import { ConfigError, type ErrorCode, isConfigError } from "./errors.ts";
import { LIMIT_VARIABLES, type Limits } from "./limits.ts";
import type { Origin } from "./origin.ts";
import type { Place } from "./place.ts";
import { fullKeyOf } from "./place.ts";

/** What one operation has spent of its limits. Each operation has its own, and hands it to all that take part. */
export interface Budget {
  readonly limits: Limits;
  values: number;
  characters: number;
}

/** How large something is once it is written out: what is shared counts wherever it stands. */
export interface Size {
  readonly values: number;
  readonly characters: number;
}

/** @param spent what the operation had spent before, where another one has done the first part of it */
export const createBudget = (limits: Limits, spent: Size = NOTHING): Budget => ({
  limits,
  values: spent.values,
  characters: spent.characters,
});

export const NOTHING: Size = { values: 0, characters: 0 };

/** What has been spent by now. */
export const spentOf = ({ values, characters }: Budget): Size => ({ values, characters });

/**
 * Counts what is added at a place.
 * @throws ConfigError `limit.values`, `limit.characters`
 */
export function spend(budget: Budget, added: Size, at: Place): void {
  budget.values += added.values;
  if (budget.values > budget.limits.values) throw tooLarge("values", budget.limits, at);
  spendCharacters(budget, added.characters, at);
}

/** @throws ConfigError `limit.characters` */
export function spendCharacters(budget: Budget, added: number, at: Place): void {
  budget.characters += added;
  if (budget.characters > budget.limits.characters) throw tooLarge("characters", budget.limits, at);
}

/**
 * Refuses what is larger than all that may be added, wherever it came from.
 * @throws ConfigError `limit.values`, `limit.characters`
 */
export function refuseLarge({ limits }: Budget, { values, characters }: Size, at: Place): void {
  if (values > limits.values) throw tooLarge("values", limits, at);
  if (characters > limits.characters) throw tooLarge("characters", limits, at);
}

const tooLarge = (of: "values" | "characters", limits: Limits, at: Place): ConfigError =>
  limitError(of, limits[of], { key: fullKeyOf(at), origin: at.node.origin });

const CODES = {
  values: "limit.values",
  characters: "limit.characters",
  unpackedBytes: "limit.unpacked_bytes",
} as const satisfies Record<keyof Limits, ErrorCode>;

/** Where a limit was reached, and by what. */
export interface LimitReached {
  readonly key?: string;
  readonly origin?: Origin;
  /** What is too large, as the message begins. Default: aliases and interpolations, with the key. */
  readonly what?: string;
  /** What to do where a higher limit does not help. */
  readonly hint?: string;
}

/** The error of a limit, whatever was too large: what to do is the same. */
export function limitError(
  of: keyof Limits,
  limit: number,
  { key, origin, what, hint }: LimitReached = {},
): ConfigError {
  const upTo = key === undefined || key === "" ? "" : ` up to '${key}'`;
  const unit = of === "unpackedBytes" ? "bytes" : of;
  const is = what ?? `Aliases and interpolations${upTo} expand to`;
  const more = limit > 0 ? limit * 10 : 1;
  // Programs have no other way to reports than the command.
  const inProgram = of === "unpackedBytes" ? "" : `, or limits: { ${of}: ${more} } in a program`;
  return new ConfigError({
    code: CODES[of],
    message: `${is} more than ${grouped(String(limit))} ${unit}`,
    ...(key !== undefined && { key }),
    origin,
    hint:
      hint ??
      `if that is meant, raise the limit: ${LIMIT_VARIABLES[of]}=${more} in the environment${inProgram}`,
  });
}

/** Whether an error is that of a limit: nothing that does without a value may take it for one that is not there. */
export const isLimitError = (error: unknown): boolean =>
  isConfigError(error) && error.code.startsWith("limit.");
