import { describe, expect, it } from "vitest";
import { formatDelta, formatPercent, NOT_MEASURED } from "../../../src/pages/numbers.ts";
import {
  changeOf,
  countChange,
  isNotable,
  pairedChange,
  pairedInterval,
  partChange,
  present,
  shownHalf,
  timeChange,
  withNoise,
} from "../../../src/report/compare/change.ts";

const measured = (value: number, uncertainty: number | null = null) => ({ value, uncertainty });

describe("the verdict on a change", () => {
  it.each([
    ["of 0.9 % without a spread", measured(1000), measured(1009), "same"],
    ["of 1 % without a spread", measured(1000), measured(1010), "unclear"],
    ["of 4.9 % without a spread", measured(1000), measured(1049), "unclear"],
    ["of 5 % without a spread", measured(1000), measured(1050), "more"],
    ["of -5 % without a spread", measured(1000), measured(950), "less"],
    ["from nothing without a spread", measured(0), measured(1), "more"],
    ["where the spread of B is not known", measured(1000, 1), measured(1030), "unclear"],
    ["where the spread of A is not known", measured(1000), measured(1030, 1), "unclear"],
    ["beyond the spread, but too small to matter", measured(1000, 1), measured(1009, 1), "same"],
    ["beyond the spread", measured(1000, 3), measured(1010, 4), "more"],
    ["no larger than the spread", measured(100, 3), measured(105, 4), "unclear"],
    ["within a spread too small to matter", measured(1000, 6), measured(1005, 8), "same"],
    ["within a spread of 1 % of the larger", measured(999, 6), measured(1000, 8), "same"],
    ["of nothing, whatever the spread", measured(10, 50), measured(10, 50), "same"],
  ])("%s", (_, a, b, verdict) => {
    expect(changeOf(a, b).verdict).toBe(verdict);
  });

  it("says what is new, what is gone, and what neither has", () => {
    const absent = { delta: null, relative: null, uncertainty: null };
    expect(changeOf(null, measured(1))).toEqual({ a: null, b: 1, ...absent, verdict: "added" });
    expect(countChange(2, null)).toEqual({ a: 2, b: null, ...absent, verdict: "removed" });
    expect(changeOf(null, null)).toEqual({ a: null, b: null, ...absent, verdict: "same" });
  });

  it("takes every difference of a count for one", () => {
    expect(countChange(1000, 1001)).toMatchObject({ delta: 1, verdict: "more" });
    expect(countChange(1000, 999)).toMatchObject({ delta: -1, verdict: "less" });
    expect(countChange(3, 3)).toMatchObject({ delta: 0, verdict: "same" });
  });
});

describe("a change with the noise of a calibration", () => {
  it.each([
    ["more than it", 100, 110, 5, "more"],
    ["less than it", 110, 100, 5, "less"],
    ["within it", 100, 110, 20, "unclear"],
    ["within one that is too small to matter", 99.9, 100, 1, "same"],
    ["beyond one that is too small to matter", 1000, 1005, 1, "same"],
  ])("is %s", (_, a, b, noise, verdict) => {
    const change = changeOf(measured(a, 50), measured(b, 50));
    expect(withNoise(change, noise, 7)).toEqual({
      ...change,
      ...{ uncertainty: noise, freedom: 7, verdict },
    });
  });

  it("has none where one report lacks the number", () => {
    for (const change of [changeOf(measured(1), null), changeOf(null, measured(1))])
      expect(withNoise(change, 1, 7)).toBe(change);
  });
});

describe("a change of a part", () => {
  it.each([
    [11, "more"],
    [10.9, "same"],
    [9.1, "same"],
    [9, "less"],
  ])("from 10 to %f of 100 is %s", (after, verdict) => {
    expect(partChange(changeOf(measured(10), measured(after)), 100).verdict).toBe(verdict);
  });

  it("is new however small it is", () => {
    expect(partChange(changeOf(null, measured(0.1)), 100).verdict).toBe("added");
  });
});

it("numbers that neither report has are none of the comparison", () => {
  const [gone, added] = [countChange(1, null), countChange(null, 0)];
  expect(present({ neither: countChange(null, null), gone, added })).toEqual({ gone, added });
});

