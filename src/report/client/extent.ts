/**
 * The least and the greatest of some numbers, also of more than a call can have arguments. Of none:
 * plus and minus infinity, as `Math.min` and `Math.max` have it.
 */
export function extentOf(numbers: Iterable<number>): readonly [least: number, greatest: number] {
  let least = Number.POSITIVE_INFINITY;
  let greatest = Number.NEGATIVE_INFINITY;
  for (const number of numbers) {
    least = Math.min(least, number);
    greatest = Math.max(greatest, number);
  }
  return [least, greatest];
}
