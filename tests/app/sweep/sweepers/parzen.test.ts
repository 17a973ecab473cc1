/** The density of a Parzen estimator, beside one that is integrated step by step, and its samples beside the density. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parzenEstimator } from "../../../../src/app/sweep/sweepers/parzen.ts";
import { randomSource, searchSpace } from "../../../../src/app/sweep/sweepers/search-space.ts";
import { parseOverrides } from "../../../../src/engine/overrides/index.ts";
import { runs } from "../../../runs.ts";

const dimensionsOf = (...sweeps: readonly string[]) =>
  searchSpace(parseOverrides(sweeps), {}).dimensions;

/** Of one bin of the space [0, 1): the number of equal bins is null for a float. */
interface Axis {
  readonly sweep: string;
  readonly bins: number | null;
  readonly isOrdered: boolean;
}

const AXES: readonly Axis[] = [
  { sweep: "x=interval(0.0,1.0)", bins: null, isOrdered: true },
  { sweep: "n=int(interval(1,16))", bins: 16, isOrdered: true },
  { sweep: "k=a,b,c", bins: 3, isOrdered: false },
  { sweep: "lr=tag(log,interval(1e-5,1.0))", bins: null, isOrdered: true },
];

/** Simpson's rule. */
function integral(of: (x: number) => number, from: number, to: number, steps = 400): number {
  const width = (to - from) / steps;
  let sum = of(from) + of(to);
  for (let step = 1; step < steps; step++)
    sum += of(from + step * width) * (step % 2 === 1 ? 4 : 2);
  return (sum * width) / 3;
}

/** The density as its description says it, term by term. */
function expectedDensity(
  axes: readonly Axis[],
  observed: readonly (readonly (number | null)[])[],
  point: readonly (number | null)[],
): number {
  const width = 0.12 * Math.max(1, observed.length) ** (-1 / (axes.length + 4));
  const normal = (center: number) => (x: number) =>
    Math.exp(-(((x - center) / width) ** 2) / 2) / (width * Math.sqrt(2 * Math.PI));
  const kernelOn = (axis: Axis, center: number | null, share: number): number => {
    const { bins, isOrdered } = axis;
    const first = bins === null ? share : Math.floor(share * bins) / bins;
    const size = bins === null ? null : 1 / bins;
    if (center === null) return size ?? 1;
    if (!isOrdered) {
      // Its own value has the weight 1, and all values together the weight of one of n + 1 observations.
      const spread = 1 / (observed.length + 1);
      const isOwn = Math.floor(center * (bins ?? 1)) === Math.floor(share * (bins ?? 1));
      return ((isOwn ? 1 : 0) + spread / (bins ?? 1)) / (1 + spread);
    }
    const whole = integral(normal(center), 0, 1, 2_000);
    return (
      (size === null ? normal(center)(share) : integral(normal(center), first, first + size)) /
      whole
    );
  };
  const kernels = [...observed, axes.map(() => null)].map((centers) =>
    axes.reduce((product, axis, index) => {
      const share = point[index] ?? null;
      return share === null ? product : product * kernelOn(axis, centers[index] ?? null, share);
    }, 1),
  );
  return kernels.reduce((sum, kernel) => sum + kernel, 0) / kernels.length;
}

/** The middle of the bin of each share, as the space gives them. */
const placed = (axes: readonly Axis[], shares: readonly (number | null)[]) =>
  axes.map(({ bins }, index) => {
    const share = shares[index] ?? null;
    return share === null || bins === null ? share : (Math.floor(share * bins) + 0.5) / bins;
  });

