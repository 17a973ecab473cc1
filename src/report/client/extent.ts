/**
 * The least and the greatest of some numbers, even of more than a call can have arguments. Without
 * numbers: plus and minus infinity, like `Math.min` and `Math.max`.
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
