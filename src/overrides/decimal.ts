/**
 * The part of Python's `decimal` that float ranges need: exact values of doubles and ints, and sums
 * rounded to 28 significant digits, half to even (the default context).
 */
export type Decimal = FiniteDecimal | { readonly kind: "infinite"; readonly negative: boolean };

/** `coefficient * 10 ** exponent`. */
export interface FiniteDecimal {
  readonly kind: "finite";
  readonly coefficient: bigint;
  readonly exponent: number;
  /** Decimals know a -0 as floats do; no sum here is one. */
  readonly negativeZero?: boolean;
}

export const PRECISION = 28;

/** The exact value, `Decimal(value)`. Null for a NaN, which `decimal` refuses to compare. */
export function toDecimal(value: bigint | number): Decimal | null {
  if (typeof value === "bigint") return { kind: "finite", coefficient: value, exponent: 0 };
  if (Number.isNaN(value)) return null;
  if (!Number.isFinite(value)) return { kind: "infinite", negative: value < 0 };
  if (Object.is(value, -0))
    return { kind: "finite", coefficient: 0n, exponent: 0, negativeZero: true };
  const { mantissa, power } = binaryParts(value);
  if (power >= 0) return { kind: "finite", coefficient: mantissa << BigInt(power), exponent: 0 };
  // m / 2**k = m * 5**k / 10**k
  return { kind: "finite", coefficient: mantissa * 5n ** BigInt(-power), exponent: power };
}

/** Negative, zero or positive as `a` is less than, equal to or greater than `b`. Exact. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  if (a.kind === "infinite" || b.kind === "infinite") return infiniteSign(a) - infiniteSign(b);
  const exponent = Math.min(a.exponent, b.exponent);
  const difference = scaledTo(a, exponent) - scaledTo(b, exponent);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The nearest double. */
export function decimalToNumber(value: Decimal): number {
  if (value.kind === "infinite")
    return value.negative ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return value.negativeZero ? -0 : Number(`${value.coefficient}e${value.exponent}`);
}

/** How many digits of a sum's coefficient are more than the precision. */
export const digitsBeyondPrecision = (coefficient: bigint): number =>
  Math.max(0, String(coefficient < 0n ? -coefficient : coefficient).length - PRECISION);

/** The coefficient of a sum rounded to the precision, with zeros in the place of the digits beyond it. */
export function roundToPrecision(coefficient: bigint): bigint {
  const unit = 10n ** BigInt(digitsBeyondPrecision(coefficient));
  const quotient = coefficient / unit;
  const remainder = coefficient % unit;
  const twice = (remainder < 0n ? -remainder : remainder) * 2n;
  const away = twice > unit || (twice === unit && quotient % 2n !== 0n);
  const step = coefficient < 0n ? -1n : 1n;
  return (away ? quotient + step : quotient) * unit;
}

const scaledTo = ({ coefficient, exponent }: FiniteDecimal, target: number): bigint =>
  coefficient * 10n ** BigInt(exponent - target);

function infiniteSign(value: Decimal): number {
  if (value.kind === "finite") return 0;
  return value.negative ? -1 : 1;
}

/** A double as `mantissa * 2 ** power`, exactly. */
function binaryParts(value: number): { readonly mantissa: bigint; readonly power: number } {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const raw = bits.getBigUint64(0);
  const biased = Number((raw >> 52n) & 0x7ffn);
  const fraction = raw & 0xfffffffffffffn;
  const magnitude = biased === 0 ? fraction : fraction | 0x10000000000000n;
  return { mantissa: value < 0 ? -magnitude : magnitude, power: Math.max(biased, 1) - 1075 };
}
