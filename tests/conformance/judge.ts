import { isDeepStrictEqual } from "node:util";
import { type ConfigError, isConfigError } from "../../src/engine/values/errors.ts";
import type { CorpusCase } from "./corpus.ts";
import { codeFitsClass, isAccident } from "./error-classes.ts";
import { missingSubject } from "./error-subjects.ts";
import { type Outcome, PASS } from "./suite.ts";

/** What our engine did: a value in the corpus' terms, or what it threw. */
export type Attempt =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown };

/**
 * The verdict on one case. `expected` is what Hydra gave where `testCase.ok` holds (JSON: tagged
 * values, texts, or an object of several of them), and `produce` computes ours in the same shape.
 * For an expected error, the class and what the message names are compared.
 */
export function judge(testCase: CorpusCase, expected: unknown, produce: () => unknown): Outcome {
  return judgeAttempt(testCase, expected, attempt(produce));
}

export async function judgeAsync(
  testCase: CorpusCase,
  expected: unknown,
  produce: () => Promise<unknown>,
): Promise<Outcome> {
  let result: Attempt;
  try {
    result = { ok: true, value: await produce() };
  } catch (error) {
    result = { ok: false, error };
  }
  return judgeAttempt(testCase, expected, result);
}

export function attempt(produce: () => unknown): Attempt {
  try {
    return { ok: true, value: produce() };
  } catch (error) {
    return { ok: false, error };
  }
}

export function judgeAttempt(testCase: CorpusCase, expected: unknown, result: Attempt): Outcome {
  if (testCase["ok"] === false) return judgeError(errorOf(testCase), result);
  if (result.ok) return compare(expected, result.value);
  const { error } = result;
  return {
    pass: false,
    expected,
    actual: describeError(error),
    why: isConfigError(error) ? `refused: ${error.message}` : `internal error: ${String(error)}`,
    error,
  };
}

/** An error as Hydra raised it: `error` and `message` of a case, or a nested `resolve_error`. */
export interface ExpectedError {
  readonly error: string;
  readonly message: string;
}

/** Whether what we did is an acceptable counterpart of an error in Hydra. */
export function judgeError(expected: ExpectedError, result: Attempt): Outcome {
  const shown = `${expected.error}: ${expected.message}`;
  if (result.ok)
    return { pass: false, expected: shown, actual: result.value, why: "should have been refused" };
  const { error } = result;
  const why = errorMismatch(expected, error);
  return why === null
    ? PASS
    : { pass: false, expected: shown, actual: describeError(error), why, error };
}

/** Whether two JSON values are equal; the order of object members does not matter. */
export function compare(expected: unknown, actual: unknown): Outcome {
  if (isDeepStrictEqual(expected, actual)) return PASS;
  return { pass: false, expected, actual, why: firstDifference(expected, actual, "") };
}

function errorMismatch(expected: ExpectedError, error: unknown): string | null {
  if (!isConfigError(error)) return `internal error instead of a coded one: ${String(error)}`;
  if (isAccident(expected.error)) return null;
  if (!codeFitsClass(error.code, expected.error))
    return `code ${error.code} does not correspond to ${expected.error}`;
  const subject = missingSubject(expected, error);
  return subject === null ? null : `the error does not name ${subject}`;
}

function errorOf(testCase: CorpusCase): ExpectedError {
  const { error, message } = testCase;
  if (typeof error !== "string") throw new Error("the case expects an error but names no class");
  return { error, message: typeof message === "string" ? message : "" };
}

function describeError(error: unknown): string {
  if (isConfigError(error)) return describeConfigError(error);
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function describeConfigError({ code, details }: ConfigError): string {
  const { origin, key, available, nearest, hint, message } = details;
  const place =
    origin?.kind === "override"
      ? `override ${origin.text} at ${origin.start ?? "-"}..${origin.end ?? "-"}`
      : origin?.kind === "file"
        ? `${origin.source.name} at ${origin.start}..${origin.end}`
        : undefined;
  const parts = { key, place, available, nearest, hint };
  return `${code}: ${message}\n${JSON.stringify(parts, null, 1)}`;
}

function firstDifference(expected: unknown, actual: unknown, path: string): string {
  if (isContainer(expected) && isContainer(actual)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      const [left, right] = [member(expected, key), member(actual, key)];
      if (!isDeepStrictEqual(left, right)) return firstDifference(left, right, `${path}/${key}`);
    }
  }
  const place = path === "" ? "" : `at ${path}: `;
  return `${place}expected ${excerpt(expected)}, got ${excerpt(actual)}`;
}

const isContainer = (value: unknown): value is object =>
  typeof value === "object" && value !== null;

const member = (container: object, key: string): unknown => Reflect.get(container, key);

function excerpt(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
