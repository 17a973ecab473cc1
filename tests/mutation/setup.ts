/** Stryker runs tests in threads, which cannot change the working directory: tests that need it are skipped there. */
import { isMainThread } from "node:worker_threads";
import { beforeEach, type TestContext } from "vitest";

let running: TestContext | undefined;
beforeEach((context) => {
  running = context;
});

if (!isMainThread)
  process.chdir = () => {
    running?.skip("it changes the working directory");
  };
