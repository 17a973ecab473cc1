/** `--explain` and `--origins`: where values come from, as text. */
import {
  type Cause,
  type Config,
  type DefaultsStep,
  type Explanation,
  leavesOf,
  type OriginLine,
  pathText,
} from "../../engine/compose/index.ts";
import { showValue } from "../../engine/schema/show-value.ts";
import { wrongArgument } from "../../engine/values/check-options.ts";
import { describeOrigin } from "../../engine/values/origin.ts";

/**
 * The output of `--explain KEY`: the value, what set it, the entries of defaults lists that included that file (from
 * the file up to the primary config), and everything it replaced, newest first. Lines are separated by line breaks; the
 * last has none.
 *
 * @throws ConfigError `value.wrong_type` for a value that is not from `config.explain`
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

/** What to do about several keys. */
export const ONE_KEY = "explain each key with a command of its own";

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

/** Comments are aligned in one column, except on lines wider than this. */
const WIDEST_ALIGNED = 60;

/**
 * The output of `--cfg --origins`: the same YAML with the origin of each line as a comment, in one column. Without the
 * comments it is byte for byte that of `--cfg`.
 */
export function originsText(lines: readonly OriginLine[]): string {
  let column = 0;
  for (const { text, node } of lines) {
    const wide = node === undefined ? 0 : width(text);
    if (wide <= WIDEST_ALIGNED) column = Math.max(column, wide);
  }
  return lines
    .map(({ text, node }) =>
      node === undefined
        ? `${text}\n`
        : `${text}${" ".repeat(Math.max(0, column - width(text)))}  # ${oneLine(describeOrigin(node.origin))}\n`,
    )
    .join("");
}

const width = (text: string): number => [...text].length;

/** Escapes control characters: an override may contain any, but a comment ends at a line break, and YAML allows no controls. */
export const oneLine = (text: string): string =>
  text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]|\p{Surrogate}/gu,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );

/** A config value for people: its text, and what set it. */
export interface ConfigLine {
  readonly key: string;
  readonly value: string;
  readonly origin: string;
}

/** All leaf values in the order of the tree, with their origins. */
export const configLines = ({ root }: Pick<Config, "root">): readonly ConfigLine[] =>
  leavesOf(root).map(({ path, node }) => ({
    key: oneLine(pathText(path)),
    value: oneLine(showValue(node)),
    origin: oneLine(describeOrigin(node.origin)),
  }));
