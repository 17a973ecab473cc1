/** What threads wait for: clocks say how long, samples say for what. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NCUProfileRegion } from "../../../src/report/model/document.ts";
import { threadTimeOf } from "../../../src/report/view/thread-time.ts";

type Samples = NonNullable<NCUProfileRegion["thread_samples"]>;

const samplesOf = (states: Samples["states"], counts: Partial<Samples> = {}): Samples => ({
  counted_ms: 800,
  queued_ms: 0,
  slices: 1000,
  system_ms: 0,
  minor_page_faults: 0,
  major_page_faults: 0,
  children_cpu_ms: 0,
  states,
  ...counts,
});

const waitsOf = (samples: Samples, wallMs: number, cpuMs: number | null) =>
  threadTimeOf({ thread_samples: samples }, wallMs, cpuMs)?.waits.map(
    ({ wait, ms }) => [wait, Math.round(ms)] as const,
  );

describe("the time that threads wait", () => {
  it("is for a processor as long as its queue took, however often they were seen to run", () => {
    const samples = samplesOf({ running: 50, file: 30 }, { queued_ms: 40 });
    expect(waitsOf(samples, 800, 350)).toEqual([
      ["file", 410],
      ["processor", 40],
    ]);
  });

  it("is for a processor as long as threads were seen to run and did not compute, where no queue is counted", () => {
    const samples = samplesOf({ running: 50, file: 30 }, { slices: 0 });
    expect(waitsOf(samples, 800, 350)).toEqual([
      ["file", 300],
      ["processor", 150],
    ]);
    // Of looks at other calls only.
    expect(
      waitsOf(samplesOf({ running: 50, file: 30 }, { counted_ms: 100 }), 800, 350)?.[1],
    ).toEqual(["processor", 150]);
  });

  it("is for a processor where a limit of processor time stops threads, which no queue counts", () => {
    expect(waitsOf(samplesOf({ running: 78, file: 2 }), 800, 200)).toEqual([
      ["processor", 580],
      ["file", 20],
    ]);
  });

  it("is never more than the time in which they do not compute", () => {
    const count = fc.integer({ min: 0, max: 100 });
    const ms = fc.double({ min: 0, max: 1000, noNaN: true });
    fc.assert(
      fc.property(
        count,
        count,
        count,
        ms,
        ms,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (running, file, lock, queued_ms, counted_ms, busy) => {
          const samples = samplesOf({ running, file, lock }, { queued_ms, counted_ms });
          const time = threadTimeOf({ thread_samples: samples }, 800, 800 * busy);
          const sum = time?.waits.reduce((all, { ms: one }) => all + one, 0) ?? 0;
          expect(sum).toBeLessThanOrEqual(800 * (1 - busy) + 1e-6);
        },
      ),
    );
  });
});
