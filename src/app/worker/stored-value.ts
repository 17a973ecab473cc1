/**
 * A value as JSON can hold it: integers beyond JSON's, `inf` and `nan` as texts, what has no form at
 * all as its text, nothing as null; without secrets.
 */
export function storedValue(value: unknown, redact: (text: string) => string = same): unknown {
  if (value === undefined) return null;
  try {
    return parsed(redact(JSON.stringify(value, replace) ?? JSON.stringify(String(value))));
  } catch {
    return redact(String(value));
  }
}

const same = (text: string): string => text;

function replace(_: string, value: unknown): unknown {
  if (typeof value === "bigint")
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

/** A masked number is no JSON any more: then the whole is a text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
