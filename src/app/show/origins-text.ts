import type { OriginLine } from "../../compose/index.ts";
import { describeOrigin } from "../../values/origin.ts";

/** Comments are aligned in one column, except on lines wider than this. */
const WIDEST_ALIGNED = 60;

/**
 * What `--cfg --origins` prints: the same YAML with the origin of each line as a comment, in one
 * column. Without the comments it is byte for byte what `--cfg` prints.
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
