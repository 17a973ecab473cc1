import { nestedUpTo } from "../../system/shape.ts";
import { MAX_TREE_DEPTH } from "../../values/node.ts";

/** Lists and objects within each other beyond this are kept as a text. */
export const MAX_STORED_DEPTH = MAX_TREE_DEPTH;

/**
 * A value as JSON can hold it: integers beyond JSON's, `inf` and `nan` as texts, what has no form at
 * all or is nested too deeply as its text, nothing as null; without secrets.
 */
export function storedValue(value: unknown, redact: (text: string) => string = same): unknown {
  if (value === undefined) return null;
  try {
    const text = redact(JSON.stringify(value, replace) ?? JSON.stringify(String(value)));
    const stored = parsed(text);
    return isShallow(stored) ? stored : text;
  } catch {
    return redact(textOf(value));
  }
}

const isShallow = nestedUpTo(MAX_STORED_DEPTH);

/** Of lists that hold each other thousands of times there is none. */
function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return "a value that cannot be shown";
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
