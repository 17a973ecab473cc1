import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startTimer } from "../../src/app/long-timer.ts";

const DAY = 24 * 3_600_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([1, 24, 25, 50, 365])("ends after %i days, and not before", (days) => {
  const end = vi.fn();
  startTimer(days * DAY, end);
  vi.advanceTimersByTime(days * DAY - 1);
  expect(end).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(end).toHaveBeenCalledOnce();
});

test("never ends once it is stopped, at whatever time", () => {
  const end = vi.fn();
  const stop = startTimer(60 * DAY, end);
  vi.advanceTimersByTime(40 * DAY);
  stop();
  vi.advanceTimersByTime(400 * DAY);
  expect(end).not.toHaveBeenCalled();
});
