import { expect, test } from "vitest";
import { answered } from "./causes.ts";
import { availableClients } from "./fixtures.ts";

test.skipIf(availableClients("what threads wait for").length === 0)(
  "a recording tells what a thread waits in, by looking at it from outside",
  async () => {
    const [first] = (await answered("sleep", "time")).regions;
    expect(first).toMatchObject({ label: "poll", reason: { rule: "sleep" } });
    expect(first?.reason?.title).toBe("waits for a timer: it sleeps");
  },
  600_000,
);
