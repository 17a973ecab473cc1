import { ConfigError } from "./errors.ts";

// What types say to TypeScript, said to JavaScript: a text for a list is split into letters, or ends in an
// error far from here. All throw ConfigError `value.wrong_type`.

/** @param by the function that was called, as messages begin with it */
export function checkText(by: string, name: string, value: unknown, hint?: string): void {
  if (typeof value !== "string") throw wrongArgument(by, name, "a string", value, hint);
}

/** @param hint an example of such a list */
export function checkTexts(by: string, name: string, value: unknown, hint: string): void {
  if (!Array.isArray(value)) throw wrongArgument(by, name, "a list of strings", value, hint);
  for (const [index, item] of value.entries()) checkText(by, `${name}[${index}]`, item);
}

export function checkObject(
  by: string,
  name: string,
  value: unknown,
  hint?: string,
): asserts value is object {
  if (typeof value !== "object" || value === null)
    throw wrongArgument(by, name, "an object", value, hint);
}

export const wrongArgument = (
  by: string,
  name: string,
  expected: string,
  value: unknown,
  hint?: string,
): ConfigError =>
  new ConfigError({
    code: "value.wrong_type",
    message: `${by}: ${name} must be ${expected}, not ${described(value)}`,
    hint,
  });

function described(value: unknown): string {
  if (typeof value === "string") return `the string '${value}'`;
  if (typeof value === "number" || typeof value === "boolean") return `${typeof value} ${value}`;
  if (value === undefined || value === null) return String(value);
  if (value instanceof URL) return "a URL";
  if (value instanceof Uint8Array) return "bytes";
  return Array.isArray(value)
    ? "a list"
    : typeof value === "object"
      ? "an object"
      : `a ${typeof value}`;
}
