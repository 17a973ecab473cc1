import { REGEX } from "../../report/selection/kernel-pattern.ts";

/** A kernel pattern for ncu's `--kernel-name`, which knows whole names and `regex:` but no globs. */
export function ncuKernelPattern(text: string): string {
  if (text.startsWith(REGEX) || !/[*?]/.test(text)) return text;
  const expression = [...text].map((character) =>
    character === "*" ? ".*" : character === "?" ? "." : escapeRegExp(character),
  );
  return `${REGEX}^${expression.join("")}$`;
}

const escapeRegExp = (character: string): string =>
  /[\\^$.|+()[\]{}]/.test(character) ? `\\${character}` : character;
