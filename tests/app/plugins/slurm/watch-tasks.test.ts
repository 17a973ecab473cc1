import fs, { mkdirSync, mkdtempSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ScheduledEvent } from "../../../../src/app/launch/launcher.ts";
import type { SlurmClient } from "../../../../src/app/plugins/slurm/client.ts";
import { slurmFolder } from "../../../../src/app/plugins/slurm/submissions.ts";
import { watchTasks } from "../../../../src/app/plugins/slurm/watch-tasks.ts";
import { begun, ended, readJobState, writeJobState } from "../../../../src/app/record/job-state.ts";

const unexpected = () => {
  throw new Error("nobody should ask that");
};

/** The task of a job that was started once before, on this machine. */
const TASK = { number: 3, array: "7", index: 1, attempts: 1 };
const BEFORE = ended(begun(3, undefined, {}), {
  endedBy: { by: "itself" },
  exitCode: 1,
  error: "boom",
});
const inTask = (before = BEFORE) => begun(3, before, { details: { scheduler: "7_1" } });

function place() {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-watch-"));
  mkdirSync(slurmFolder(folder));
  writeJobState(folder, BEFORE);
  return folder;
}

/** Watches the task to its end. At each look Slurm has the next state of it, and stays with the last. */
async function watched(
  folder: string,
  states: readonly string[],
  {
    onEvent = () => {},
    onLook = () => {},
  }: { onEvent?: (event: ScheduledEvent) => void; onLook?: (look: number) => void },
) {
  let looks = 0;
  const client: SlurmClient = {
    ...{ submit: unexpected, maxArraySize: unexpected, cancel: unexpected, arrayOf: unexpected },
    setParallelism: unexpected,
    recentTasks: unexpected,
    tasks: async () => {
      const state = states[Math.min(looks, states.length - 1)] ?? "";
      onLook(++looks);
      return [{ array: "7", index: 1, state, reason: null, exitCode: 1 }];
    },
  };
  const events: ScheduledEvent[] = [];
  for await (const event of watchTasks({ folder, client, tasks: [TASK] })) {
    events.push(event);
    onEvent(event);
  }
  return { events, looks, state: readJobState(folder, 3) };
}

describe("a task is watched", { concurrent: true }, () => {
  test("by its record: what was before it is not its own, each start is told once and why", async () => {
    const folder = place();
    const first = ended(inTask(), {
      endedBy: { by: "signal", signal: "SIGTERM" },
      exitCode: 143,
      error: "its node failed",
    });
    const second = inTask(first);
    const { events } = await watched(folder, ["RUNNING"], {
      onLook: (look) => look === 1 && writeJobState(folder, inTask()),
      onEvent({ kind }) {
        if (kind === "started") writeJobState(folder, second);
        if (kind === "retried")
          writeJobState(folder, ended(second, { endedBy: { by: "itself" }, exitCode: 0 }));
      },
    });
    expect(events).toEqual([
      { kind: "started", number: 3 },
      { kind: "retried", number: 3, status: "stopped", reason: "its node failed" },
      { kind: "ended", number: 3 },
    ]);
  });

  test("to an end that only Slurm knows: it started once", async () => {
    const folder = place();
    writeJobState(folder, inTask());
    const { events, state } = await watched(folder, ["RUNNING", "FAILED"], {});
    expect(events.map(({ kind }) => kind)).toEqual(["started", "ended"]);
    expect(state).toMatchObject({ status: "failed", attempts: [{}, { exit_code: 1 }] });
  });

  test("to an end that came before it could note its start, which is told all the same", async () => {
    const { events, state } = await watched(place(), ["FAILED"], {});
    expect(events.map(({ kind }) => kind)).toEqual(["started", "ended"]);
    expect(state?.attempts).toHaveLength(2);
  });

  test("to an end that is recorded while Slurm is asked: its own word for it counts", async () => {
    const folder = place();
    const { events, state } = await watched(folder, ["FAILED"], {
      onLook: (look) =>
        look === 2 &&
        writeJobState(folder, ended(inTask(), { endedBy: { by: "itself" }, exitCode: 0 })),
    });
    expect(events.map(({ kind }) => kind)).toEqual(["started", "ended"]);
    expect(state?.status).toBe("completed");
  });

  test("on where it runs again after its end, and that end says nothing of the next", async () => {
    const folder = place();
    writeJobState(folder, inTask());
    const { looks } = await watched(folder, ["NODE_FAIL", "RUNNING", "NODE_FAIL"], {});
    // Over at the third one, and at the next the record has had its time to come.
    expect(looks).toBe(4);
  });

  test("longer where Slurm says that all went well: its record is on its way", async () => {
    const folder = place();
    const { events, state } = await watched(folder, ["COMPLETED"], {
      onLook: (look) =>
        look === 3 &&
        writeJobState(folder, ended(inTask(), { endedBy: { by: "itself" }, exitCode: 0 })),
    });
    expect(events.map(({ kind }) => kind)).toEqual(["started", "ended"]);
    expect(state?.status).toBe("completed");
  });
});

