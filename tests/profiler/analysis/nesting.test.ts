import { describe, expect, it } from "vitest";
import { aggregateOf, regionAt, tree } from "./models.ts";
import { type ProcessSketch, twoLibraries } from "./timelines.ts";

describe("nesting", () => {
  it("comes from what was open, not from the label", () => {
    const { regions } = aggregateOf({
      ranges: [
        { name: "A", start: 0, end: 10 },
        { name: "A::A1", start: 2, end: 5 },
        { name: "A::A2", start: 20, end: 30 },
      ],
    });
    expect(tree(regions)).toEqual(["A", "A/A::A1", "A::A2"]);
  });

  it("keeps threads apart for push/pop and shares start/end ranges", () => {
    const { regions } = aggregateOf({
      ranges: [
        { name: "main", start: 0, end: 100, thread: 1 },
        { name: "worker", start: 10, end: 20, thread: 2 },
        { name: "epoch", start: 30, end: 90, thread: 1, kind: "start_end" },
        { name: "worker", start: 40, end: 50, thread: 2 },
      ],
    });
    expect(tree(regions)).toEqual(["main", "main/epoch", "worker", "epoch/worker"]);
  });

  it("puts ranges that overlap beside each other", () => {
    const sketch: ProcessSketch = {
      ranges: [
        { name: "A", start: 0, end: 10 },
        { name: "B", start: 5, end: 30 },
        { name: "C", start: 15, end: 20 },
      ],
    };
    const { regions, notes } = aggregateOf(sketch);
    expect(tree(regions)).toEqual(["A", "B", "B/C"]);
    expect(notes.join()).toContain(
      "1 range closed before a range that was opened later: such ranges overlap, and stand beside each other",
    );
    expect(regionAt(sketch, "A").exclusiveWallNs).toBe(10);
    expect(regionAt(sketch, "B").exclusiveWallNs).toBe(20);
  });

  it("says nothing of ranges that close in order, on one thread and on several", () => {
    const { notes } = aggregateOf({
      ranges: [
        { name: "A", start: 0, end: 30 },
        { name: "B", start: 5, end: 10 },
        { name: "C", start: 10, end: 30 },
        { name: "other thread", start: 20, end: 50, thread: 2 },
      ],
      kernels: [{ name: "k", launch: 6, ns: 1 }],
    });
    expect(notes).toEqual([]);
  });

  it("puts a range inside those that close with it, beside those that close before", () => {
    const { regions } = aggregateOf({
      ranges: [
        { name: "a", start: 0, end: 5 },
        { name: "b", start: 1, end: 10 },
        { name: "c", start: 2, end: 10 },
      ],
    });
    expect(tree(regions)).toEqual(["a", "b", "b/c"]);
  });

  it("follows the order of opening, whichever thread opened a shared range in between", () => {
    const shared = (name: string, start: number, end: number) => ({
      ...{ name, start, end, thread: 2, kind: "start_end" as const },
    });
    const { regions } = aggregateOf({
      ranges: [
        { name: "a", start: 0, end: 100 },
        shared("s", 1, 90),
        { name: "b", start: 2, end: 80 },
        shared("t", 3, 70),
        { name: "c", start: 4, end: 60 },
      ],
      kernels: [{ name: "k", launch: 50, ns: 1 }],
    });
    expect(tree(regions)).toEqual(["a", "a/s/b", "a/s/b/t/c", "s", "s/t"]);
    expect(regions.find(({ exclusiveKernelNs }) => exclusiveKernelNs === 1)?.path.at(-1)).toBe("c");
  });

  it("ends at 256 levels: what is deeper counts as a part of the last", () => {
    const nested = (depth: number): ProcessSketch => ({
      ranges: Array.from({ length: depth }, (_, at) => ({
        name: "f",
        start: at,
        end: 1000 - at,
      })),
      kernels: [{ name: "k", launch: 400, ns: 3 }],
    });
    const deepest = aggregateOf(nested(256));
    expect(deepest.regions.at(-1)).toMatchObject({ exclusiveKernelNs: 3, exclusiveWallNs: 490 });
    expect(deepest.regions).toHaveLength(256);
    expect(deepest.notes.join()).not.toContain("nested deeper");
    const deeper = aggregateOf(nested(258));
    expect(deeper.regions).toHaveLength(256);
    expect(deeper.regions.at(-1)).toMatchObject({ exclusiveKernelNs: 3, exclusiveWallNs: 490 });
    expect(deeper.notes.join()).toContain(
      "2 ranges nested deeper than 256 levels count as part of",
    );
  });

  it("does not let overlapping asynchronous ranges grow the path without end", () => {
    const ranges = Array.from({ length: 1000 }, (_, index) => ({
      name: "request",
      start: index * 10,
      end: index * 10 + 15,
      kind: "start_end" as const,
    }));
    const { regions } = aggregateOf({ ranges });
    expect(tree(regions)).toEqual(["request"]);
    expect(regions.map(({ invocations }) => invocations)).toEqual([1000]);
  });

  it("separates domains and kinds that share a path", () => {
    const { regions } = aggregateOf({
      ranges: [
        { name: "a", start: 0, end: 1, domain: "x" },
        { name: "a", start: 2, end: 3 },
        { name: "a", start: 4, end: 5, kind: "start_end" },
      ],
    });
    expect(regions.map(({ domain, kind }) => [domain, kind])).toEqual([
      ["x", "push_pop"],
      ["", "push_pop"],
      ["", "start_end"],
    ]);
  });

  it("separates what is inside of ranges that differ in their domain only", () => {
    const { regions } = aggregateOf(twoLibraries);
    expect(
      regions.map(({ path, domain, path_domains, invocations, wallNs, kernelNs }) => [
        path.join("/"),
        domain,
        path_domains,
        invocations,
        wallNs,
        kernelNs,
      ]),
    ).toEqual([
      ["step", "A", undefined, 1, 10_000_000, 100_000],
      ["step/load", "io", ["A", "io"], 1, 3_000_000, 100_000],
      ["step", "B", undefined, 1, 30_000_000, 7_000_000],
      ["step/load", "io", ["B", "io"], 1, 20_000_000, 7_000_000],
    ]);
  });

  it("does not separate what is inside of ranges that differ in their kind only", () => {
    const { regions } = aggregateOf({
      ranges: [
        { name: "step", start: 0, end: 10_000, kind: "start_end" },
        { name: "load", start: 1_000, end: 4_000 },
        { name: "step", start: 20_000, end: 50_000 },
        { name: "load", start: 21_000, end: 41_000 },
      ],
      kernels: [
        { name: "copy", launch: 2_000, ns: 100 },
        { name: "copy", launch: 22_000, ns: 7_000 },
      ],
    });
    expect(
      regions.map(({ path, kind, invocations, wallNs, kernelNs }) => [
        path.join("/"),
        kind,
        invocations,
        wallNs,
        kernelNs,
      ]),
    ).toEqual([
      ["step", "start_end", 1, 10_000, 100],
      ["step", "push_pop", 1, 30_000, 7_000],
      ["step/load", "push_pop", 2, 23_000, 7_100],
    ]);
  });

  it("takes ranges of one name in two domains for two levels, in whichever order they stand", () => {
    const nested = (outer: string, inner: string, at: number) => [
      { name: "step", start: at, end: at + 100, domain: outer },
      { name: "step", start: at + 10, end: at + 90, domain: inner },
      { name: "load", start: at + 20, end: at + 30, domain: inner },
    ];
    const { regions } = aggregateOf({ ranges: [...nested("A", "", 0), ...nested("", "A", 200)] });
    expect(
      regions.map(({ path, domain, path_domains }) =>
        (path_domains ?? path.map(() => domain)).join(),
      ),
    ).toEqual(["A", "A,", "A,,", "", ",A", ",A,A"]);
  });

  it("lists siblings in the order in which they appeared, whatever their names and domains", () => {
    const range = (name: string, domain: string, at: number) => ({
      name,
      domain,
      start: at,
      end: at + 5,
    });
    const { regions } = aggregateOf({
      ranges: [range("a", "x", 0), range("b", "", 10), range("a", "", 20), range("a", "x", 30)],
    });
    expect(regions.map(({ path, domain }) => `${path.join("/")}@${domain}`)).toEqual([
      "a@x",
      "b@",
      "a@",
    ]);
  });

  it("uses the recorded order between events of equal time", () => {
    const ranges = [
      { name: "A", start: 5, end: 5, startSequence: 0, endSequence: 3 },
      { name: "B", start: 5, end: 5, startSequence: 1, endSequence: 2 },
      { name: "C", start: 5, end: 9, startSequence: 4, endSequence: 5 },
    ];
    expect(tree(aggregateOf({ ranges }).regions)).toEqual(["A", "A/B", "C"]);
    const unordered = ranges.map(({ name, start, end }) => ({ name, start, end }));
    expect(tree(aggregateOf({ ranges: unordered }).regions)).toEqual(["A", "B", "C"]);
  });
});
