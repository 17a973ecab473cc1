import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { LONG } from "../longest-first.ts";

it("each file that runs first is there, once", () => {
  const isThere = (name: string): boolean => existsSync(new URL(`../${name}`, import.meta.url));
  expect(LONG.filter((name) => !isThere(name))).toEqual([]);
  expect(new Set(LONG).size).toBe(LONG.length);
});
