/** What Stryker's runner needs of each test file: the same few random cases each time, and nothing of the change before. */
import { isMainThread } from "node:worker_threads";
import { configureGlobal } from "fast-check";
import { beforeEach, type TestContext } from "vitest";
import { runs } from "../runs.ts";

configureGlobal({ seed: 20_261_121, numRuns: runs(100) });

// The thread that ran the change before loads the next test file: as it loads, nothing is changed.
const stryker = Reflect.get(globalThis, "__stryker__") as { activeMutant?: string } | undefined;
if (stryker !== undefined) delete stryker.activeMutant;

let running: TestContext | undefined;
beforeEach((context) => {
  running = context;
});

// Threads cannot change the working directory: tests that need it are skipped.
if (!isMainThread)
  process.chdir = () => {
    running?.skip("it changes the working directory");
  };