describe("the verdict on a change of a time", () => {
  const runs = (value: number, uncertainty: number) => ({ value, uncertainty, freedom: 4 });

  it.each([
    ["ten times as long", measured(10), measured(100), "unclear", true],
    ["beyond the spread of calls", measured(100, 1), measured(200, 1), "unclear", true],
    ["where only one side ran repeatedly", runs(100, 1), measured(200, 1), "unclear", true],
    ["from nothing", measured(0), measured(5), "unclear", true],
    ["less than a hundredth apart", measured(1000), measured(1009), "same", true],
    ["not apart", measured(10), measured(10), "same", undefined],
    ["beyond the spread of runs", runs(100, 1), runs(105, 1), "more", undefined],
    ["within the spread of runs", runs(100, 5), runs(105, 5), "unclear", undefined],
    ["of one report alone", measured(10), null, "removed", undefined],
  ])("%s", (_, a, b, verdict, tooFew) => {
    const change = timeChange(a, b);
    expect([change.verdict, change.too_few_runs]).toEqual([verdict, tooFew]);
  });
});

describe("the degrees of freedom of a change", () => {
  const runs = (uncertainty: number | null, freedom: number) => ({
    ...{ value: 100, uncertainty, freedom },
  });

  it("are those of Welch and Satterthwaite", () => {
    expect(changeOf(runs(3, 4), runs(4, 9)).freedom).toBeCloseTo(25 ** 2 / (81 / 4 + 256 / 9), 9);
    // Equal ones of equal runs add up.
    expect(changeOf(runs(2, 4), runs(2, 4)).freedom).toBe(8);
    expect(changeOf(runs(2, 4), runs(0, 9)).freedom).toBe(4);
    expect(changeOf(runs(null, 4), runs(2, 9)).freedom).toBe(9);
    expect(changeOf(runs(2, 4), runs(null, 9)).freedom).toBe(4);
  });

  it("are the fewer where nothing varies, and none of single runs", () => {
    expect(changeOf(runs(0, 4), runs(0, 9)).freedom).toBe(4);
    expect(changeOf(runs(1, 4), measured(100, 1)).freedom).toBeUndefined();
    expect(changeOf(measured(100, 1), runs(1, 4)).freedom).toBeUndefined();
  });
});

describe("a change that is worth a look", () => {
  it.each([
    ["of 5 % of single runs", timeChange(measured(100), measured(105)), true],
    ["of -5 % of single runs", timeChange(measured(100), measured(95)), true],
    ["of 4.9 % of single runs", timeChange(measured(1000), measured(1049)), false],
    ["from nothing", timeChange(measured(0), measured(1)), true],
    ["too small to matter", timeChange(measured(1000), measured(1009)), false],
    ["more than the spread", changeOf(measured(100, 1), measured(110, 1)), true],
    ["less than the spread", changeOf(measured(110, 1), measured(100, 1)), true],
    ["within the spread", changeOf(measured(100, 9), measured(110, 9)), false],
    ["of one report alone", changeOf(measured(100), null), false],
  ])("%s: %s", (_, change, isOne) => {
    expect(isNotable(change)).toBe(isOne);
  });

  it("is one only if single runs differ by so much that are not called the same", () => {
    const single = timeChange(measured(100), measured(200));
    expect(isNotable({ ...single, verdict: "same" })).toBe(false);
    expect(isNotable({ ...single, delta: null })).toBe(false);
  });
});

