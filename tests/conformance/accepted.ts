import { isConfigError } from "../../src/engine/values/errors.ts";
import accepted from "./accepted.json" with { type: "json" };
import type { Fail } from "./suite.ts";

/**
 * A case that we answer differently on purpose. Only accidents of Python may stand there (a
 * TypeError out of its internals, a crash), each is listed in docs/compatibility.md, and there our
 * answer must be a clear error.
 */
export interface AcceptedDifference {
  readonly id: string;
  readonly file: string;
  readonly reason: string;
}

/** At most this share of a file's cases may be accepted differences. */
const MAX_SHARE = 0.01;

export const ACCEPTED: readonly AcceptedDifference[] = accepted;

/** The entry that excuses a failure, or null: an excuse needs a coded error as our answer. */
export function excuseFor(file: string, id: string, failure: Fail): AcceptedDifference | null {
  if (!isConfigError(failure.error)) return null;
  return ACCEPTED.find((entry) => entry.file === file && entry.id === id) ?? null;
}

/** Whether this many accepted differences are more than a file of this size may have. */
export const tooManyAccepted = (count: number, cases: number): boolean => count > cases * MAX_SHARE;
