import { expect, it } from "vitest";
import { createLongList } from "../../../src/profile/columns/long-list.ts";

it("holds what was added, in order, and nothing behind it", () => {
  const list = createLongList<number>();
  for (let at = 0; at < 20_000; at++) list.push(3 * at);
  expect(list.length()).toBe(20_000);
  for (const at of [0, 8_191, 8_192, 19_999]) expect(list.at(at)).toBe(3 * at);
  expect(list.at(20_000)).toBeUndefined();
  expect(list.at(100_000)).toBeUndefined();
});
