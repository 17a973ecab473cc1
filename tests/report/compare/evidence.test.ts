import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cellText } from "../../../src/pages/blocks.ts";
import { repeatStatistics } from "../../../src/profiler/analysis/repeats.ts";
import { compareReports, type PairedRatios } from "../../../src/report/compare/compare-reports.ts";
import { changeTable } from "../../../src/report/compare/comparison-tables.ts";
import {
  beyondT,
  confidenceSequence,
  rejectedByHolm,
  sequentialTest,
} from "../../../src/report/compare/evidence.ts";
import { checkGates, parseGates } from "../../../src/report/compare/gates.ts";
import type { NCUProfileRegionReport } from "../../../src/report/model/document.ts";
import { regionKey } from "../../../src/report/model/report-files.ts";
import { reportOfCalls } from "../bundles.ts";
import { normals } from "./normals.ts";

describe("the distribution of t", () => {
  it.each([
    [12.706, 1, 0.05],
    [2.776, 4, 0.05],
    [4.604, 4, 0.01],
    [2.042, 30, 0.05],
    [1.959964, Number.POSITIVE_INFINITY, 0.05],
    [0, 3, 1],
  ])("is beyond %f of %f degrees of freedom with %f", (t, freedom, p) => {
    expect(beyondT(t, freedom)).toBeCloseTo(p, 3);
    expect(beyondT(-t, freedom)).toBeCloseTo(p, 3);
  });

  it("is that of Cauchy with one degree of freedom, and has a closed form with two", () => {
    for (const t of [0.01, 0.1, 0.5, 1, 2, 10, 1000]) {
      expect(beyondT(t, 1)).toBeCloseTo(1 - (2 / Math.PI) * Math.atan(t), 11);
      expect(beyondT(t, 2)).toBeCloseTo(1 - t / Math.sqrt(2 + t * t), 11);
    }
    for (const freedom of [1, 4, Number.POSITIVE_INFINITY]) {
      expect(beyondT(0, freedom)).toBe(1);
      expect(beyondT(1e200, freedom)).toBe(0);
    }
  });
});

describe("Holm's procedure", () => {
  it("goes from the smallest probability on, until one is too large", () => {
    expect(rejectedByHolm([0.01, 0.04, 0.03, 0.005])).toEqual([true, false, false, true]);
    expect(rejectedByHolm([0.05])).toEqual([true]);
    expect(rejectedByHolm([0.03, 0.001])).toEqual([true, true]);
    expect(rejectedByHolm([0.03, 0.026])).toEqual([false, false]);
    expect(rejectedByHolm([])).toEqual([]);
  });

  it("rejects what Bonferroni's does, and nothing that is not below the level", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true })), (all) => {
        for (const [at, isRejected] of rejectedByHolm(all).entries()) {
          const p = all[at] ?? 1;
          if (p <= 0.05 / all.length) expect(isRejected).toBe(true);
          if (p > 0.05) expect(isRejected).toBe(false);
        }
      }),
    );
  });
});

describe("a test that may be looked at after every value", () => {
  it("is wrong in at most a twentieth of the cases, however long one looks, also with outliers", {
    tags: ["simulation"],
  }, () => {
    for (const outliers of [false, true]) {
      let wrong = 0;
      let missed = 0;
      for (let trial = 0; trial < 1000; trial++) {
        const normal = normals(trial + (outliers ? 5000 : 0));
        const values = Array.from(
          { length: 100 },
          () => normal() * (outliers && Math.abs(normal()) > 1.96 ? 8 : 1),
        );
        const { above, below } = sequentialTest(values, 0);
        const { low, high } = confidenceSequence(values);
        if (Math.min(above, below) <= 0.05) wrong++;
        if (low > 0 || high < 0) missed++;
      }
      expect(wrong / 1000).toBeLessThanOrEqual(0.05);
      expect(missed / 1000).toBeLessThanOrEqual(0.05);
    }
  });

  it("excludes a bound exactly where the confidence sequence does", () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -2, max: 2, noNaN: true }), { minLength: 1, maxLength: 40 }),
        fc.double({ min: -3, max: 3, noNaN: true }),
        (values, bound) => {
          const { above, below } = sequentialTest(values, bound);
          const { low, high } = confidenceSequence(values);
          fc.pre(Math.min(Math.abs(low - bound), Math.abs(high - bound)) > 1e-9);
          if (low <= high && bound < low) expect(above).toBeLessThanOrEqual(0.05 + 1e-12);
          if (above > 0.05 + 1e-12 && below > 0.05 + 1e-12)
            expect(bound >= low && bound <= high).toBe(true);
        },
      ),
    );
  });

  it("is the inverse of the Bayes factor of t", () => {
    // Of 1 and 2 against 0: t² is 9, and 1 + n is 3, so that the factor is (10 / 4) / √3.
    const { above, below } = sequentialTest([1, 2], 0);
    expect([above, below]).toEqual([expect.closeTo(Math.sqrt(3) / 2.5, 12), 1]);
    const mirrored = sequentialTest([1, 2], 3);
    expect([mirrored.above, mirrored.below]).toEqual([1, expect.closeTo(Math.sqrt(3) / 2.5, 12)]);
  });

  it("has for its interval what lies between means that exclude each other", () => {
    const early = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? 0.01 : -0.01));
    const late = Array.from({ length: 400 }, () => 10);
    const before = confidenceSequence(early);
    const after = confidenceSequence([...early, ...late]);
    expect(after.low).toBe(before.high);
    expect(after.high).toBeGreaterThan(1);
    expect(after.high).toBeLessThan(10);
  });

  it("knows nothing of one value, and much of equal ones", () => {
    expect(sequentialTest([5], 0)).toEqual({ above: 1, below: 1 });
    expect(confidenceSequence([5])).toEqual({ low: -Infinity, high: Infinity });
    expect(sequentialTest(Array(10).fill(1), 0).above).toBeLessThan(0.001);
    expect(sequentialTest([], Number.NEGATIVE_INFINITY)).toEqual({ above: 0, below: 1 });
    expect(sequentialTest([], Number.POSITIVE_INFINITY)).toEqual({ above: 1, below: 0 });
  });
});

