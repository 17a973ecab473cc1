import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CollectContext, Collection } from "../../../src/profile/collection/collector.ts";
import { repeatCollector } from "../../../src/profile/collectors/repeated-collector.ts";
import type { Workload } from "../../../src/profile/workload/workload.ts";
import { ConfigError } from "../../../src/values/errors.ts";
import { timelineOf } from "../regions/timelines.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "hydraconf-repeats-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Three runs of a collector that gives what a function says of the run with a number. */
function repeat(give: (run: number) => Partial<Collection>): Promise<Collection> {
  let run = 0;
  const collector = repeatCollector(
    {
      name: "recorder",
      collect: async () =>
        ({
          collector: "recorder",
          measured: { kind: "timeline", timeline: timelineOf([]) },
          source: { kind: "recording", directory: "." },
          outcome: { exitCode: 0, stdoutFile: join(directory, `repeats/${run + 1}/stdout.txt`) },
          notes: [],
          ...give(++run),
        }) as unknown as Collection,
    },
    { runs: 3, warmup: 0 },
  );
  const never = new AbortController().signal;
  const context = { directory, say: () => {}, interrupt: { stop: never, kill: never } };
  return collector.collect({} as Workload, context as unknown as CollectContext);
}

const repeatsOf = ({ measured }: Collection) =>
  measured.kind === "timeline" ? measured.repeats : undefined;

describe("repeatCollector", () => {
  it("keeps all runs", async () => {
    const collection = await repeat(() => ({}));
    expect(repeatsOf(collection)).toHaveLength(3);
    expect(collection.problem).toBeUndefined();
  });

  it("keeps what the workload printed in each of them", async () => {
    const { source } = await repeat(() => ({}));
    expect(source).toMatchObject({
      kind: "repeats",
      outputs: [1, 2, 3].map((run) => `repeats/${run}/stdout.txt`),
    });
  });

  it("reads nothing of what could not all be written, and says so", async () => {
    const stdoutFile = join(directory, "stdout.json");
    const collection = await repeat(
      (run) =>
        ({
          outcome: {
            exitCode: 0,
            stdoutFile,
            ...(run === 2 && { unwritten: "stdout.json: no space" }),
          },
        }) as unknown as Collection,
    );
    expect(repeatsOf(collection)?.map((one) => one.stdoutFile)).toEqual([
      stdoutFile,
      null,
      stdoutFile,
    ]);
    expect(collection.source).toMatchObject({ outputs: ["stdout.json", null, "stdout.json"] });
    expect(collection.outcome.unwritten).toBe("stdout.json: no space");
  });

  it.each([
    ["refuses", new ConfigError({ code: "profile.collector", message: "no recording" })],
    ["breaks", new Error("no recording")],
  ])("keeps the runs before one that %s, and tells why there are no more", async (_, error) => {
    const collection = await repeat((run) => {
      if (run === 3) throw error;
      return {};
    });
    expect(repeatsOf(collection)).toHaveLength(2);
    expect(collection.notes).toContain("2 of 3 runs were completed");
    expect(collection.problem?.message).toMatch(/no recording/);
  });

  it("passes on what stops the first run: nothing was measured", async () => {
    const failing = repeat(() => {
      throw new Error("no recording");
    });
    await expect(failing).rejects.toThrow("no recording");
  });
});