describe("a change in pairs of runs", () => {
  const paired = (factor: number) =>
    pairedChange(
      timeChange(measured(100), measured(100 * factor)),
      [0.002, -0.002, 0.001, -0.001, 0.002, -0.002, 0.001, -0.001].map(
        (off) => Math.log(factor) + off,
      ),
    );

  it.each([
    [2, "more"],
    [0.5, "less"],
    [1.03, "more"],
    [0.97, "less"],
    [1.004, "same"],
    [1.0005, "same"],
    [0.9995, "same"],
    [1, "same"],
  ])("of %f times is %s", (factor, verdict) => {
    expect(paired(factor).verdict).toBe(verdict);
  });

  it.each([
    ["of nothing in the mean, while pairs differ", 100, 100, 0, 0.5, "unclear"],
    ["of which no pair differs", 100, 100, 0, 0, "same"],
    ["that some pairs contradict", 100, 120, 0.2, 0.5, "unclear"],
    ["that pairs tell, though the means hardly differ", 1000, 1005, 0.02, 0.001, "more"],
    ["too small to matter in pairs, though the means differ", 1000, 1020, 0.009, 0.002, "same"],
    ["of exactly a hundredth", 100, 101, 0.02, 0.001, "more"],
    ["from nothing", 0, 5, 0.2, 0.001, "more"],
  ])("%s", (_, a, b, middle, spread, verdict) => {
    const ratios = Array.from({ length: 8 }, (_, at) => middle + (at % 2 === 0 ? spread : -spread));
    const change = pairedChange(timeChange(measured(a), measured(b)), ratios);
    expect(change.verdict).toBe(verdict);
  });

  it("is the mean ratio of the pairs, which lies in its interval, not that of the means", () => {
    const ratios = [0.1, 0.12, 0.08, 0.11, 0.09, 0.1];
    const change = pairedChange(timeChange(measured(100), measured(180)), ratios);
    expect(change).toMatchObject({ delta: 80, relative: expect.closeTo(Math.expm1(0.1), 12) });
    const { low, high } = pairedInterval(change) ?? expect.unreachable("pairs have an interval");
    expect([low < Math.expm1(0.1), high > Math.expm1(0.1)]).toEqual([true, true]);
  });

  it("is none of what one report lacks", () => {
    const gone = timeChange(measured(100), null);
    expect(pairedChange(gone, [0.1, 0.2, 0.1])).toBe(gone);
    const added = timeChange(null, measured(100));
    expect(pairedChange(added, [0.1, 0.2, 0.1])).toBe(added);
  });

  it("is shown with its interval, not with a half width", () => {
    const change = paired(2);
    const { low, high } = pairedInterval(change) ?? expect.unreachable("pairs have an interval");
    expect(low).toBeLessThan(1);
    expect(high).toBeGreaterThan(1);
    expect(change.uncertainty).toBeCloseTo((100 * (high - low)) / 2, 9);
    expect([shownHalf(change), change.too_few_runs]).toEqual([null, undefined]);
  });

  it("has none as long as there are too few", () => {
    const single = timeChange(measured(100), measured(200));
    const change = pairedChange(single, [Math.log(2)]);
    expect(pairedInterval(change)).toBeNull();
    expect(change).toMatchObject({ verdict: "unclear", uncertainty: null });
    expect(pairedChange(single, [])).toBe(single);
    expect(pairedInterval({ ...single, relative_low: 1 })).toBeNull();
    expect(pairedInterval({ ...single, relative_high: 1 })).toBeNull();
  });

  it("shows the half width of repeated runs, not that of the calls of one", () => {
    const runs = { value: 100, uncertainty: 3, freedom: 4 };
    expect(shownHalf(timeChange(runs, { ...runs, uncertainty: 4 }))).toBe(5);
    expect(shownHalf(timeChange(measured(100, 3), measured(200, 4)))).toBeNull();
  });
});

describe("change text", () => {
  it.each([
    [null, NOT_MEASURED],
    [Number.POSITIVE_INFINITY, NOT_MEASURED],
    [0, "0.0"],
    [0.005, "+0.5"],
    [0.0004, "+<0.1"],
    [-0.0004, "-<0.1"],
    [-0.5, "-50.0"],
    [9.99, "+999.0"],
    [10, "+1000"],
    [-10, "-1000"],
  ])("a change by %s of what was there is %s %%", (relative, text) => {
    expect(formatPercent(relative)).toBe(text);
  });

  it.each([
    [null, null, NOT_MEASURED],
    [0, null, "0.000"],
    [1.5, null, "+1.500"],
    [1.5, 0, "+1.500"],
    [-1.5, 0.25, "-1.500 ±0.250"],
  ])("a change by %s ms, known to %s ms, is %s", (delta, uncertainty, text) => {
    expect(formatDelta(delta, uncertainty)).toBe(text);
  });
});
