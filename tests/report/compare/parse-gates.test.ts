import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseGates } from "../../../src/report/compare/parse-gates.ts";
import { isConfigError } from "../../../src/values/errors.ts";
import { growth } from "../../growth.ts";
import { runs } from "../../runs.ts";

describe("the conditions of --fail-on", () => {
  it("takes several conditions, commas in quotes apart", () => {
    expect(parseGates('wall_ms>5%, region:"a,b".wall_ms>1').map(({ text }) => text)).toEqual([
      "wall_ms>5%",
      'region:"a,b".wall_ms>1',
    ]);
  });

  it.each([
    ['region:"a.total_ms>5%', 'region:"a.total_ms>5%'],
    ['wall_ms>5%,region:"a,b>1', 'region:"a,b>1'],
    ['region:"a".b.c>1', 'region:"a".b.c>1'],
    ["wall_ms>5%,>1", ">1"],
    ["region:wall_ms>1", "region:wall_ms>1"],
    ["region:.wall_ms>1", "region:.wall_ms>1"],
    ["region:a.>1", "region:a.>1"],
    ["region:a.5>1", "region:a.5>1"],
    ["a.b>1", "a.b>1"],
    ["a__b..c>1", "a__b..c>1"],
  ])("takes no part of %j for a condition", (text, told) => {
    expect(() => parseGates(text)).toThrow(`--fail-on: '${told}' is not a condition`);
  });

  it.each([
    ["region:a.b.wall_ms>1", "a.b", "wall_ms"],
    ["region:a.b__c.d.e>1", "a", "b__c.d.e"],
    ["region:b__c.d.e>1", "b__c.d", "e"],
    ["region:x.b__c.d__e.f>1", "x", "b__c.d__e.f"],
    ["region:x.b__c d.e>1", "x.b__c d", "e"],
    ["kernel:void f<1>(a>2).total_ms >= 1", "void f<1>(a>2)", "total_ms"],
    ['region:"a\\"b.c__d".e>1', 'a"b.c__d', "e"],
  ])("finds the name at the end of %s", (text, pattern, name) => {
    expect(parseGates(text)).toMatchObject([{ subject: { pattern }, name }]);
  });

  it.each([
    ['"', '\\"', ""],
    ["region:", "a__b.", "!>1"],
    ["region:", "a_", ">1"],
    ["a>", "1", "x"],
    ["", "<", ""],
    ["", ">1", "!"],
  ])("takes no longer for %j and many %j", async (before, part, after) => {
    const parse = (times: number) => {
      expect(() => parseGates(`${before}${part.repeat(times)}${after}`)).toThrow();
    };
    expect(await growth(parse, 1000)).toBeLessThan(40);
  });

  it("says how a condition looks where one is none", () => {
    expect(() => parseGates("wall_ms=5%")).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ hint: expect.anything() }) }),
    );
  });

  it("reads any text or refuses it with a coded error", () => {
    const text = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc
        .array(
          fc.constantFrom("region:", "kernel:", "a", ".", '"', "*", ">", ">=", "5", "%", ",", "\\"),
          { maxLength: 12 },
        )
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(text, (given) => {
        try {
          for (const gate of parseGates(given)) expect(given).toContain(gate.text);
        } catch (error) {
          expect(isConfigError(error)).toBe(true);
        }
      }),
      { numRuns: runs(500) },
    );
  });
});
