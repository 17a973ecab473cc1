import { firstFew } from "../../../text/plural.ts";
import type { JobResult } from "../../job/job.ts";
import type { Score } from "./search.ts";

/** What a job achieved, or why there is no number to go by. */
export type Outcome =
  | { readonly score: number }
  | { readonly score: null; readonly problem: string };

/**
 * The number that a job's task returned.
 *
 * @param key where it stands in what was returned, with dots; undefined for the number itself
 */
export function outcomeOf(result: JobResult, key: string | undefined): Outcome {
  if (result.status === "failed") return { score: null, problem: "the job failed" };
  const value = key === undefined ? result.returnValue : valueAt(result.returnValue, key);
  const score = numberOr(typeof value === "bigint" ? Number(value) : value);
  if (score !== null) return { score };
  const what =
    key === undefined ? "the value that the task" : `'${key}' in the value that the task`;
  const instead = value === undefined ? `nothing${fields(result.returnValue)}` : shown(value);
  return { score: null, problem: `${what} returned is not a finite number but ${instead}` };
}

/** What a record of the sweep cannot keep as a number is none: a resumed sweep reads it from there. */
const numberOr = (value: unknown): Score =>
  typeof value === "number" && Number.isFinite(value) ? value : null;

/** A key with dots in it may also stand there as it is. */
function valueAt(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  if (Object.hasOwn(value, key)) return Reflect.get(value, key);
  const dot = key.indexOf(".");
  if (dot < 0) return undefined;
  const first = key.slice(0, dot);
  return Object.hasOwn(value, first)
    ? valueAt(Reflect.get(value, first), key.slice(dot + 1))
    : undefined;
}

function shown(value: unknown): string {
  if (typeof value === "string") return `the string '${value.slice(0, 40)}'`;
  return typeof value === "object" && value !== null ? `an object${fields(value)}` : String(value);
}

/** What an objective could name: what is wrong with it is mostly its spelling. */
function fields(value: unknown): string {
  const numbers = numberKeys(value);
  const all = typeof value === "object" && value !== null ? Object.keys(value) : [];
  const names = numbers.length > 0 ? numbers : all;
  return names.length === 0 ? "" : ` (there is ${firstFew(names, MOST_NAMES)})`;
}

const MOST_NAMES = 8;

/** The keys of the numbers in what was returned, as an objective names them. */
function numberKeys(value: unknown): readonly string[] {
  const keys: string[] = [];
  // A task may return any object: one that is met again, as in a circle, has been looked at.
  const seen = new Set([value]);
  const level = [{ value, parent: "" }];
  for (const { value: holder, parent } of level) {
    if (typeof holder !== "object" || holder === null || isArrayLike(holder)) continue;
    for (const [name, one] of Object.entries(holder)) {
      const key = `${parent}${name}`;
      if (typeof one === "number" || typeof one === "bigint") keys.push(key);
      else if (!seen.has(one)) level.push({ value: one, parent: `${key}.` });
      seen.add(one);
    }
  }
  return keys;
}

const isArrayLike = (value: object): boolean => Array.isArray(value) || ArrayBuffer.isView(value);
