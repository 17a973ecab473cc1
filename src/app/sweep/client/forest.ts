/**
 * How much each parameter matters: a small random forest of regression trees learns the rank of the objective, and the
 * values of one parameter after the other are shuffled among the jobs that a tree has not seen.
 *
 * @see Breiman, Random Forests, Machine Learning 45 (2001), section 10
 */

/** A parameter: its value for each job as a number; null where a job does not have it. */
export interface Feature {
  readonly values: readonly (number | null)[];
  /** Whether the numbers only tell values apart. */
  readonly isCategory: boolean;
}

export interface Importance {
  /** The share of each parameter in how much the error grows, from 0 to 1. */
  readonly shares: readonly number[];
  /** The share of the variance that the forest explains in jobs that it has not seen; it may be negative. */
  readonly r2: number;
  /** The number of jobs that it learned from. */
  readonly jobs: number;
}

const TREES = 48;
/** A forest of more jobs takes longer and says the same. */
const MOST_JOBS = 600;
/** With fewer jobs nothing can be said. */
const LEAST_JOBS = 10;
const LEAF = 3;
const DEPTH = 12;

/**
 * @param target the value of each job; null for a job without one
 * @returns null for too few jobs, or where nothing differs
 */
export function importanceOf(
  features: readonly Feature[],
  target: readonly (number | null)[],
): Importance | null {
  const random = seeded(20261129);
  const measured = target.flatMap((value, row) => (value === null ? [] : [{ row, value }]));
  if (measured.length < LEAST_JOBS || features.length === 0) return null;
  const jobs = shuffled(measured, random).slice(0, MOST_JOBS);
  const y = ranks(jobs.map(({ value }) => value));
  const mean = average(y);
  const variance = average(y.map((value) => (value - mean) ** 2));
  if (variance === 0) return null;
  const x = features.map(({ values, isCategory }) => ({
    isCategory,
    // A job without the parameter is below all others.
    values: jobs.map(({ row }) => values[row] ?? Number.NEGATIVE_INFINITY),
  }));
  const sums = y.map(() => 0);
  const counts = y.map(() => 0);
  const growth = features.map(() => 0);
  for (let each = 0; each < TREES; each++) {
    const drawn = y.map(() => Math.floor(random() * y.length));
    const seen = new Set(drawn);
    const unseen = [...y.keys()].filter((job) => !seen.has(job));
    const tree = grown(drawn, { x, y, random }, 0);
    let error = 0;
    for (const job of unseen) {
      const guess = predicted(tree, (feature) => x[feature]?.values[job] ?? 0);
      error += (guess - (y[job] ?? 0)) ** 2;
      sums[job] = (sums[job] ?? 0) + guess;
      counts[job] = (counts[job] ?? 0) + 1;
    }
    for (const feature of x.keys()) {
      const others = shuffled(unseen, random);
      let worse = 0;
      for (const [index, job] of unseen.entries()) {
        const guess = predicted(
          tree,
          (column) => x[column]?.values[column === feature ? (others[index] ?? job) : job] ?? 0,
        );
        worse += (guess - (y[job] ?? 0)) ** 2;
      }
      growth[feature] = (growth[feature] ?? 0) + (worse - error) / Math.max(1, unseen.length);
    }
  }
  const judged = [...y.keys()].filter((job) => (counts[job] ?? 0) > 0);
  const left = average(
    judged.map((job) => ((sums[job] ?? 0) / (counts[job] ?? 1) - (y[job] ?? 0)) ** 2),
  );
  const grownBy = growth.map((sum) => Math.max(0, sum));
  const whole = grownBy.reduce((sum, each) => sum + each, 0);
  return {
    shares: grownBy.map((each) => (whole === 0 ? 0 : each / whole)),
    r2: 1 - left / variance,
    jobs: jobs.length,
  };
}

interface Learned {
  readonly x: readonly { readonly values: readonly number[]; readonly isCategory: boolean }[];
  readonly y: readonly number[];
  readonly random: () => number;
}

type Tree =
  | { readonly value: number }
  | {
      readonly feature: number;
      readonly isLeft: (value: number) => boolean;
      readonly left: Tree;
      readonly right: Tree;
    };

