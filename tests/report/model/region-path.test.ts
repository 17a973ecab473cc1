import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  isInside,
  pathLines,
  pathWords,
  placeKey,
  type Ranged,
  startsAt,
} from "../../../src/report/model/region-path.ts";

/** `name` in the default domain, `name@domain` in another. */
const placed = (text: string): Ranged => {
  const ranges = text.split("/").map((range) => {
    const [name = "", domain = ""] = range.split("@");
    return { name, domain };
  });
  const path_domains = ranges.map(({ domain }) => domain);
  const domain = path_domains.at(-1) ?? "";
  const isMixed = path_domains.some((other) => other !== domain);
  const path = ranges.map(({ name }) => name);
  return { path, domain, kind: "push_pop", ...(isMixed && { path_domains }) };
};

describe("the place of a region", () => {
  it("is inside of another one where names and domains agree", () => {
    const inside = (region: string, around: string) => isInside(placed(region), placed(around));
    expect(inside("a@A/b@io", "a@A")).toBe(true);
    expect(inside("a@A/b@io", "a@B")).toBe(false);
    expect(inside("a@A/b@io", "a@io")).toBe(false);
    expect(inside("a@A/b@A", "a@A")).toBe(true);
    expect(inside("a/b@A", "a")).toBe(true);
    expect(inside("a@A", "a@A")).toBe(false);
    expect(startsAt(placed("a@A"), placed("a@A"))).toBe(true);
  });

  it("has one key, whichever region tells it", () => {
    expect(placeKey(placed("a@A/b@io/c"), 1)).toBe(placeKey(placed("a@A")));
    expect(placeKey(placed("a@A/b@io/c"), 2)).toBe(placeKey(placed("a@A/b@io")));
    expect(placeKey(placed("a@A/b@A/c"), 2)).toBe(placeKey(placed("a@A/b@A")));
    expect(placeKey(placed("a@A/b@io"))).not.toBe(placeKey(placed("a@B/b@io")));
  });

  it("has words that no other place has", () => {
    const level = fc.record({
      name: fc.constantFrom("a", "b"),
      domain: fc.constantFrom("", "A", "io"),
    });
    const place = fc
      .array(level, { minLength: 1, maxLength: 3 })
      .map((levels) => levels.map(({ name, domain }) => `${name}@${domain}`).join("/"));
    fc.assert(
      fc.property(place, place, (one, other) => {
        expect(pathWords(placed(one)) === pathWords(placed(other))).toBe(one === other);
      }),
    );
    expect(pathWords(placed("a@A/b@A"))).toBe("a / b @A");
    expect(pathWords(placed("a/b@A/c"))).toBe("a @default / b @A / c");
  });

  it("is told with domains only beside regions of others", () => {
    const lines = (...texts: readonly string[]) => {
      const regions = texts.map(placed);
      return regions.map(pathLines(regions));
    };
    expect(lines("a@A", "a@A/b@A")).toEqual(["a", "a / b"]);
    expect(lines("a@A", "a@A/b")).toEqual(["a @A", "a @A / b"]);
    expect(lines("a@A/b")).toEqual(["a @A / b"]);
    const outside: Ranged = { path: ["(outside)"], domain: "", kind: "outside" };
    const step = placed("step@A");
    expect(pathLines([step, outside])(step)).toBe("step");
  });

  it("is told with its kind only beside a region of its place", () => {
    const step = placed("step@A");
    const inOneGo: Ranged = { ...step, kind: "start_end" };
    const inside: Ranged = { ...placed("step@A/step@A"), kind: "start_end" };
    const regions = [step, inOneGo, inside];
    expect(regions.map(pathLines(regions))).toEqual([
      "step (push/pop)",
      "step (start/end)",
      "step / step",
    ]);
    const elsewhere: Ranged = { ...placed("step"), kind: "start_end" };
    expect([step, elsewhere].map(pathLines([step, elsewhere]))).toEqual(["step @A", "step"]);
  });
});
