/**
 * Whether what stands in a file of ours is what we write: one that was edited, or that a dying disk damaged, is told
 * as such before anything relies on it. A few checks by hand; a schema's validator would take longer to load than all
 * else that a worker does before its job.
 */
export type Check = (value: unknown) => boolean;

/** A check for each field of a record: the compiler names one that is missing. */
export type Shape<T> = { readonly [K in keyof Required<T>]: Check };

export const text: Check = (value) => typeof value === "string";
export const flag: Check = (value) => typeof value === "boolean";
export const count: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
export const amount: Check = (value) => typeof value === "number";
/** Of what cannot be less than none; a number in JSON may be too large for one of ours. */
export const measure: Check = (value) => Number.isFinite(value) && Number(value) >= 0;
export const time: Check = (value) => !Number.isNaN(Date.parse(String(value))) && text(value);

/** For any value that the passes through it bear: lists and objects within each other up to this many levels. */
export const nestedUpTo =
  (levels: number): Check =>
  (value) =>
    depthFits(value, levels);

function depthFits(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => depthFits(inner, levels - 1));
}

export const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
export const texts = listOf(text);

export const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);
export const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
/** For a field that may be absent. */
export const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

/** For an object whose keys are names. */
export const byName =
  (check: Check): Check =>
  (value) =>
    isObject(value) && Object.values(value).every(check);
export const textsByName = byName(text);

/** The first field that is not as a record has it; undefined where all are. What is no object has no field. */
export function wrongField<T>(value: unknown, shape: Shape<T>): string | undefined {
  if (!isObject(value)) return Object.keys(shape)[0];
  for (const name in shape) {
    const field = Object.hasOwn(value, name) ? value[name] : undefined;
    if (!shape[name](field)) return name;
  }
  return undefined;
}

/** Whether a value is such a record. */
export const fits = <T>(value: unknown, shape: Shape<T>): value is T =>
  wrongField(value, shape) === undefined;

export const objectOf =
  <T>(shape: Shape<T>): Check =>
  (value) =>
    fits(value, shape);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
