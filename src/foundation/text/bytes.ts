/** Bytes as text and text as bytes: base64, the order of bytes, the length in UTF-8. */

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The standard alphabet, with padding, in one line. */
export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const [a = 0, b, c] = [bytes[i], bytes[i + 1], bytes[i + 2]];
    const group = (a << 16) | ((b ?? 0) << 8) | (c ?? 0);
    text += DIGITS.charAt(group >> 18) + DIGITS.charAt((group >> 12) & 63);
    text += b === undefined ? "=" : DIGITS.charAt((group >> 6) & 63);
    text += c === undefined ? "=" : DIGITS.charAt(group & 63);
  }
  return text;
}

const VALUES: ReadonlyMap<string, number> = new Map(
  [...DIGITS].map((digit, value) => [digit, value]),
);

/** The bytes of base64 digits without padding, as many as they make whole. */
export function fromBase64(digits: string): Uint8Array {
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let [length, pending, bits] = [0, 0, 0];
  for (const digit of digits) {
    pending = ((pending << 6) | (VALUES.get(digit) ?? 0)) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[length++] = (pending >> bits) & 0xff;
  }
  return bytes;
}

/** The order of bytes, a shorter sequence before those that it begins. */
export function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const shorter = Math.min(left.length, right.length);
  for (let i = 0; i < shorter; i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** How many bytes a text has in UTF-8. */
export const utf8Length = (text: string): number => new TextEncoder().encode(text).length;
