/** What Stryker's runner needs of each test file: the same few random cases each time, and nothing of the change before. */
import { isMainThread } from "node:worker_threads";
import { configureGlobal } from "fast-check";
import { globSync } from "fast-glob";
import { beforeEach, it, type TestContext, TestRunner } from "vitest";
import { runs } from "../runs.ts";

configureGlobal({ seed: 20_261_121, numRuns: runs(100), endOnFailure: true });

// The thread that ran the change before loads the next test file: as it loads, nothing is changed.
const stryker = Object(Reflect.get(globalThis, "__stryker__"));
delete stryker.activeMutant;
// Stryker ends a loop after a hundred times as many rounds as all tests made of it; what is kept of each fills the memory before that.
if (stryker.hitLimit !== undefined) stryker.hitLimit /= 20;

// What vitest keeps of each suite until its thread ends, for fixtures, would fill a thread that stays: most of the time would go there.
Reflect.deleteProperty(TestRunner.prototype, "onCleanupWorkerContext");
for (const key of Object.getOwnPropertySymbols(it))
  Object(Reflect.get(it, key)).getFixtures?.()?.constructor.clearDefinitions();

// Also what the code loads when it needs it: as a test that happens to be first loads it, its loading would count as tested.
for (const file of globSync(process.env["HYDRACONF_MUTATION_CODE"] ?? [], { absolute: true }))
  await import(file);

let running: TestContext | undefined;
beforeEach((context) => {
  running = context;
});

// Threads cannot change the working directory: tests that need it are skipped.
if (!isMainThread)
  process.chdir = () => {
    running?.skip("it changes the working directory");
  };
