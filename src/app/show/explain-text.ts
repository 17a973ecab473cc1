import type { Cause, DefaultsStep, Explanation } from "../../compose/index.ts";
import { showValue } from "../../schema/show-value.ts";
import { wrongArgument } from "../../values/check-options.ts";
import { describeOrigin } from "../../values/origin.ts";
import { oneLine } from "./origins-text.ts";

/**
 * What `--explain KEY` prints: the value, what set it, which entry of which defaults list brought
 * that file in (from the file up to the primary config), and everything it replaced, newest first.
 * Lines are parted by line breaks; none stands at the end.
 *
 * @throws ConfigError `value.wrong_type` for anything but what `config.explain` gives
 */
export function renderExplanation(explanation: Explanation): string {
  if (typeof explanation !== "object" || explanation === null || !("cause" in explanation))
    throw wrongArgument(
      "renderExplanation",
      "the explanation",
      "what config.explain(key) gives",
      explanation,
    );
  const { key, value, cause, replaced } = explanation;
  const lines = [
    `${key} = ${showValue(value)}`,
    ...causeLines(cause, "set by"),
    ...replaced.flatMap((earlier) =>
      causeLines(earlier.cause, `replaced ${showValue(earlier.value)} of`),
    ),
  ];
  return lines.join("\n");
}

const causeLines = ({ origin, broughtInBy }: Cause, label: string): readonly string[] => [
  `  ${label} ${oneLine(describeOrigin(origin))}`,
  ...broughtInBy
    .map((step, index) => `    ${index === 0 ? rootText(step) : entryText(step)}`)
    .reverse(),
];

const entryText = ({ choice, configPath, origin }: DefaultsStep): string => {
  const entry = choice === null ? `listed as ${configPath}` : `chosen by ${choice}`;
  return `${entry} (${oneLine(describeOrigin(origin))})`;
};

const rootText = ({ configPath }: DefaultsStep): string => `in the composition of ${configPath}`;
