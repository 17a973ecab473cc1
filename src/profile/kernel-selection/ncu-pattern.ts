import { REGEX } from "../../report/selection/kernel-pattern.ts";

/** A kernel pattern for ncu's `--kernel-name`, which knows whole names and `regex:` but no globs. */
export function ncuKernelPattern(text: string): string {
  if (text.startsWith(REGEX) || !/[*?]/.test(text)) return text;
  const expression = [...text].map((character) =>
    character === "*" ? ".*" : character === "?" ? "." : escapeRegExp(character),
  );
  return `${REGEX}^${expression.join("")}$`;
}

export const escapeRegExp = (text: string): string =>
  text.replaceAll(/[\\^$.|?*+()[\]{}]/g, "\\$&");