const ofCalls = reportOfCalls([10, 10]);
const [base] = ofCalls.regions;

function reportOf(regions: readonly (readonly number[])[]): NCUProfileRegionReport {
  if (base === undefined) throw new Error("no region");
  return {
    ...ofCalls,
    regions: regions.map((times, at) => ({
      ...base,
      name: `r${at}`,
      path: [`r${at}`],
      cpu_ms: times[0] ?? 0,
      cpu_exclusive_ms: times[0] ?? 0,
      repeats: {
        runs: times.length,
        total_ms: null,
        wall_ms: null,
        cpu_ms: repeatStatistics(times),
      },
    })),
  };
}

describe("gates over many regions", () => {
  const compared = (seed: number, runs = 5) => {
    const normal = normals(seed);
    const side = () =>
      reportOf(
        Array.from({ length: 100 }, () =>
          Array.from({ length: runs }, () => 100 * (1 + 0.05 * normal())),
        ),
      );
    return checkGates(parseGates("region:*.cpu_ms>5%"), compareReports(side(), side()));
  };

  it("take at most one of 20 comparisons of 100 equal regions with 5 % noise for slower", {
    tags: ["simulation"],
  }, () => {
    const breached = Array.from({ length: 20 }, (_, seed) =>
      compared(seed + 1).some(({ outcome }) => outcome === "breached"),
    );
    expect(breached.filter(Boolean).length).toBeLessThanOrEqual(1);
  });

  it("are wrong in at most a twentieth of many comparisons", { tags: ["simulation"] }, () => {
    const wrong = Array.from({ length: 60 }, (_, seed) =>
      compared(seed + 100).some(({ outcome }) => outcome === "breached"),
    );
    expect(wrong.filter(Boolean).length).toBeLessThanOrEqual(3);
  });

  it("say how many they test, and that two runs are too few", () => {
    const [first] = compared(1);
    expect(first?.tested).toBe(100);
    expect(first?.reason).toContain("corrected for 100 tests");
    expect(compared(1, 2)[0]?.reason).toContain("too few runs to be certain: use repeats=5");
  });

  it("do not mean what ran outside all ranges, unless it is named", () => {
    const outside = { ...base, name: "(outside)", path: ["(outside)"], kind: "outside" } as const;
    const report = reportOf([[10, 10, 10]]);
    const both = { ...report, regions: [...report.regions, { ...outside, depth: 0 }] };
    const count = (text: string) =>
      checkGates(parseGates(text), compareReports(both as typeof report, both as typeof report))
        .length;
    expect(count("region:*.wall_ms>5%")).toBe(1);
    expect(count("region:(outside).wall_ms>5%")).toBe(1);
  });
});

