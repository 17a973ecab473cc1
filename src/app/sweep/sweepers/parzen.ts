/**
 * The density of a Parzen estimator over the dimensions of a search, and the normal distribution that it is made of.
 *
 * @see Bergstra et al., Algorithms for Hyper-Parameter Optimization (2011); Falkner et al., BOHB (2018)
 */
import type { Dimension, Draw, RandomSource } from "./search-space.ts";

/** The width of a single kernel; more of them are narrower, by Scott's rule. */
const WIDTH = 0.12;

/** A density over the shares of all dimensions. */
interface Estimator {
  /** A share in [0, 1) for each dimension. */
  sample(random: RandomSource): readonly number[];
  /** Per share of a float, and of a whole value of other dimensions. Of a job that lacks a dimension (null): over the others. */
  logDensity(shares: Draw["shares"]): number;
}

/**
 * A mixture of a kernel around each observation and one that covers the space. A kernel is normal in ordered dimensions, cut off at their
 * ends, and prefers the value of its observation in others. An observation without a dimension says nothing about it.
 */
export function parzenEstimator(
  dimensions: readonly Dimension[],
  observed: readonly Pick<Draw, "shares">[],
): Estimator {
  const sigma = WIDTH * Math.max(1, observed.length) ** (-1 / (dimensions.length + 4));
  const centers = [...observed.map(({ shares }) => shares), dimensions.map(() => null)];
  const masses = centers.map((shares) =>
    shares.map((center) => (center === null ? 1 : massBetween(0, 1, center, sigma))),
  );
  /** How much of a kernel beside its own value is spread over all values. */
  const spread = 1 / (observed.length + 1);
  return {
    sample(random) {
      const kernel = centers[Math.floor(random() * centers.length)] ?? [];
      return dimensions.map(({ count, isOrdered }, axis) => {
        const center = kernel[axis] ?? null;
        if (center === null) return random();
        if (isOrdered) return normalWithin(center, sigma, random);
        const ownWeight = 1 / (1 + spread);
        return random() < ownWeight ? center : Math.floor(random() * count) / count;
      });
    },
    logDensity(shares) {
      const logs = centers.map((kernel, index) => {
        let log = 0;
        for (const [axis, dimension] of dimensions.entries()) {
          const share = shares[axis] ?? null;
          const center = kernel[axis] ?? null;
          if (share === null) continue;
          const [from, to] = dimension.binOf(share);
          const size = to - from;
          if (center === null) log += size > 0 ? Math.log(size) : 0;
          else if (!dimension.isOrdered) {
            const isOwn = center >= from && center < to;
            const rest = spread / dimension.count;
            log += Math.log((isOwn ? 1 + rest : rest) / (1 + spread));
          } else {
            const mass = masses[index]?.[axis] ?? 1;
            log +=
              size > 0
                ? Math.log(Math.max(massBetween(from, to, center, sigma), 1e-300)) - Math.log(mass)
                : logNormal(share, center, sigma) - Math.log(mass);
          }
        }
        return log;
      });
      const most = Math.max(...logs);
      const sum = logs.reduce((total, log) => total + Math.exp(log - most), 0);
      return most + Math.log(sum) - Math.log(centers.length);
    },
  };
}

function normalWithin(center: number, sigma: number, random: RandomSource): number {
  for (;;) {
    const radius = Math.sqrt(-2 * Math.log(1 - random()));
    const value = center + sigma * radius * Math.cos(2 * Math.PI * random());
    if (value >= 0 && value < 1) return value;
  }
}

const logNormal = (value: number, center: number, sigma: number): number =>
  -0.5 * ((value - center) / sigma) ** 2 - Math.log(sigma) - 0.5 * Math.log(2 * Math.PI);

/** The mass of a normal distribution between two values. */
function massBetween(from: number, to: number, center: number, sigma: number): number {
  const [low, high] = [(from - center) / sigma, (to - center) / sigma];
  // Differences of tails are exact where those of values near 1 are not.
  return low > 0 ? tail(low) - tail(high) : tail(-high) - tail(-low);
}

/** The mass of the standard normal distribution above a value. */
const tail = (value: number): number => 0.5 * complementOfError(value / Math.SQRT2);

/**
 * The complementary error function: below 2.5 by its power series, above by its continued fraction.
 * @see Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.6 and 7.1.14
 */
function complementOfError(value: number): number {
  const x = Math.abs(value);
  if (x > 26) return value > 0 ? 0 : 2;
  if (x < 2.5) {
    let term = x;
    let sum = x;
    for (let index = 1; Math.abs(term) > 1e-17 * Math.abs(sum); index++) {
      term *= (2 * x * x) / (2 * index + 1);
      sum += term;
    }
    const error = (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
    return value > 0 ? 1 - error : 1 + error;
  }
  let fraction = x;
  for (let index = 40; index > 0; index--) fraction = x + index / 2 / fraction;
  const above = Math.exp(-x * x) / (Math.sqrt(Math.PI) * fraction);
  return value > 0 ? above : 2 - above;
}
