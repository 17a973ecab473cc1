import { expect } from "vitest";

/** The project's accuracy bar against PyTorch: |a - b| <= 1e-4 * max(0.01, |b|) for every value. */
export function expectClose(actual: ArrayLike<number>, expected: ArrayLike<number>): void {
  expect(actual.length).toBe(expected.length);
  let worst = 0;
  for (let i = 0; i < expected.length; i++) {
    const wanted = expected[i] ?? Number.NaN;
    const error = Math.abs((actual[i] ?? Number.NaN) - wanted) / Math.max(0.01, Math.abs(wanted));
    // NaN must fail too.
    if (!(error <= worst)) worst = error;
  }
  expect(worst).toBeLessThanOrEqual(1e-4);
}