function grown(jobs: readonly number[], learned: Learned, depth: number): Tree {
  const { x, y, random } = learned;
  const leaf = { value: average(jobs.map((job) => y[job] ?? 0)) };
  if (jobs.length < 2 * LEAF || depth >= DEPTH) return leaf;
  const tried = shuffled([...x.keys()], random).slice(0, Math.ceil(x.length / 2));
  let best: {
    readonly gain: number;
    readonly feature: number;
    isLeft: (v: number) => boolean;
  } | null = null;
  for (const feature of tried) {
    const split = bestSplit(jobs, feature, learned);
    if (split !== null && (best === null || split.gain > best.gain)) best = { ...split, feature };
  }
  if (best === null) return leaf;
  const { feature, isLeft } = best;
  const goesLeft = (job: number) => isLeft(x[feature]?.values[job] ?? 0);
  return {
    feature,
    isLeft,
    left: grown(jobs.filter(goesLeft), learned, depth + 1),
    right: grown(
      jobs.filter((job) => !goesLeft(job)),
      learned,
      depth + 1,
    ),
  };
}

/** The split with the least squared error; categories are ordered by their means, where the best split is one of that order. */
function bestSplit(jobs: readonly number[], feature: number, { x, y }: Learned) {
  const { values = [], isCategory = false } = x[feature] ?? {};
  const getValue = (job: number) => values[job] ?? 0;
  const order = isCategory ? meansOf(jobs, getValue, y) : undefined;
  const keyOf = (value: number) => (order === undefined ? value : (order.get(value) ?? 0));
  const sorted = jobs
    .map((job) => ({ key: keyOf(getValue(job)), y: y[job] ?? 0 }))
    .sort((a, b) => (a.key === b.key ? 0 : a.key - b.key));
  const total = sorted.reduce((sum, each) => sum + each.y, 0);
  let sum = 0;
  let gain = (total * total) / sorted.length + 1e-9;
  let border: number | null = null;
  for (let index = 1; index < sorted.length; index++) {
    const [previous, here] = [sorted[index - 1], sorted[index]];
    sum += previous?.y ?? 0;
    const [n, rest] = [index, sorted.length - index];
    if (previous === undefined || here === undefined || previous.key === here.key) continue;
    if (n < LEAF || rest < LEAF) continue;
    const found = (sum * sum) / n + ((total - sum) * (total - sum)) / rest;
    if (found <= gain) continue;
    gain = found;
    border = Number.isFinite(previous.key) ? (previous.key + here.key) / 2 : here.key;
  }
  if (border === null) return null;
  const limit = border;
  return {
    gain: gain - (total * total) / sorted.length,
    isLeft: (value: number) => keyOf(value) < limit,
  };
}

function meansOf(
  jobs: readonly number[],
  getValue: (job: number) => number,
  y: readonly number[],
): ReadonlyMap<number, number> {
  const sums = new Map<number, { sum: number; count: number }>();
  for (const job of jobs) {
    const entry = sums.get(getValue(job)) ?? { sum: 0, count: 0 };
    entry.sum += y[job] ?? 0;
    entry.count += 1;
    sums.set(getValue(job), entry);
  }
  return new Map([...sums].map(([value, { sum, count }]) => [value, sum / count]));
}

function predicted(tree: Tree, getValue: (feature: number) => number): number {
  let node = tree;
  while (!("value" in node)) node = node.isLeft(getValue(node.feature)) ? node.left : node.right;
  return node.value;
}

/** The rank of each value from 0 to 1, so that a single huge one does not decide; equal values have their mean rank. */
export function ranks(values: readonly number[]): readonly number[] {
  const sorted = [...values.entries()].sort(([, a], [, b]) => a - b);
  const found = values.map(() => 0);
  for (let from = 0; from < sorted.length; ) {
    let to = from;
    while (to < sorted.length && sorted[to]?.[1] === sorted[from]?.[1]) to++;
    for (let index = from; index < to; index++)
      found[sorted[index]?.[0] ?? 0] = (from + to - 1) / 2 / Math.max(1, values.length - 1);
    from = to;
  }
  return found;
}

const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  const all = [...items];
  for (let index = all.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [all[index], all[other]] = [all[other] as T, all[index] as T];
  }
  return all;
}

/** Numbers from 0 to 1, the same ones each time (mulberry32): a page says the same whenever it is opened. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
