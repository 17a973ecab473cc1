import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { listOverride } from "../../src/app/list-override.ts";
import { composeTree } from "../conf/compose-tree.ts";

/** What the composed config holds after the override, interpolations resolved. */
const roundTrip = (items: readonly string[]): unknown =>
  composeTree(["workload=command", listOverride("workload.command", items)]).workload.command;

describe("listOverride", () => {
  test("reads as one would write it", () => {
    expect(listOverride("workload.command", ["prog", "--x=1", "it's"])).toBe(
      "workload.command=['prog','--x=1','it\\'s']",
    );
    expect(listOverride("k", [])).toBe("k=[]");
  });

  test.each([
    [["prog"]],
    [["a=b", "(c)", "[d]", "{e}", "f,g", "h:i"]],
    [["it's", '"quoted"', "\\", "a\\", "\\'", "\\\\"]],
    [["${HOME}", "\\${x}", "\\\\${x}", "$x", "a${", "}"]],
    [["", " ", "\t", "line\nbreak", "é", "😀"]],
    [["1", "1.5", "null", "true", "~x", "--", "-1"]],
  ])("%j comes back as it was", (items) => {
    expect(roundTrip(items)).toEqual(items);
  });

  test("any text comes back as it was", () => {
    const character = fc.oneof(
      fc.constantFrom("'", '"', "\\", "$", "{", "}", ",", "="),
      fc.string({ unit: "grapheme", maxLength: 3 }),
    );
    const text = fc.array(character, { maxLength: 8 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(
        fc.array(
          text.filter((item) => item !== "???"),
          { maxLength: 4 },
        ),
        (items) => {
          expect(roundTrip(items)).toEqual(items);
        },
      ),
    );
  });
});
