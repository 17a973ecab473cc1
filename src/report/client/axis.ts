/** Which ticks of an axis get a label. */

/**
 * Those whose labels do not run into each other, in their order. Where not all fit, powers of ten
 * stay: a reader of a logarithmic axis looks for them.
 *
 * @param place of a tick, in the units of the chart
 * @param gap least distance of two labels, in the same units
 */
export function labelledTicks(
  ticks: readonly number[],
  place: (tick: number) => number,
  gap: number,
): readonly number[] {
  const kept: number[] = [];
  const first = [...ticks.filter(isPowerOfTen), ...ticks.filter((tick) => !isPowerOfTen(tick))];
  for (const tick of first)
    if (kept.every((other) => Math.abs(place(other) - place(tick)) >= gap)) kept.push(tick);
  return ticks.filter((tick) => kept.includes(tick));
}

const isPowerOfTen = (tick: number): boolean =>
  tick > 0 && Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < 1e-9;
