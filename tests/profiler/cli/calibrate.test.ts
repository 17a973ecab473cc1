import { expect, it } from "vitest";
import { countedIn } from "../../../src/profiler/cli/calibrate.ts";

it.each([
  ["1523441,,instructions:u,500000,100.00,,", 1523441],
  ["# started\n\n99,,instructions:u,1,100.00,0.9,insn per cycle", 99],
])("takes the instructions that perf counted: %j", (text, count) => {
  expect(countedIn(text)).toEqual({ count, why: "" });
});

it.each([
  ["<not supported>,,instructions:u,0,100.00,,", "perf says <not supported>: the processor's"],
  ["<not counted>,,instructions:u,0,0.00,,", "perf says <not counted>"],
  ["0,,instructions:u,0,0.00,,", "perf says 0"],
  ["Error: access denied", "perf printed no count"],
])("says why there are none: %j", (text, why) => {
  const found = countedIn(text);
  expect(found.count).toBeNull();
  expect(found.why).toContain(why);
});
