import { readFileSync } from "node:fs";

/** Interruptions of a run of which this process gets no signal. Milliseconds. */
export interface SuspendedTime {
  /** How long this process was kept from running: suspended (SIGSTOP), or frozen with its container or its job. */
  readonly suspendedMs: number;
  /** How long the machine slept. Monotonic clocks stand still meanwhile. */
  readonly sleptMs: number;
}

const TICK_MS = 250;
/** Less may as well be a machine with too much to do, or the resolution of a clock. */
const LEAST_MS = 1_000;

/** In milliseconds; for tests. */
export interface SuspendClocks {
  /** How long the event loop has waited for something to do: also the time in which it could not. */
  readonly idleMs: () => number;
  /** Since the machine was started, its sleep included; null where that is not known. */
  readonly uptimeMs: () => number | null;
}

/**
 * Watches from now on for what stops this process.
 *
 * @returns ends the watching, and says what it has seen
 */
export function detectSuspension({ idleMs, uptimeMs } = CLOCKS): () => SuspendedTime {
  const began = { now: performance.now(), uptime: uptimeMs() };
  let suspendedMs = 0;
  let idleBefore = idleMs();
  const look = (): void => {
    const idle = idleMs();
    // What this process does itself delays its timers, too, but is no idle time.
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
      // Only Linux has it.
      return null;
    }
  },
};
