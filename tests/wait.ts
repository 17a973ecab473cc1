import { setTimeout as sleep } from "node:timers/promises";
import { vi } from "vitest";

/** Until it holds; how long that takes is the machine's matter and the test's limit. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(20);
}

/** What it gives as soon as it does not throw any more; the last error, shortly before the test's own limit. */
export const eventually = <T>(look: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(look, { timeout: 240_000, interval: 20 });
