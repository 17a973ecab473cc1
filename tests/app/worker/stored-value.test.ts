import { expect, it } from "vitest";
import { MAX_STORED_DEPTH, storedValue } from "../../../src/app/worker/stored-value.ts";

const nested = (levels: number): unknown =>
  Array.from({ length: levels }).reduce<unknown>((inner) => [inner], 1);

it("keeps what a task returned as JSON, unless it is nested too deeply", () => {
  const bearable = nested(MAX_STORED_DEPTH);
  expect(storedValue(bearable)).toEqual(bearable);
  expect(storedValue(nested(MAX_STORED_DEPTH + 1))).toBe(
    `${"[".repeat(MAX_STORED_DEPTH + 1)}1${"]".repeat(MAX_STORED_DEPTH + 1)}`,
  );
});

it("bears any depth", () => {
  expect(storedValue(nested(100_000))).toBe("a value that cannot be shown");
});
