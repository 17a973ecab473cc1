import { describe, expect, it } from "vitest";
import {
  createRangeReplay,
  memoryCopyName,
  type RangeInstance,
} from "../../../src/profiler/model/timeline.ts";

it.each([
  [1, "[CUDA memcpy Host-to-Device]"],
  [11, "[CUDA memcpy Unified Host-to-Device]"],
  [13, "[CUDA memcpy Unified Device-to-Device]"],
  [99, "[CUDA memcpy kind 99]"],
])("a copy of kind %i is %s in every tool's timeline", (kind, name) => {
  expect(memoryCopyName(kind)).toBe(name);
});

describe("replay of ranges whose ends are known", () => {
  const range = (name: string, startNs: number, endNs: number | null): RangeInstance => ({
    id: startNs,
    kind: "push_pop",
    domain: "",
    name,
    threadId: 1,
    startNs,
    endNs,
    endThreadId: 1,
    category: null,
    color: null,
    payload: null,
  });
  const replayed = (ranges: readonly RangeInstance[]): readonly string[] => {
    const events: string[] = [];
    const replay = createRangeReplay(ranges.length, (place) => ranges[place], {
      opens: ({ name }, endNs) => events.push(`${name} opens, until ${endNs}`),
      closes: ({ name }) => events.push(`${name} closes`),
    });
    replay.until(Number.POSITIVE_INFINITY);
    return events;
  };

  it("closes of equal ends the one first that opened last", () => {
    expect(replayed([range("outer", 0, 9), range("inner", 1, 9), range("deepest", 2, 9)])).toEqual([
      ...["outer opens, until 9", "inner opens, until 9", "deepest opens, until 9"],
      ...["deepest closes", "inner closes", "outer closes"],
    ]);
  });

  it("closes at one time what was open, and then opens others; an empty range closes at once", () => {
    expect(replayed([range("a", 0, 5), range("empty", 5, 5), range("b", 5, null)])).toEqual([
      ...["a opens, until 5", "a closes", "empty opens, until 5", "empty closes"],
      "b opens, until Infinity",
    ]);
  });
});