describe("the density of a Parzen estimator", () => {
  const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const shares = fc.array(fc.option(share, { freq: 6 }), {
    minLength: AXES.length,
    maxLength: AXES.length,
  });

  test("is a mixture of normal kernels that are cut off at the ends, and of one over the space", () => {
    fc.assert(
      fc.property(
        fc.subarray([...AXES], { minLength: 1 }),
        fc.array(shares, { maxLength: 6 }),
        shares,
        (axes, all, drawn) => {
          const observed = all.map((one) => placed(axes, one));
          const point = placed(axes, drawn);
          const { logDensity } = parzenEstimator(
            dimensionsOf(...axes.map(({ sweep }) => sweep)),
            observed.map((one) => ({ shares: one })),
          );
          expect(logDensity(point)).toBeCloseTo(
            Math.log(expectedDensity(axes, observed, point)),
            6,
          );
        },
      ),
      { numRuns: runs(200) },
    );
  });

  test("is narrow after very many observations, and as wide as the space far from all of them", () => {
    const count = 20_000;
    const observed = Array.from({ length: count }, () => ({ shares: [0.03125] }));
    const integers = parzenEstimator(dimensionsOf("n=int(interval(1,16))"), observed);
    // Its kernels are 0.0166 wide: 57 of these lie between them and the last of 16 values.
    expect(integers.logDensity([0.96875])).toBeCloseTo(Math.log(1 / 16 / (count + 1)), 9);
    // The first value has what lies within its bin, of a normal distribution around its middle.
    expect(Math.exp(integers.logDensity([0.03125]))).toBeCloseTo(0.9692, 3);
    const floats = parzenEstimator(dimensionsOf("x=interval(0.0,1.0)"), observed);
    expect(floats.logDensity([0.9])).toBeCloseTo(Math.log(1 / (count + 1)), 9);
  });

  test("is exact in the tails of a kernel, on both sides of it", () => {
    // One observation: a kernel of the width 0.12, and the space. Python's math.erfc gives the masses from 0.36 and 0.72 on.
    const bins = 1_000;
    const densityAt = (center: number, share: number): number => {
      const dimensions = dimensionsOf(`n=int(interval(1,${bins}))`);
      const { logDensity } = parzenEstimator(dimensions, [{ shares: [center] }]);
      return 2 * Math.exp(logDensity([share])) - 1 / bins;
    };
    expect(densityAt(0.0005, 0.3605) / 7.36210959981045e-5).toBeCloseTo(1, 9);
    expect(densityAt(0.0005, 0.7205) / 1.0093939586683472e-10).toBeCloseTo(1, 6);
    expect(densityAt(0.9995, 0.6395) / 7.36210959981045e-5).toBeCloseTo(1, 9);
    expect(densityAt(0.9995, 0.2795) / 1.0093939586683472e-10).toBeCloseTo(1, 6);
  });

  test("is one over the whole space", () => {
    const observed = [0.05, 0.4, 0.41, 0.97].map((center) => ({ shares: [center] }));
    const total = (sweep: string, bins: number) => {
      const { logDensity } = parzenEstimator(dimensionsOf(sweep), observed);
      return Array.from({ length: bins }, (_, bin) =>
        Math.exp(logDensity([(bin + 0.5) / bins])),
      ).reduce((sum, density) => sum + density, 0);
    };
    expect(total("n=int(interval(1,16))", 16)).toBeCloseTo(1, 12);
    expect(total("k=a,b,c,d,e", 5)).toBeCloseTo(1, 12);
    expect(total("x=interval(0.0,1.0)", 10_000) / 10_000).toBeCloseTo(1, 6);
  });
});

describe("samples of a Parzen estimator", () => {
  test("are as frequent as its density says", () => {
    const axes = AXES.slice(0, 3);
    const bins = [10, 16, 3];
    const observed = [
      [0.02, 0.09375, 0.5],
      [0.03, 0.96875, 0.5],
      [0.7, null, 0.17],
    ].map((shares) => ({ shares }));
    const { logDensity, sample } = parzenEstimator(
      dimensionsOf(...axes.map(({ sweep }) => sweep)),
      observed,
    );
    const random = randomSource("7");
    const count = 20_000;
    const samples = Array.from({ length: count }, () => sample(random));
    for (const [axis, parts] of bins.entries()) {
      const seen = Array.from({ length: parts }, () => 0);
      for (const shares of samples) {
        const part = Math.floor((shares[axis] ?? -1) * parts);
        expect(part).toBeGreaterThanOrEqual(0);
        expect(part).toBeLessThan(parts);
        seen[part] = (seen[part] ?? 0) + 1;
      }
      const densityAt = (share: number) =>
        Math.exp(logDensity(axes.map((_, index) => (index === axis ? share : null))));
      for (const [part, times] of seen.entries()) {
        const probability =
          axis === 0
            ? integral(densityAt, part / parts, (part + 1) / parts, 40)
            : densityAt((part + 0.5) / parts);
        const deviation = Math.sqrt(count * probability * (1 - probability));
        expect(Math.abs(times - count * probability), `axis ${axis}, part ${part}`).toBeLessThan(
          4 * deviation,
        );
      }
    }
  });

  test("cover the space where nothing was observed", () => {
    const { logDensity, sample } = parzenEstimator(
      dimensionsOf("x=interval(0.0,1.0)", "k=a,b"),
      [],
    );
    expect(logDensity([0.2, 0.75])).toBeCloseTo(Math.log(0.5), 12);
    const numbers = [0.1, 0.25, 0.75];
    let index = 0;
    expect(sample(() => numbers[index++] ?? 0)).toEqual([0.25, 0.75]);
  });
});
