/** Which ticks of an axis get a label. */

/**
 * The ticks whose labels do not overlap, in order. If not all fit, powers of ten are kept, because
 * readers of a logarithmic axis look for them.
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
