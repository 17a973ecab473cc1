import { quoted } from "../overrides/quoting.ts";

/**
 * The override that assigns a list of strings to a key, whatever characters they hold: quotes,
 * `=`, commas and `${` are data. What `PROG ARG...` after `--` is short for, so that
 * overrides.yaml records it and the run can be repeated from there.
 */
export function listOverride(key: string, items: readonly string[]): string {
  return `${key}=[${items.map((item) => quoted(withoutInterpolations(item), "'")).join(",")}]`;
}

/** `${` would start an interpolation: a backslash keeps it, and those before it are doubled. */
const withoutInterpolations = (text: string): string =>
  text.replaceAll(/(\\*)\$\{/g, (_, backslashes: string) => `${backslashes}${backslashes}\\\${`);
