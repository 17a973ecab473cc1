import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type {
  CollectContext,
  Collection,
  Collector,
} from "../../../src/profile/collection/collector.ts";
import type { CollectorName } from "../../../src/profile/collection/collector-names.ts";
import { runCollectors } from "../../../src/profile/collectors/run-collectors.ts";
import type { Workload } from "../../../src/profile/workload/workload.ts";
import { ConfigError } from "../../../src/values/errors.ts";

let runDirectory: string;
beforeEach(() => {
  runDirectory = mkdtempSync(join(tmpdir(), "hydraconf-collectors-"));
});
afterEach(() => rmSync(runDirectory, { recursive: true, force: true }));

const workload = { label: "w", argv: ["w"] } as unknown as Workload;

/** A collector that gives what a function says, and remembers what it was told. */
function collector(
  name: CollectorName,
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
    progress: { update: () => {}, stop: () => {} },
    say: () => {},
  });
}

const names = (collections: readonly { collector: CollectorName }[]) =>
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
      progress: { update: () => {}, stop: () => shown.push("status removed") },
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
    const problem = new ConfigError({ code: "profile.collector", message: "no permission" });
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