describe("gates of pairs of runs", () => {
  /** Pair after pair, as `ab` runs them, until the gate is decided. */
  function decided(seed: number, { change = 0, noise = 0.01, most = 60 } = {}) {
    const normal = normals(seed);
    const ratios: number[] = [];
    const a = reportOf([[100, 100, 100]]);
    const b = reportOf([[100, 100, 100].map((ms) => ms * (1 + change))]);
    for (;;) {
      ratios.push(Math.log(1 + change) + noise * Math.SQRT2 * normal());
      const pairs: PairedRatios = {
        totals: {},
        regions: new Map(a.regions.map((region) => [regionKey(region), { cpu_ms: ratios }])),
      };
      const [gate] = checkGates(parseGates("region:r0.cpu_ms>5%"), compareReports(a, b, pairs));
      if (gate?.decided === true || ratios.length === most)
        return { outcome: gate?.outcome, pairs: ratios.length, reason: gate?.reason };
    }
  }
  const forty = (how: Parameters<typeof decided>[1]) =>
    Array.from({ length: 40 }, (_, seed) => decided(seed + 1, how));

  it("breach none of 40 comparisons of A with A", { tags: ["simulation"] }, () => {
    for (const noise of [0.002, 0.01, 0.03])
      expect(forty({ noise }).filter(({ outcome }) => outcome === "breached")).toEqual([]);
  });

  it("find at least 38 of 40 with 10 % more work, the sooner the less the noise is", {
    tags: ["simulation"],
  }, () => {
    for (const [noise, most] of [
      [0.002, 7],
      [0.01, 12],
      [0.03, 60],
    ] as const) {
      const found = forty({ change: 0.1, noise });
      expect(found.filter(({ outcome }) => outcome === "breached").length).toBeGreaterThanOrEqual(
        38,
      );
      const pairs = found.map((one) => one.pairs).sort((one, other) => one - other);
      expect(pairs[20]).toBeLessThanOrEqual(most);
    }
  });

  it("are wrong in at most a twentieth where the change is exactly the limit", {
    tags: ["simulation"],
  }, () => {
    const wrong = Array.from({ length: 1000 }, (_, seed) => {
      const normal = normals(seed + 1000);
      const ratios = Array.from({ length: 60 }, () => Math.log1p(0.05) + 0.01 * normal());
      return sequentialTest(ratios, Math.log1p(0.05)).above <= 0.05;
    });
    expect(wrong.filter(Boolean).length).toBeLessThanOrEqual(50);
  });

  it.each([
    [">100%", 2.2, "breached", true],
    [">100%", 1.9, "passed", true],
    [">100", 2.2, "breached", true],
    [">100", 1.9, "passed", true],
    ["<-50%", 0.45, "breached", true],
    ["<-50%", 0.55, "passed", true],
    ["<-50", 0.55, "passed", true],
    ["<-100%", 0.01, "passed", true],
  ] as const)(
    "%s: B that takes %f times as long as A has %s, decided: %s",
    (condition, ratio, outcome, isDecided) => {
      const a = reportOf([[100, 100, 100]]);
      const b = reportOf([[100, 100, 100].map((ms) => ms * ratio)]);
      const ratios = [0.01, -0.01, 0.02, -0.02, 0.01, -0.01].map((off) => Math.log(ratio) + off);
      const pairs: PairedRatios = {
        totals: {},
        regions: new Map(a.regions.map((region) => [regionKey(region), { cpu_ms: ratios }])),
      };
      const gates = parseGates(`region:r0.cpu_ms${condition}`);
      expect(checkGates(gates, compareReports(a, b, pairs))).toMatchObject([
        { outcome, decided: isDecided },
      ]);
    },
  );

  it("say where they are not decided", () => {
    expect(decided(3, { change: 0.05, most: 3 }).reason).toMatch(
      /; by the ratios of 3 pairs; not decided$/,
    );
  });
});

describe("the interval of pairs of runs", () => {
  const a = reportOf([[100, 100, 100]]);
  const b = reportOf([[133, 133, 133]]);
  // Times of B vary upwards, so the interval of the ratio reaches further up than down.
  const ratios = [0.05, 0.5, 0.2, 0.45, 0.2, 0.4, 0.25, 0.15];
  const pairs: PairedRatios = {
    totals: {},
    regions: new Map(a.regions.map((region) => [regionKey(region), { cpu_ms: ratios }])),
  };
  const change = compareReports(a, b, pairs).regions[0]?.changes["cpu_ms"];

  it("is the one that the verdict follows, and the gate names", () => {
    expect(change?.verdict).toBe("more");
    expect(change?.relative_low).toBeGreaterThan(0);
    expect(change?.relative_high).toBeGreaterThan(change?.relative ?? 0);
    const [gate] = checkGates(parseGates("region:r0.cpu_ms>200%"), compareReports(a, b, pairs));
    const percent = (share = 0) => Number((share * 100).toPrecision(3));
    expect(gate?.reason).toContain(
      `${percent(change?.relative_low)} to ${percent(change?.relative_high)} %`,
    );
    expect(gate?.reason).not.toContain("±");
  });

  it("is shown in percent, without a ± that would contradict it", () => {
    if (change === undefined) throw new Error("no change");
    const { columns, rows } = changeTable(
      "Region",
      [{ name: "r0", change, counts: "" }],
      "terminal",
    );
    const texts = [...rows].flatMap(({ cells }) =>
      columns.map((column, at) => cellText(cells[at] ?? null, column)),
    );
    expect(texts).toContain("+33.000");
    expect(texts.find((text) => text.includes("…"))).toMatch(/^\+31\.7 \(\+\d+\.\d…\+\d+\.\d\)$/);
  });
});
