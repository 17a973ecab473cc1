import type { Config } from "../../../src/engine/compose/index.ts";
import { attempt, compare, type ExpectedError, judgeError } from "../judge.ts";
import { type Outcome, PASS } from "../suite.ts";

/**
 * The resolved text of a composed config against Hydra's: a text, an error (its class, or class
 * and message), or nothing where the case does not say.
 */
export function compareResolved(config: Config, text: unknown, error: unknown): Outcome {
  const result = attempt(() => config.toYaml({ resolve: true }));
  if (error !== undefined && error !== null) return judgeError(asExpected(error), result);
  if (text === undefined) return PASS;
  if (result.ok) return compare({ resolved: text }, { resolved: result.value });
  return {
    pass: false,
    expected: text,
    actual: String(result.error),
    why: `could not be resolved: ${String(result.error)}`,
    error: result.error,
  };
}

const asExpected = (error: unknown): ExpectedError =>
  typeof error === "string" ? { error, message: "" } : (error as ExpectedError);