/** How often something calls the file system. */
async function fileCalls(act: () => Promise<void>): Promise<number> {
  const names = [
    "statSync",
    "openSync",
    "readFileSync",
    "readdirSync",
    "lstatSync",
    "existsSync",
  ] as const;
  const before = names.map((name) => [name, fs[name]] as const);
  let calls = 0;
  const replaced = fs as unknown as Record<string, (...args: unknown[]) => unknown>;
  for (const [name, original] of before)
    replaced[name] = (...args) => {
      calls++;
      return (original as (...args: unknown[]) => unknown)(...args);
    };
  syncBuiltinESMExports();
  try {
    await act();
    return calls;
  } finally {
    Object.assign(fs, Object.fromEntries(before));
    syncBuiltinESMExports();
  }
}

test("ten thousand jobs that wait cost a few calls a second, and one that begins is seen by its record", async () => {
  const JOBS = 10_000;
  const CALLS_A_SECOND = 5;
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-watch-many-"));
  mkdirSync(slurmFolder(folder));
  const numbers = Array.from({ length: JOBS }, (_, number) => number);
  const tasks = numbers.map((number) => ({ number, array: "7", index: number, attempts: 0 }));
  const running = new Set<number>();
  let onQuestion = (): void => {};
  const client: SlurmClient = {
    ...{ submit: unexpected, maxArraySize: unexpected, cancel: unexpected, arrayOf: unexpected },
    setParallelism: unexpected,
    recentTasks: unexpected,
    async tasks() {
      onQuestion();
      const stateOf = (index: number) => (running.has(index) ? "RUNNING" : "PENDING");
      return numbers.map((index) => ({
        ...{ array: "7", index, state: stateOf(index), reason: null, exitCode: null },
      }));
    },
  };
  const follow = async (seconds?: number): Promise<readonly ScheduledEvent[]> => {
    const seen: ScheduledEvent[] = [];
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), (seconds ?? 60) * 1000);
    for await (const event of watchTasks({ folder, client, tasks, signal: stop.signal })) {
      seen.push(event);
      if (event.kind === "started") {
        // Slurm tells the same some time later, and its end is seen then at the latest.
        running.add(JOB);
        writeJobState(folder, ended(state, { endedBy: { by: "itself" }, exitCode: 0 }));
      }
      if (event.kind === "ended") stop.abort();
    }
    clearTimeout(timer);
    return seen;
  };
  const JOB = 4_711;
  const state = begun(JOB, undefined, {});

  const start = performance.now();
  const idle = await fileCalls(async () => expect(await follow(3)).toEqual([]));
  expect(idle).toBeGreaterThan(0);
  expect(idle).toBeLessThanOrEqual((CALLS_A_SECOND * (performance.now() - start)) / 1000);

  onQuestion = () => {
    if (running.size === 0) writeJobState(folder, state);
  };
  const busy = await fileCalls(async () => {
    expect(await follow()).toEqual([
      { kind: "started", number: JOB },
      { kind: "ended", number: JOB },
    ]);
  });
  // Its own file a few times, and the folder: of the others, none.
  expect(busy).toBeLessThan(JOBS / 100);
});
