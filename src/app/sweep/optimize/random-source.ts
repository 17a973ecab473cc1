import { createHash } from "node:crypto";

/** Numbers in [0, 1), the same ones for the same seed on every machine. */
export type RandomSource = () => number;

/**
 * A xoshiro128** generator.
 *
 * @param seed any text; a number is given as its decimal digits
 */
export function randomSource(seed: string): RandomSource {
  const digest = createHash("sha256").update(seed).digest();
  let [a, b, c, d] = [0, 4, 8, 12].map((offset) => digest.readUInt32LE(offset)) as [
    number,
    number,
    number,
    number,
  ];
  const next = (): number => {
    const result = Math.imul(rotated(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotated(d, 11);
    return result;
  };
  // 53 bits, as many as a double has.
  return () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53;
}

const rotated = (value: number, by: number): number => (value << by) | (value >>> (32 - by));
