/**
 * Statistical evidence of a change: several tests at once, and tests that stay valid when they are repeated after every
 * pair of runs.
 */

/** The highest accepted probability of a wrong conclusion. */
export const LEVEL = 0.05;

// Several tests at once.

/**
 * Rejects hypotheses so that the probability of rejecting any true one is at most `level`, however they depend on each
 * other: S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6 (1979).
 */
export function rejectedByHolm(
  probabilities: readonly number[],
  level = LEVEL,
): readonly boolean[] {
  const order = probabilities
    .map((p, index) => ({ p, index }))
    .sort((left, other) => left.p - other.p);
  const rejected = probabilities.map(() => false);
  for (const [rank, { p, index }] of order.entries()) {
    if (!(p <= level / (probabilities.length - rank))) break;
    rejected[index] = true;
  }
  return rejected;
}

/** The probability that a Student's t variable is at least as far from 0; with infinite freedom, a normal variable. */
export function beyondT(t: number, freedom: number): number {
  const degrees = Math.min(freedom, MOST_DEGREES);
  return incompleteBeta(degrees / (degrees + t * t), degrees / 2, 0.5);
}

/** The 97.5th percentile of Student's t. */
export function quantile975(freedom: number): number {
  let [low, high] = [1.9, 13];
  while (high - low > 1e-9) {
    const middle = (low + high) / 2;
    if (beyondT(middle, freedom) > LEVEL) low = middle;
    else high = middle;
  }
  return low;
}

/** Beyond this, t equals the normal distribution in six digits. */
const MOST_DEGREES = 1e6;

/** The regularized incomplete beta function by its continued fraction, as modified by Lentz. */
function incompleteBeta(x: number, a: number, b: number): number {
  // The fraction converges fast only below its mean.
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(
    logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x),
  );
  let [c, d] = [1, 1 / awayFromZero(1 - ((a + b) * x) / (a + 1))];
  let fraction = d;
  for (let m = 1; m <= 300; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    const previous = fraction;
    for (const step of [even, odd]) {
      d = 1 / awayFromZero(1 + step * d);
      c = awayFromZero(1 + step / c);
      fraction *= c * d;
    }
    if (Math.abs(fraction - previous) < 1e-14 * Math.abs(fraction)) break;
  }
  return (front * fraction) / a;
}

const awayFromZero = (value: number): number => (Math.abs(value) < 1e-300 ? 1e-300 : value);

/** By Stirling's series, which is exact to twelve digits from 10 on. */
function logGamma(value: number): number {
  let shift = 0;
  let x = value;
  for (; x < 10; x++) shift += Math.log(x);
  const inverse = 1 / (x * x);
  const series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / x;
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series - shift;
}

// Sequential tests of pairs.

/**
 * The variance of the prior of effect sizes, in standard deviations of a pair; the test is most sensitive to effects of
 * this size.
 */
const PRIOR = 1;

/**
 * The logarithm of the Bayes factor of the t statistic of `count` values against a mean of `offset` less, with a normal
 * prior on the effect: M. Gönen and others, The Bayesian two-sample t test, The American Statistician 59 (2005).
 */
function logBayesFactor({ count, offset, squares }: Moments): number {
  const growth = 1 + count * PRIOR;
  const u = (count * offset * offset) / squares;
  const gain = Number.isNaN(u)
    ? 0
    : u === Number.POSITIVE_INFINITY
      ? Math.log(growth)
      : Math.log1p(u) - Math.log1p(u / growth);
  return (count * gain - Math.log(growth)) / 2;
}

interface Moments {
  readonly count: number;
  /** Offset of the mean. */
  readonly offset: number;
  /** Sum of squared deviations from the mean. */
  readonly squares: number;
}

/** Count, mean and sum of squared deviations after each value (Welford). */
function* momentsOf(
  values: readonly number[],
): Generator<Omit<Moments, "offset"> & { readonly mean: number }> {
  let [count, mean, squares] = [0, 0, 0];
  for (const value of values) {
    count++;
    const deviation = value - mean;
    mean += deviation / count;
    squares += deviation * (value - mean);
    yield { count, mean, squares };
  }
}

/**
 * Whether the mean of values that arrive one by one lies above or below a bound, as probabilities of being wrong that
 * hold however often one looks and whenever one stops: the inverse of a nonnegative martingale (Ville's inequality). That
 * the Bayes factor of the t statistic is one, with unknown variance, is shown by T. L. Lai, On confidence sequences, The
 * Annals of Statistics 4 (1976), and for normal priors by H. Wang and A. Ramdas, Anytime-valid t-tests and confidence
 * sequences for Gaussian means with unknown variance, Sequential Analysis 44 (2025). Values are taken as independent and normal.
 */
export function sequentialTest(
  values: readonly number[],
  bound: number,
): { readonly above: number; readonly below: number } {
  let [above, below] = [1, 1];
  if (!Number.isFinite(bound)) return bound > 0 ? { above: 1, below: 0 } : { above: 0, below: 1 };
  for (const { count, mean, squares } of momentsOf(values)) {
    const p = Math.exp(-logBayesFactor({ count, squares, offset: mean - bound }));
    if (mean > bound) above = Math.min(above, p);
    else below = Math.min(below, p);
  }
  return { above, below };
}

/** Half of the width of the interval after `count` values with this variance; infinite for too few. */
export function sequenceHalf(count: number, variance: number, level = LEVEL): number {
  const growth = 1 + count * PRIOR;
  const ratio = (Math.sqrt(growth) / level) ** (2 / count);
  if (ratio >= growth) return Number.POSITIVE_INFINITY;
  return Math.sqrt(((ratio - 1) / (1 - ratio / growth)) * variance);
}

/** The means that the same test has not excluded yet: a confidence sequence. Unbounded for the first values. */
export function confidenceSequence(
  values: readonly number[],
  level = LEVEL,
): { readonly low: number; readonly high: number } {
  let [low, high] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const { count, mean, squares } of momentsOf(values)) {
    const half = sequenceHalf(count, squares / count, level);
    low = Math.max(low, mean - half);
    high = Math.min(high, mean + half);
  }
  return low <= high ? { low, high } : { low: high, high: low };
}
