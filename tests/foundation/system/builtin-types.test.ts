import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import {
  isAbortSignal,
  isBytes,
  isDate,
  isError,
  isErrorNamed,
  isMap,
  isPlainObject,
  isUrl,
  messageOf,
} from "../../../src/foundation/system/builtin-types.ts";

/** A value of this realm, and one of another. */
const both = (code: string): readonly unknown[] => [
  runInNewContext(code),
  new Function(`return (${code});`)(),
];

describe("what a value is, in every realm", () => {
  it.each([
    ["new Error('e')", isError],
    ["new (class Own extends TypeError {})('e')", isError],
    ["Object.create(Error.prototype)", (value: unknown) => isError(value)],
    ["new Map([[1, 2]])", isMap],
    ["new Uint8Array(2)", isBytes],
    ["new Date(0)", isDate],
    ["({ a: 1 })", (value: unknown) => isPlainObject(value as object)],
    ["Object.create(null)", (value: unknown) => isPlainObject(value as object)],
    ["JSON.parse('{}')", (value: unknown) => isPlainObject(value as object)],
  ])("%s", (code, is) => {
    const [foreign, own] = both(code);
    expect(is(own)).toBe(true);
    // An object that only inherits from another realm's Error has nothing to know it by.
    if (!code.startsWith("Object.create(Error")) expect(is(foreign)).toBe(true);
  });

  it.each([
    ["'text'", isError],
    ["({ message: 'm', stack: 's' })", isError],
    ["new Uint16Array(2)", isBytes],
    ["new ArrayBuffer(2)", isBytes],
    ["new Set()", isMap],
    ["new (class Own {})()", (value: unknown) => isPlainObject(value as object)],
    ["[]", (value: unknown) => isPlainObject(value as object)],
    ["new Map()", (value: unknown) => isPlainObject(value as object)],
    ["Object.create({})", (value: unknown) => isPlainObject(value as object)],
  ])("not %s", (code, is) => {
    for (const value of both(code)) expect(is(value)).toBe(false);
  });

  it("of the platform", () => {
    expect(isUrl(new URL("file:///a"))).toBe(true);
    expect(isAbortSignal(new AbortController().signal)).toBe(true);
    expect(isError(new DOMException("gone", "AbortError"))).toBe(true);
    expect(isBytes(Buffer.from("a"))).toBe(true);
  });

  it("errors by their names", () => {
    const [foreign, own] = both("(() => { try { JSON.parse('{'); } catch (e) { return e; } })()");
    expect([own, foreign].map((error) => isErrorNamed("SyntaxError", error))).toEqual([true, true]);
    expect(isErrorNamed("RangeError", foreign)).toBe(false);
  });

  it("the message of anything thrown", () => {
    expect(both("new Error('said')").map(messageOf)).toEqual(["said", "said"]);
    expect(messageOf("text")).toBe("text");
    expect(messageOf(undefined)).toBe("undefined");
  });
});
