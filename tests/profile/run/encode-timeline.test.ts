import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeTimeline } from "../../../src/profile/run/encode-timeline.ts";
import { openTimeline, visible } from "../../../src/report/client/timeline-events.ts";
import { type ProcessSketch, timelineOf, wellNested } from "../analysis/timelines.ts";

const opened = (process: ProcessSketch) => {
  const encoded = encodeTimeline(timelineOf([process]));
  const events = openTimeline(encoded, Buffer.from(encoded.bytes, "base64"));
  return { encoded, events };
};

describe("a timeline in a page", () => {
  it("has every range in its lane, and kernels with the thread that launched them", () => {
    const { encoded, events } = opened({
      ranges: [
        { name: "step", start: 0, end: 1000 },
        { name: "inner", start: 10, end: 500 },
        { name: "step", start: 1000, end: 90_000 },
        { name: "other", start: 5, end: 70, thread: 2 },
      ],
      kernels: [{ name: "k", launch: 20, ns: 300 }],
    });
    expect(encoded.rows.map(({ label, kind, lanes }) => [label, kind, lanes])).toEqual([
      ["thread 1", "thread", 2],
      ["thread 2", "thread", 1],
      ["cuda:0", "stream", 1],
    ]);
    const [steps, inner] = events.lanesOf(0);
    expect([...(steps?.starts ?? [])]).toEqual([0, 1000]);
    expect([...(steps?.ends ?? [])]).toEqual([1000, 90_000]);
    expect(encoded.names[inner?.names[0] ?? -1]).toBe("inner");
    const [stream] = events.lanesOf(2);
    expect([stream?.launchRows?.[0], stream?.launches?.[0], stream?.starts[0]]).toEqual([
      0, 20, 1020,
    ]);
  });

  it("keeps all ranges of threads, whatever nests", () => {
    fc.assert(
      fc.property(wellNested, (process) => {
        const { encoded, events } = opened(process);
        const found = encoded.rows.flatMap(({ kind }, row) =>
          kind === "thread"
            ? events
                .lanesOf(row)
                .flatMap((lane) =>
                  [...lane.starts].map((start, at) => [
                    encoded.names[lane.names[at] ?? -1],
                    start,
                    lane.ends[at],
                  ]),
                )
            : [],
        );
        const wanted = (process.ranges ?? []).map(({ name, start, end }) => [name, start, end]);
        expect(found.map(String).sort()).toEqual(wanted.map(String).sort());
      }),
    );
  });

  it("is folded to what pixels can show", () => {
    const ranges = Array.from({ length: 100_000 }, (_, at) => ({
      name: "tiny",
      start: at * 10,
      end: at * 10 + 5,
    }));
    const { events } = opened({ ranges });
    const [lane] = events.lanesOf(0);
    if (lane === undefined) throw new Error("no lane");
    const all = [...visible(lane, 0, 1_000_000, 1000)];
    expect(all.length).toBeLessThanOrEqual(1001);
    expect(all.every(({ folded }) => folded)).toBe(true);
    expect([...visible(lane, 500_000, 500_100, 0.1)]).toHaveLength(11);
  });
});
