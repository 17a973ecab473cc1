import type { ParseArgsOptionsConfig } from "node:util";

/** What the command line of a script says; of `--help`, and of what the script does not know, the process ends. */
export function scriptArguments(
  url: string,
  taken?: { readonly options?: ParseArgsOptionsConfig; readonly most?: number },
): {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly words: readonly string[];
};
