import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { availableClients, buildFixture } from "./fixtures.ts";

describe.runIf(availableClients("the thread pool").includes("own client"))(
  "the thread pool",
  () => {
    test("takes each item once, passes exceptions on, and does not wait for threads without work", async () => {
      const source = new URL("../../native/common/thread_pool.cc", import.meta.url).pathname;
      const program = await buildFixture("thread_pool_check.cc", "own client", [source]);
      const { stdout } = await execa(program);
      expect(stdout).toMatch(/^\d+\.\d+$/);
      // In waits for a thread to wake: a loop that waits for all threads takes one at least.
      expect(Number(stdout)).toBeLessThan(0.5);
    });
  },
);
