import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Workload } from "../../../src/profiler/machine/process.ts";
import { ToolError } from "../../../src/profiler/machine/tool-error.ts";
import { repeatCollector, runCollectors } from "../../../src/profiler/run/collectors.ts";
import type { CollectContext, Collection, Collector } from "../../../src/profiler/tools/tool.ts";
import { timelineOf } from "../analysis/timelines.ts";

describe("run collectors", () => {
  let runDirectory: string;
  beforeEach(() => {
    runDirectory = mkdtempSync(join(tmpdir(), "hydraconf-collectors-"));
  });
  afterEach(() => rmSync(runDirectory, { recursive: true, force: true }));

  const workload = { label: "w", argv: ["w"] } as unknown as Workload;

  /** A collector that gives what a function says, and remembers what it was told. */
  function collector(
    name: string,
    give: () => Partial<Collection>,
  ): Collector & { readonly seen: CollectContext[] } {
    const seen: CollectContext[] = [];
    return {
      name,
      seen,
      collect: async (_, context) => {
        seen.push(context);
        return { collector: name, outcome: { exitCode: 0 }, ...give() } as Collection;
      },
    };
  }

  function run(collectors: readonly Collector[], stop = new AbortController()) {
    return runCollectors(collectors, workload, {
      runDirectory,
      interrupt: { stop: stop.signal, kill: new AbortController().signal },
      progress: { isShown: true, begin: () => {}, update: () => {}, stop: () => {} },
      say: () => {},
    });
  }

  const names = (collections: readonly { collector: string }[]) =>
    collections.map(({ collector: name }) => name);

  describe("runCollectors", () => {
    it("gives each a folder of its own and what those before it brought back", async () => {
      const recorder = collector("recorder", () => ({}));
      const ncu = collector("ncu", () => ({}));
      const { collections, missing } = await run([recorder, ncu]);
      expect(names(collections)).toEqual(["recorder", "ncu"]);
      expect(missing).toEqual([]);
      expect(ncu.seen[0]?.directory).toBe(join(runDirectory, "ncu"));
      expect(existsSync(join(runDirectory, "ncu"))).toBe(true);
      expect(names(ncu.seen[0]?.earlier ?? [])).toContain("recorder");
    });

    it("removes the status line of each before something else is said, also of one that fails", async () => {
      const shown: string[] = [];
      const busy = collector("recorder", () => {
        shown.push("measures");
        return {};
      });
      const broken = collector("nsys", () => {
        throw new Error("lost the trace");
      });
      await runCollectors([busy, broken], workload, {
        runDirectory,
        interrupt: { stop: new AbortController().signal, kill: new AbortController().signal },
        progress: {
          isShown: true,
          begin: () => {},
          update: () => {},
          stop: () => shown.push("status removed"),
        },
        say: (text) => shown.push(text),
      });
      expect(shown).toEqual([
        "recording w with collector recorder",
        "measures",
        "status removed",
        "recording w with collector nsys",
        "status removed",
      ]);
    });

    it("keeps what others measured when one fails, and goes on", async () => {
      const broken = collector("nsys", () => {
        throw new Error("lost the trace");
      });
      const { collections, missing } = await run([
        collector("recorder", () => ({})),
        broken,
        collector("ncu", () => ({})),
      ]);
      expect(names(collections)).toEqual(["recorder", "ncu"]);
      expect(missing).toHaveLength(1);
      expect(missing[0]?.error.message).toBe("the collector nsys failed: lost the trace");
    });

    it("goes on after a problem of a tool, which says nothing of the workload", async () => {
      const problem = new ToolError({
        tool: "toy",
        code: "profile.collector",
        message: "no permission",
      });
      const { collections } = await run([
        collector("nsys", () => ({ problem, outcome: { exitCode: 1 } as Collection["outcome"] })),
        collector("ncu", () => ({})),
      ]);
      expect(names(collections)).toEqual(["nsys", "ncu"]);
    });

    it("does not run a workload that fails again", async () => {
      const outcome = { exitCode: 3, argv: ["w"], startError: null, interruptedBy: null };
      const { collections, missing } = await run([
        collector("recorder", () => ({ outcome: { ...outcome, signal: null } as never })),
        collector("ncu", () => ({})),
      ]);
      expect(names(collections)).toEqual(["recorder"]);
      expect(missing[0]?.error.message).toBe(
        "the collector ncu was not run: w ended with exit code 3 under collector recorder",
      );
    });

    it("starts none after a request to stop", async () => {
      const stop = new AbortController();
      const { collections, missing } = await run(
        [
          collector("recorder", () => {
            stop.abort("SIGINT");
            return {};
          }),
          collector("ncu", () => ({})),
        ],
        stop,
      );
      expect(names(collections)).toEqual(["recorder"]);
      expect(missing[0]?.error.message).toMatch(/ncu was not run: the run was stopped by SIGINT/);
    });
  });
});

describe("repeated collector", () => {
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
      [
        "refuses",
        new ToolError({ tool: "toy", code: "profile.collector", message: "no recording" }),
      ],
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

    it("reads no large recording itself: that may be done in another process, which a signal ends", async () => {
      const read: number[] = [];
      const collection = await repeat((run) => ({
        isLarge: true,
        measured: {
          kind: "timeline",
          get timeline() {
            read.push(run);
            return timelineOf([]);
          },
        },
      }));
      expect(collection.isLarge).toBe(true);
      expect(read).toEqual([]);
      expect(repeatsOf(collection)?.map(({ timeline }) => timeline.processes)).toEqual([
        [],
        [],
        [],
      ]);
      expect(read).toEqual([1, 2, 3]);
    });

    it("passes on what stops the first run: nothing was measured", async () => {
      const failing = repeat(() => {
        throw new Error("no recording");
      });
      await expect(failing).rejects.toThrow("no recording");
    });
  });
});
