import { expect, test } from "vitest";
import { splitAtEquals } from "../../../src/foundation/text/shell-words.ts";

test.each([
  ["a=b", ["a", "b"]],
  ["a=b=c", ["a", "b=c"]],
  ["a=", ["a", ""]],
  ["=b", ["", "b"]],
  ["a", ["a", undefined]],
])("%s is split at its first '='", (word, parts) => {
  expect(splitAtEquals(word)).toEqual(parts);
});
