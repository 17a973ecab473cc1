import { type Cause, type Composition, type Explanation, explain } from "../compose/index.ts";
import { showValue } from "../schema/show-value.ts";
import { ConfigError } from "../values/errors.ts";
import { describeOrigin } from "../values/position.ts";

/**
 * What `--explain KEY` prints: the value, what set it, how that file came into the composition, and
 * everything it replaced, newest first.
 *
 * @throws ConfigError `key.not_found`
 */
export function explainText(composition: Composition, key: string): string {
  const explanation = explain(composition, key);
  if (explanation === undefined)
    throw new ConfigError({
      code: "key.not_found",
      message: `Key '${key}' not found in config`,
      key,
    });
  return `${[valueLine(explanation), ...causeLines(explanation.cause, "set by"), ...replacedLines(explanation)].join("\n")}\n`;
}

const valueLine = ({ key, value }: Explanation): string => `${key} = ${showValue(value)}`;

function replacedLines({ replaced }: Explanation): readonly string[] {
  return replaced.flatMap(({ value, cause }) =>
    causeLines(cause, `replaced ${showValue(value)} of`),
  );
}

function causeLines({ origin, broughtInBy }: Cause, label: string): readonly string[] {
  const steps = broughtInBy
    .filter((step) => step.choice !== null)
    .map((step) => `    chosen by ${step.choice} (${describeOrigin(step.origin)})`);
  return [`  ${label} ${describeOrigin(origin)}`, ...steps];
}
