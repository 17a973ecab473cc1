import { expect, it } from "vitest";
import { memoryCopyName } from "../../../src/profile/model/timeline.ts";

it.each([
  [1, "[CUDA memcpy Host-to-Device]"],
  [11, "[CUDA memcpy Unified Host-to-Device]"],
  [13, "[CUDA memcpy Unified Device-to-Device]"],
  [99, "[CUDA memcpy kind 99]"],
])("a copy of kind %i is %s in every tool's timeline", (kind, name) => {
  expect(memoryCopyName(kind)).toBe(name);
});
