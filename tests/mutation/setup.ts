/** Stryker runs tests in threads, which cannot change the working directory: tests that need it are skipped there. */
import { isMainThread } from "node:worker_threads";
import { configureGlobal } from "fast-check";
import { beforeEach, inject, type TestContext } from "vitest";
import { runs } from "../runs.ts";

// The same random cases for every change: tests/setup.ts takes others where a factor is set. A smaller counterexample interests nobody.
configureGlobal({ seed: 20_261_121, numRuns: runs(100), endOnFailure: true });

const stryker = Object(
  Reflect.get(globalThis, String(Reflect.apply(inject, null, ["globalNamespace"]))),
);
// Stryker switches its change on as the tests of a file begin. That of the run before must be off as they are collected.
stryker.activeMutant = undefined;
// Stryker ends a loop after a hundred times as many rounds as all tests made of it; what is kept of each fills the memory before that.
if (stryker.hitLimit !== undefined) stryker.hitLimit /= 20;

let running: TestContext | undefined;
beforeEach((context) => {
  running = context;
});

if (!isMainThread)
  process.chdir = () => {
    running?.skip("it changes the working directory");
  };
