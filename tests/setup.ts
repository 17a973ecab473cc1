// A change is judged on the same random cases each time, so that it never fails for another's luck; the
// nightly script looks for new ones, and takes more of them. `HYDRACONF_SEED` is for trying one again.
import { configureGlobal } from "fast-check";
import { afterAll, expect, vi } from "vitest";
import { INTERRUPTS } from "../src/foundation/system/process-signals.ts";
import { runs } from "./runs.ts";

const { HYDRACONF_PROPERTY_FACTOR, HYDRACONF_SEED } = process.env;
if (HYDRACONF_PROPERTY_FACTOR === undefined)
  configureGlobal({ seed: Number(HYDRACONF_SEED ?? 20_261_121) });
else configureGlobal({ numRuns: runs(100) });

/** What test files share, since one process runs many of them. */
const shared = () => ({
  env: { ...process.env },
  cwd: process.cwd(),
  exitCode: process.exitCode,
  stackTraceLimit: Error.stackTraceLimit,
  signals: INTERRUPTS.map((signal) => process.listenerCount(signal)),
});
const before = shared();
// Whoever waits for a process listens for signals until it is gone.
afterAll(() =>
  vi.waitFor(
    () => expect(shared(), "a test file leaves the process as it was").toEqual(before),
    60_000,
  ),
);
