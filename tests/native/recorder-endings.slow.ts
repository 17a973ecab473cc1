import { describe, expect, test } from "vitest";
import { availableClients, buildFixture } from "./fixtures.ts";
import { record } from "./record.ts";

const clients = availableClients("the recorder and how programs end, the long form");

const HOUR_MS = 60 * 60 * 1000;

describe.runIf(clients.length > 0)("forking", () => {
  test(
    "is safe while other threads record, as often as a rare order of steps needs",
    async () => {
      const { outcome, timeline } = await record(await buildFixture("endings.cc", "own client"), [
        "fork-busy-long",
      ]);
      expect(outcome).toEqual({ code: 0, stdout: "", stderr: "" });
      const [, ...children] = timeline.processes;
      expect(children.map(({ ranges }) => ranges.map(({ name }) => name))).toEqual(
        Array.from({ length: 300 }, () => ["in child"]),
      );
      expect(timeline.processes.flatMap(({ notes }) => notes)).toEqual([]);
    },
    HOUR_MS,
  );
});
