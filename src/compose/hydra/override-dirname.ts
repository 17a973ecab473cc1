import type { Override } from "../../overrides/ast.ts";
import { byCodePoint } from "../sources/repository.ts";

export interface DirnameOptions {
  readonly keyValueSeparator: string;
  readonly itemSeparator: string;
  /** Compared with the group or key, without prefix and package. */
  readonly excludeKeys: readonly string[];
}

/**
 * `hydra.job.override_dirname`: the overrides as they were typed, sorted, joined, with every `=`
 * replaced.
 * @see https://hydra.cc/docs/1.3/configure_hydra/job/#hydrajoboverride_dirname
 */
export function overrideDirname(
  overrides: readonly Override[],
  { keyValueSeparator, itemSeparator, excludeKeys }: DirnameOptions,
): string {
  return overrides
    .filter((override) => !excludeKeys.includes(override.keyOrGroup))
    .map((override) => override.origin.text)
    .sort(byCodePoint)
    .join(itemSeparator)
    .replaceAll("=", () => keyValueSeparator);
}
