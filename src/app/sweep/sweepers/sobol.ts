/** Sobol's sequence: points that fill a cube more evenly than random ones. */
import type { RandomSource } from "./search-space.ts";

const BITS = 32;

/**
 * For each dimension after the first its primitive polynomial, whose coefficients are the bits of the first number, and the first
 * direction numbers.
 *
 * @see Joe and Kuo, Constructing Sobol sequences with better two-dimensional projections (2008), table new-joe-kuo-6
 */
const DIRECTIONS: readonly (readonly [coefficients: number, ...numbers: readonly number[]])[] = [
  [0, 1],
  [1, 1, 3],
  [1, 1, 3, 1],
  [2, 1, 1, 1],
  [1, 1, 1, 3, 3],
  [4, 1, 3, 5, 13],
  [2, 1, 1, 5, 5, 17],
  [4, 1, 1, 5, 5, 5],
  [7, 1, 1, 7, 11, 19],
  [11, 1, 1, 5, 1, 1],
  [13, 1, 1, 1, 3, 11],
  [14, 1, 3, 5, 5, 31],
  [1, 1, 3, 3, 9, 7, 49],
  [13, 1, 1, 1, 15, 21, 21],
  [16, 1, 3, 1, 13, 27, 49],
  [19, 1, 1, 1, 15, 7, 5],
  [22, 1, 3, 1, 15, 13, 25],
  [25, 1, 1, 5, 5, 19, 61],
];

/** The most dimensions that the sequence has here. Those after them are drawn at random. */
const MOST_DIMENSIONS = DIRECTIONS.length + 1;

/**
 * Points in [0, 1), each a number for each dimension. Each dimension is shifted at random (a digital shift), which keeps the
 * sequence even: of the first `2^k` points each of `2^k` equal parts of a dimension has one.
 */
export function sobolSequence(dimensions: number, random: RandomSource): () => readonly number[] {
  const axes = Array.from({ length: dimensions }, (_, axis) => ({
    directions: axis < MOST_DIMENSIONS ? directionsOf(axis) : undefined,
    value: Math.floor(random() * 2 ** BITS) >>> 0,
  }));
  let index = 0;
  return () => {
    const point = axes.map(({ directions, value }) =>
      directions === undefined ? random() : value / 2 ** BITS,
    );
    // Gray code: the next point differs by the direction of the lowest zero bit.
    const bit = Math.min(BITS - 1, trailingOnes(index++));
    for (const axis of axes) axis.value = (axis.value ^ (axis.directions?.[bit] ?? 0)) >>> 0;
    return point;
  };
}

function trailingOnes(value: number): number {
  let count = 0;
  for (let rest = value; rest % 2 === 1; rest = Math.floor(rest / 2)) count++;
  return count;
}

function directionsOf(axis: number): readonly number[] {
  const powers = Array.from({ length: BITS }, (_, bit) => 2 ** (BITS - 1 - bit));
  const row = axis === 0 ? undefined : DIRECTIONS[axis - 1];
  if (row === undefined) return powers;
  const [coefficients, ...numbers] = row;
  const degree = numbers.length;
  const directions = numbers.map((number, bit) => (number * (powers[bit] ?? 0)) >>> 0);
  for (let bit = degree; bit < BITS; bit++) {
    const oldest = directions[bit - degree] ?? 0;
    let next = oldest ^ (oldest >>> degree);
    for (let term = 1; term < degree; term++)
      if (((coefficients >>> (degree - 1 - term)) & 1) === 1) next ^= directions[bit - term] ?? 0;
    directions.push(next >>> 0);
  }
  return directions;
}
