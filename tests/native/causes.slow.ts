/** The table of docs/measurement.md: programs with one planted cause each, and what the answer names. */
import { describe, expect, test } from "vitest";
import { answered } from "./causes.ts";
import { availableClients } from "./fixtures.ts";

/** What causes look alike to the clock of a thread: all are named. */
const ALIKE = /CPU bound/;

/** A program, the region that takes its time, and what names its cause, also beside a missing processor. */
const CAUSES: readonly (readonly [program: string, label: string, named: RegExp])[] = [
  ["mutex", "update", /waits for a lock/],
  ["condition", "take", /waits for a condition variable/],
  ["fdatasync", "save", /waits for files/],
  ["sleep", "poll", /it sleeps/],
  ["child-asleep", "run tool", /waits for a child process, which is asleep itself/],
  ["child-computing", "run tool", /waits for a child process, which computes/],
  ["page-faults", "fill", /page faults/],
  ["false-sharing", "count", ALIKE],
  ["memory-bandwidth", "stream", ALIKE],
  ["busy-waiting", "wait for it", ALIKE],
  ["allocations", "build", ALIKE],
  ["outlier", "step", /one of its calls took/],
  ["first-call", "step", /its first call took/],
  ["start-up", "outside every range", /starting up, before the first range/],
  [
    "first-request",
    "outside every range",
    /waiting for a timer: it sleeps, before the first range/,
  ],
  ["after-the-last", "outside every range", /after the last range/],
  ["python", "train", /Python's lock/],
  ["system-calls", "read", /computes in the kernel/],
  ["processors", "compute", /waits for a free processor/],
  ["pipe", "receive", /waits for a pipe/],
  ["join", "collect", /waits for the end of a thread/],
  ["tiny-calls", "outside every range", /between very many short ranges/],
];

const clients = availableClients("planted causes");

describe.skipIf(clients.length === 0).each(["time", "counts"] as const)("cpu=%s", (cpu) => {
  // Other tests take processors and disks at any time: one of three runs must show the cause.
  test.each(CAUSES)(
    "%s is named",
    { timeout: 120_000, retry: 2 },
    async (program, label, named) => {
      const regions = await answered(program, cpu);
      // On a busy machine it need not be the first.
      const region = regions.find((one) => one.label === label);
      console.info(`${cpu} ${program}: ${region?.label}: ${region?.reason?.title}`);
      expect(region?.reason?.title).toMatch(named);
    },
  );
});
