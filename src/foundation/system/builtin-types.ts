/**
 * What a value is that Node or the user's code made. `instanceof` would not tell: in Jest, in `node:vm` and after
 * `structuredClone`, values come from another realm, whose `Error`, `Map` and `Object` are others than ours.
 * `scripts/instanceof.grit` allows it for classes of our own only.
 */

/** What the built-in classes are told apart by, whichever realm made the value. */
const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

/** Also of a subclass, in whichever way it was made, and a `DOMException`, as which an aborted call ends. */
export const isError = (value: unknown): value is Error =>
  value instanceof Error || tagOf(value) === "Error" || tagOf(value) === "DOMException";

/** An error of a class of JavaScript's own. */
export const isErrorNamed = (
  name: "RangeError" | "SyntaxError" | "TypeError",
  value: unknown,
): value is Error => isError(value) && value.name === name;

/** The message of what was thrown, which need not be an error. */
export const messageOf = (thrown: unknown): string =>
  isError(thrown) ? thrown.message : String(thrown);

/** A Buffer is one, too. */
export const isBytes = (value: unknown): value is Uint8Array =>
  ArrayBuffer.isView(value) && tagOf(value) === "Uint8Array";

export const isMap = (value: unknown): value is ReadonlyMap<unknown, unknown> =>
  tagOf(value) === "Map";

export const isDate = (value: unknown): value is Date => tagOf(value) === "Date";

export const isUrl = (value: unknown): value is URL => tagOf(value) === "URL";

export const isAbortSignal = (value: unknown): value is AbortSignal =>
  tagOf(value) === "AbortSignal";

/** As written in braces, or without a prototype: no instance of a class. */
export function isPlainObject(value: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(value);
  return (
    prototype === null ||
    (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf"))
  );
}
