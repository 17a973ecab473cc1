import { describe, expect, test } from "vitest";
import { buildRegionModel } from "../../src/profiler/analysis/build.ts";
import type { CounterSeries, RangeInstance } from "../../src/profiler/model/timeline.ts";
import { availableClients, buildFixture } from "./fixtures.ts";
import { record } from "./record.ts";

const clients = availableClients("numbers of NVTX's extensions");

const program = () => buildFixture("payload_numbers.c", "nvtx3 headers", ["-xc", "-std=gnu11"]);

const numbersOf = ({ values = [] }: Partial<RangeInstance> = {}): string =>
  values.map(({ field, value }) => `${field.name} ${value} ${field.unit}`.trim()).join(", ");

describe.runIf(clients.includes("nvtx3 headers"))("payloads and counters of a program", () => {
  test("are recorded with their names, units and nesting; unknown ones break nothing", async () => {
    const { outcome, timeline } = await record(await program());
    expect(outcome).toEqual({ code: 0, stdout: "done", stderr: "" });
    const [process] = timeline.processes;
    const of = (name: string) => process?.ranges.find((range) => range.name === name);
    const sizes = process?.ranges.filter(({ name }) => name === "ncclAllReduce").map(numbersOf);
    expect(sizes).toEqual(
      [1000, 2000, 3000, 4000].map(
        (bytes) =>
          `NCCL communicator ID 11259375, Message size ${bytes} byte, Reduction operation = ${bytes === 4000 ? "Max" : "Sum"} 1 call`,
      ),
    );
    const [child] = timeline.processes[1]?.ranges ?? [];
    expect([child?.name, numbersOf(child)]).toEqual([
      "of the child",
      "NCCL communicator ID 11259375, Message size 77 byte, Reduction operation = Sum 1 call",
    ]);
    expect(numbersOf(of("outer"))).toBe(
      "inner.small -5, inner.work 2500 FLOP, tokens 10 token, tokens 20 token, tokens 30 token, below -7",
    );
    // The last comes with the pop.
    expect(numbersOf(of("dynamic"))).toBe(
      "n 3, items 100 item, items 200 item, items 300 item, after 9, payload 4096",
    );
    expect(numbersOf(of("unknown"))).toContain("placed 44");
    expect(numbersOf(of("unknown"))).not.toContain("lost");
    const [unknown, inside] = [of("unknown"), of("inside unknown")];
    expect(inside?.startNs).toBeGreaterThanOrEqual(unknown?.startNs ?? Number.NaN);
    expect(inside?.endNs).toBeLessThanOrEqual(unknown?.endNs ?? Number.NaN);
    expect(of("no data")?.endNs).not.toBeNull();
    expect(process?.ranges.every(({ endNs }) => endNs !== null)).toBe(true);
    expect(process?.notes.map((note) => note.replace(/^process \d+ \(.*?\): /, ""))).toEqual([
      "samples of counters that are not registered: 1",
    ]);
  });

  test("are counters over time, single ones and groups, those handed over later in their place", async () => {
    const { timeline } = await record(await program());
    const [process] = timeline.processes;
    const counters = process?.counters ?? [];
    const of = (name: string): CounterSeries | undefined =>
      counters.find((series) => series.name === name);
    expect(counters.map(({ name, unit, holds }) => `${name} [${unit}] ${holds}`)).toEqual([
      "queue depth [] false",
      "busy [%] true",
      "memory.used bytes [byte] false",
      "memory.load [] false",
    ]);
    expect([...(of("queue depth")?.values ?? [])]).toEqual([100, 1, 2, 3, 4, 0]);
    // By time: the batch, whose first sample is older than the process, came last.
    expect([...(of("memory.used bytes")?.values ?? [])]).toEqual([1000, 2000, 3000, 2048]);
    expect([...(of("memory.load")?.values ?? [])]).toEqual([1, 2, 3, 0.5]);
    for (const { timesNs } of counters)
      expect([...timesNs]).toEqual([...timesNs].sort((a, b) => a - b));
  });

  test("are events handed over later, on the recorder's clock and on one of the program's own", async () => {
    const { timeline } = await record(await program());
    const [process] = timeline.processes;
    const of = (name: string) => process?.ranges.find((range) => range.name === name);
    const length = (name: string) => (of(name)?.endNs ?? Number.NaN) - (of(name)?.startNs ?? 0);
    // The program overwrote this name after it had handed it over.
    expect(length("copy in")).toBe(300_000);
    expect(length("copy out")).toBe(100_000);
    expect(length("by ticks")).toBeCloseTo(200_000, -4);
    expect(numbersOf(of("copy in"))).toBe("bytes 640 byte");
    expect(of("by ticks")).toMatchObject({ kind: "start_end", threadId: process?.pid });
    // Read within a millisecond of when the program read it, and both after all of its own ranges had begun.
    const begun = of("counted")?.startNs ?? Number.NaN;
    expect(of("by ticks")?.startNs).toBeGreaterThan(begun - 1_000_000);
    expect(of("by ticks")?.endNs).toBeLessThanOrEqual((process?.endNs ?? Number.NaN) + 1_000_000);
    const row = of("copy in")?.threadId ?? -1;
    expect(row).toBe(of("copy out")?.threadId);
    expect(process?.threadNames.get(row)).toBe("engine[copy]");
  });

  test("become numbers of regions", async () => {
    const { timeline } = await record(await program());
    const [scope] = buildRegionModel(timeline).scopes;
    const of = (name: string) => scope?.regions.find(({ path }) => path.at(-1) === name);
    const reduce = of("ncclAllReduce");
    expect(reduce?.payloads).toEqual([
      {
        name: "Message size",
        unit: "byte",
        count: 4,
        sum: 10_000,
        mean: 2500,
        min: 1000,
        max: 4000,
        per_second: expect.closeTo((10_000 / (reduce?.wallNs ?? 0)) * 1e9, 3),
      },
      expect.objectContaining({ name: "Reduction operation = Sum", unit: "call", sum: 3 }),
      expect.objectContaining({ name: "Reduction operation = Max", unit: "call", sum: 1 }),
    ]);
    const counted = of("counted")?.counters ?? [];
    expect(counted.find(({ name }) => name === "queue depth")).toMatchObject({
      samples: 5,
      min: 0,
      mean: 2,
      max: 4,
    });
    // Sampled before, and held.
    expect(counted.find(({ name }) => name === "busy")).toMatchObject({ min: 12.5, max: 12.5 });
    expect(of("held")?.counters).toMatchObject([{ name: "busy", samples: 1, mean: 12.5 }]);
  });
});
