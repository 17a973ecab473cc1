/** Counts in words, for all messages and reports. */

/** `1 region`, `2 regions`; large counts are grouped: `12,345 regions`. */
export const plural = (count: number, singular: string, many = `${singular}s`): string =>
  `${grouped(String(count))} ${agreeing(count, singular, many)}`;

/** `1 of 3 regions`, `12,345 of 67,890 regions`. */
export const partOf = (count: number, whole: number, singular: string, many?: string): string =>
  `${grouped(String(count))} of ${plural(whole, singular, many)}`;

/** The word that agrees with a count given elsewhere in the sentence: `1 of 3 regions is`, `2 of 3 regions are`. */
export const agreeing = (count: number, singular: string, many: string): string =>
  count === 1 ? singular : many;

/** `1234567` as `1,234,567`. */
export const grouped = (whole: string): string => whole.replace(/\B(?=(?:\d{3})+$)/g, ",");

/**
 * The first few names, and the number of the others: `a, b and 3 more`. A single other one is named, since that takes
 * no more room.
 */
export const firstFew = (names: readonly string[], most: number, separator = ", "): string =>
  firstFewOf(names, most, (name) => name, separator);

/**
 * The same for items whose names are made only when they are shown: of a hundred thousand regions, those of the first
 * five.
 */
export function firstFewOf<Item>(
  items: readonly Item[],
  most: number,
  nameOf: (item: Item) => string,
  separator = ", ",
): string {
  const left = items.length <= most + 1 ? 0 : items.length - most;
  const named = items.slice(0, items.length - left).map((item) => nameOf(item));
  return `${named.join(separator)}${left === 0 ? "" : ` and ${grouped(String(left))} more`}`;
}

/** Follows the first of several: ` (and 3 more)`; empty without others. */
export const andOthers = (others: number): string =>
  others === 0 ? "" : ` (and ${grouped(String(others))} more)`;

/** Capitalizes words at the start of a heading or a sentence: `kernels` becomes `Kernels`, `GPU kernel` stays. */
export const capitalized = (words: string): string =>
  words.charAt(0).toUpperCase() + words.slice(1);
