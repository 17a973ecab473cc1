/** Detects that this process, or the machine, stood still during a run. */
import { readFileSync } from "node:fs";

/** Interruptions of a run about which this process gets no signal. Milliseconds. */
export interface SuspendedTime {
  /** How long this process could not run: suspended (SIGSTOP), or frozen with its container or its job. */
  readonly suspendedMs: number;
  /** How long the machine slept. Monotonic clocks stand still meanwhile. */
  readonly sleptMs: number;
}

const TICK_MS = 250;
/** A shorter delay may be due to a busy machine, or to the resolution of a clock. */
const LEAST_MS = 1_000;

/** In milliseconds; for tests. */
interface SuspendClocks {
  /** How long the event loop has been idle, including the time in which it could not run. */
  readonly idleMs: () => number;
  /** Time since boot, including sleep; null if unknown. */
  readonly uptimeMs: () => number | null;
}

/**
 * Detects interruptions of this process from now on.
 *
 * @returns ends the detection and reports the result
 */
export function detectSuspension({ idleMs, uptimeMs } = CLOCKS): () => SuspendedTime {
  const began = { now: performance.now(), uptime: uptimeMs() };
  let suspendedMs = 0;
  let idleBefore = idleMs();
  const look = (): void => {
    const idle = idleMs();
    // Work of this process delays its timers, too, but is not idle time.
    const late = idle - idleBefore - TICK_MS;
    idleBefore = idle;
    if (late >= LEAST_MS) suspendedMs += late;
  };
  const timer = setInterval(look, TICK_MS);
  timer.unref();
  return () => {
    look();
    clearInterval(timer);
    const uptime = uptimeMs();
    if (began.uptime === null || uptime === null) return { suspendedMs, sleptMs: 0 };
    const sleptMs = uptime - began.uptime - (performance.now() - began.now);
    return { suspendedMs, sleptMs: sleptMs >= LEAST_MS ? sleptMs : 0 };
  };
}

const CLOCKS: SuspendClocks = {
  idleMs: () => performance.eventLoopUtilization().idle,
  uptimeMs() {
    try {
      const seconds = Number.parseFloat(readFileSync("/proc/uptime", "latin1"));
      return Number.isNaN(seconds) ? null : seconds * 1000;
    } catch {
      // Exists only on Linux.
      return null;
    }
  },
};
