import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startPausableTimer, startTimer } from "../../../src/foundation/system/long-timer.ts";

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

test("one that stood still for a while ends as much later", () => {
  const end = vi.fn();
  const timer = startPausableTimer(60_000, end);
  vi.advanceTimersByTime(50_000);
  timer.pause();
  timer.pause();
  vi.advanceTimersByTime(DAY);
  timer.goOn();
  timer.goOn();
  vi.advanceTimersByTime(9_999);
  expect(end).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(end).toHaveBeenCalledOnce();
  timer.pause();
  timer.goOn();
  vi.advanceTimersByTime(DAY);
  expect(end).toHaveBeenCalledOnce();
});

test("time counts only while it does not stand still, however often it did", () => {
  const end = vi.fn();
  const timer = startPausableTimer(60_000, end);
  for (let times = 0; times < 3; times++) {
    vi.advanceTimersByTime(15_000);
    timer.pause();
    vi.advanceTimersByTime(DAY);
    timer.goOn();
  }
  vi.advanceTimersByTime(14_999);
  expect(end).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(end).toHaveBeenCalledOnce();
});

test("one that was stopped does not end, nor go on", () => {
  const end = vi.fn();
  startPausableTimer(60_000, end).stop();
  const timer = startPausableTimer(60_000, end);
  timer.pause();
  timer.stop();
  timer.goOn();
  vi.advanceTimersByTime(DAY);
  expect(end).not.toHaveBeenCalled();
});
