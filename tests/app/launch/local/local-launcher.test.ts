import { expect, test, vi } from "vitest";
import { createEndings } from "../../../../src/app/launch/local/local-launcher.ts";

const never = () => new Promise<string>(() => {});

test("what ends first comes first, also what ended before it was asked for", async () => {
  const endings = createEndings<string>();
  endings.add(never());
  endings.add(Promise.resolve("a"));
  endings.add(Promise.resolve("b"));
  await new Promise((done) => setImmediate(done));
  expect([await endings.next(), await endings.next(0), await endings.next(0)]).toEqual([
    "a",
    "b",
    undefined,
  ]);
  const later = endings.next(60_000);
  endings.add(Promise.resolve("c"));
  expect(await later).toBe("c");
});

test("a rejection is thrown, once", async () => {
  const endings = createEndings<string>();
  endings.add(Promise.reject(new Error("disk full")));
  await expect(endings.next()).rejects.toThrow("disk full");
  expect(await endings.next(0)).toBeUndefined();
});

test("looking again leaves nothing behind on what goes on: a sweep may wait for days", async () => {
  const endings = createEndings<string>();
  const long = never();
  const listened = vi.spyOn(long, "then");
  endings.add(long);
  for (let look = 0; look < 20; look++) await endings.next(0);
  expect(listened).toHaveBeenCalledOnce();
});
