/**
 * Checks that one of our files still has the shape in which it was written: it may have been edited, or damaged by a
 * failing disk. The checks are written by hand because loading a schema validator would take longer than everything
 * else that a worker does before its job.
 */
export type Check = (value: unknown) => boolean;

/** A check for each field of a record. The compiler reports a missing one. */
export type Shape<T> = { readonly [K in keyof Required<T>]: Check };

export const text: Check = (value) => typeof value === "string";
export const flag: Check = (value) => typeof value === "boolean";
export const count: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
export const amount: Check = (value) => typeof value === "number";
/** A finite number from 0; JSON can hold numbers too large for JavaScript, which become infinite. */
export const measure: Check = (value) => Number.isFinite(value) && Number(value) >= 0;
export const time: Check = (value) => !Number.isNaN(Date.parse(String(value))) && text(value);

/** Any value whose lists and objects are nested at most this deep, so that recursion over it is safe. */
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
/** A field that may be absent. */
export const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

/** An object with arbitrary keys. */
export const byName =
  (check: Check): Check =>
  (value) =>
    isObject(value) && Object.values(value).every(check);
export const textsByName = byName(text);

/**
 * The name of the first field that does not fit, or of the first field if the value is no object; undefined if all fit.
 */
export function wrongField<T>(value: unknown, shape: Shape<T>): string | undefined {
  if (!isObject(value)) return Object.keys(shape)[0];
  for (const name in shape) {
    const field = Object.hasOwn(value, name) ? value[name] : undefined;
    if (!shape[name](field)) return name;
  }
  return undefined;
}

/** Whether a value is a record of this shape. Further fields are allowed. */
export const fits = <T>(value: unknown, shape: Shape<T>): value is T =>
  wrongField(value, shape) === undefined;

export const objectOf =
  <T>(shape: Shape<T>): Check =>
  (value) =>
    fits(value, shape);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
