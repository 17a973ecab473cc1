import { describe, expect, test } from "vitest";
import { availableClients, buildFixture } from "./fixtures.ts";
import { outline } from "./outline.ts";
import { record } from "./record.ts";

const clients = availableClients("the recorder with threads and copies of NVTX");

describe.each(clients)("with the %s", (client) => {
  test("threads record side by side without losing or mixing up anything", async () => {
    const threads = 16;
    const ranges = 5000;
    const program = await buildFixture("threads.cc", client);
    const { outcome, timeline } = await record(program, [`${threads}`, `${ranges}`]);
    expect(outcome.code).toBe(0);
    const [process] = timeline.processes;
    const count = new Map<string, number>();
    for (const { kind, domain, name, endNs } of process?.ranges ?? []) {
      const key = `${kind} ${domain} ${name} ${endNs === null ? "open" : "closed"}`;
      count.set(key, (count.get(key) ?? 0) + 1);
    }
    expect(Object.fromEntries(count)).toEqual({
      "start_end  started by a worker closed": threads,
      "push_pop domain 0 outer closed": 6 * ranges,
      "push_pop domain 1 outer closed": 5 * ranges,
      "push_pop domain 2 outer closed": 5 * ranges,
      "push_pop  even closed": (threads * ranges) / 2,
      "push_pop  odd closed": (threads * ranges) / 2,
      "push_pop  brief closed": threads,
    });
    expect(process?.notes).toEqual([]);
    // Each worker's ranges stand on a thread of their own, in order.
    const workers = new Set(
      process?.ranges.filter(({ name }) => name === "outer").map(({ threadId }) => threadId),
    );
    expect(workers.size).toBe(threads);
  });

  test("several copies of NVTX in one process make one recording", async () => {
    const library = await buildFixture("second_copy.cc", client, ["-shared", "-fPIC"]);
    const program = await buildFixture("two_copies.cc", client);
    const { outcome, timeline } = await record(program, [library]);
    expect(outcome).toMatchObject({ code: 0, stderr: "" });
    // The domain created by three copies under one name is one domain with one nesting.
    expect(outline(timeline)).toEqual([
      "main shared name in program(in library in library)",
      "main nested in library nested in library",
    ]);
    expect(timeline.processes.map(({ notes }) => notes)).toEqual([[]]);
  });
});
