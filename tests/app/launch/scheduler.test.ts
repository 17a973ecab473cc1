// Following a scheduler's jobs, with a scheduler that says when what happens.
import { mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SweepJob } from "../../../src/app/job/plan-job.ts";
import type { LauncherRequest, Pruning } from "../../../src/app/launch/launcher.ts";
import { completeBackend, followJobs } from "../../../src/app/launch/scheduler.ts";
import { prunedFile } from "../../../src/app/record/layout.ts";
import { ConfigError } from "../../../src/engine/values/errors.ts";
import { until } from "../../wait.ts";

const unanswered = () => new ConfigError({ code: "app.launcher", message: "no answer" });

/** Two jobs, of which the second is not worth going on. */
function follow(look: Pruning["look"], answers: readonly boolean[]) {
  const folder = join(mkdtempSync(join(tmpdir(), "hydraconf-follow-")), ".sweep");
  mkdirSync(dirname(prunedFile(folder, 0)), { recursive: true });
  const jobs = [0, 1].map((number) => ({
    number,
    overrides: [],
    outputDir: "",
  })) as unknown as readonly SweepJob[];
  const cancelled: (readonly number[])[] = [];
  const isOver = () => cancelled.length === answers.length;
  const backend = completeBackend(
    {
      status: async () => [],
      async cancel({ numbers = new Set<number>() } = {}) {
        cancelled.push([...numbers]);
        if (answers[cancelled.length - 1] !== true) throw unanswered();
      },
      async *watch({ signal } = {}) {
        yield { kind: "started", number: 0 };
        yield { kind: "started", number: 1 };
        await until(() => isOver() || signal?.aborted === true);
        if (signal?.aborted === true) return;
        yield { kind: "ended", number: 1 };
        yield { kind: "ended", number: 0 };
      },
    },
    folder,
  );
  const request = {
    ...{ directory: dirname(folder), mayStart: () => true, say: () => {} },
    resultOf: (job: SweepJob) => ({ ...job, status: "completed", exitCode: 0 }),
    internals: {
      record: { folder },
      invocation: { argv: [], command: [] },
      pruning: { note() {}, look },
    },
  } as unknown as LauncherRequest;
  const events = async () => {
    const told: string[] = [];
    for await (const event of followJobs(jobs, backend, request))
      told.push(`${event.kind} ${"job" in event ? event.job.number : ""}`);
    return told;
  };
  return { cancelled, events, folder };
}

describe("a pruner of jobs that a scheduler runs", () => {
  test("cancels a running job, again if the scheduler does not answer, and notes before why", async () => {
    let isTold = false;
    const { cancelled, events, folder } = follow(
      (running) => {
        if (isTold || !running.some(({ number }) => number === 1)) return [];
        isTold = true;
        return [{ number: 1, step: 3 }];
      },
      [false, true],
    );
    expect(await events()).toEqual(["started 0", "started 1", "ended 1", "ended 0"]);
    expect(cancelled).toEqual([[1], [1]]);
    expect(readFileSync(prunedFile(folder, 1), "utf8")).toBe("3");
  });

  test("ends the following if it cannot look at the jobs", async () => {
    const { events } = follow(() => {
      throw new ConfigError({ code: "app.job", message: "unreadable" });
    }, [true]);
    await expect(events()).rejects.toThrow("unreadable");
  });
});
