import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profile/regions/index.ts";
import { aggregateOf, regionAt, scopesOf, tree } from "./models.ts";
import { type ProcessSketch, timelineOf, twoLibraries } from "./timelines.ts";

const OPS = "shallow_resnet.ops";

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

  it("lets a range that closed too early vanish from later paths", () => {
    const sketch: ProcessSketch = {
      ranges: [
        { name: "A", start: 0, end: 10 },
        { name: "B", start: 5, end: 30 },
        { name: "C", start: 15, end: 20 },
      ],
    };
    const { regions, notes } = aggregateOf(sketch);
    expect(tree(regions)).toEqual(["A", "A/B", "B/C"]);
    expect(notes.join()).toContain("closed while a range opened inside was still open");
    // What overlaps counts for both, and once for the range opened last.
    expect(regionAt(sketch, "A").exclusiveWallNs).toBe(5);
    expect(regionAt(sketch, "A/B").exclusiveWallNs).toBe(20);
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

  it("does not let overlapping asynchronous ranges grow the path without end", () => {
    const ranges = Array.from({ length: 1000 }, (_, index) => ({
      name: "request",
      start: index * 10,
      end: index * 10 + 15,
      kind: "start_end" as const,
    }));
    const { regions } = aggregateOf({ ranges });
    expect(tree(regions)).toEqual(["request", "request/request"]);
    expect(regions.map(({ invocations }) => invocations)).toEqual([1, 999]);
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

describe("times", () => {
  it("counts recursion once in wall time and kernels", () => {
    // Overlapping start/end ranges of one name: the second and third share the path X/X.
    const sketch: ProcessSketch = {
      ranges: [
        { name: "X", start: 0, end: 5, kind: "start_end" },
        { name: "X", start: 2, end: 20, kind: "start_end" },
        { name: "X", start: 10, end: 30, kind: "start_end" },
      ],
      kernels: [{ name: "k", launch: 15, ns: 1000 }],
    };
    const inner = regionAt(sketch, "X/X");
    expect(inner).toMatchObject({ invocations: 2, wallNs: 28, kernelNs: 1000, kernelCount: 1 });
    expect(inner.invocationWallNs).toMatchObject({ min: 18, max: 20 });
  });

  it("subtracts children once where they overlap", () => {
    const sketch: ProcessSketch = {
      ranges: [
        { name: "P", start: 0, end: 100, kind: "start_end" },
        { name: "w", start: 10, end: 50, thread: 2 },
        { name: "w", start: 30, end: 70, thread: 3 },
      ],
    };
    expect(regionAt(sketch, "P")).toMatchObject({ wallNs: 100, exclusiveWallNs: 40 });
    expect(regionAt(sketch, "P/w")).toMatchObject({ wallNs: 80, exclusiveWallNs: 80 });
  });

  it("covers wall time of outermost ranges once in the totals", () => {
    const { totals } = aggregateOf({
      ranges: [
        { name: "a", start: 0, end: 10, thread: 1 },
        { name: "a", start: 5, end: 15, thread: 2 },
        { name: "b", start: 20, end: 25 },
      ],
    });
    expect(totals.wallNs).toBe(20);
  });

  it("closes open ranges at the process's last event and says so", () => {
    const scope = aggregateOf({
      ranges: [
        { name: "open", start: 10, end: null },
        { name: "inside", start: 20, end: 40 },
      ],
      endNs: 60,
      finished: false,
    });
    const [open] = scope.regions;
    expect(open).toMatchObject({ wallNs: 50, exclusiveWallNs: 30 });
    expect(open?.notes.join()).toContain("never closed");
    expect(scope.notes).toContain(
      "process 100: 1 range was never closed (open); taken to end with the last event of the process",
    );
  });

  it("takes an open range to the last thing of its process, whatever that is", () => {
    const open = { name: "open", start: 10, end: null };
    const wall = (rest: ProcessSketch) =>
      regionAt({ endNs: 20, ...rest, ranges: [open, ...(rest.ranges ?? [])] }, "open").wallNs;
    const launch = { name: "k", launch: 70, ns: 1 };
    expect(wall({})).toBe(10);
    expect(wall({ ranges: [{ name: "later", start: 30, end: 50 }] })).toBe(40);
    expect(wall({ ranges: [{ name: "later", start: 40, end: null }] })).toBe(30);
    expect(wall({ kernels: [launch] })).toBe(60);
    expect(wall({ kernels: [launch, { ...launch, launch: 30 }] })).toBe(60);
    const { processes } = timelineOf([{ ranges: [open], endNs: 20 }]);
    const mark = {
      domain: "",
      name: "m",
      threadId: 1,
      timeNs: 90,
      category: null,
      color: null,
      payload: null,
    };
    const marked = processes.map((process) => ({ ...process, marks: [mark] }));
    const { scopes } = buildRegionModel({ ...timelineOf([]), processes: marked });
    expect(scopes[0]?.regions[0]?.wallNs).toBe(80);
  });

  it("names five of the ranges that were never closed, each once and cut where it is long", () => {
    const unclosed = (...names: readonly string[]) =>
      aggregateOf({ ranges: names.map((name, start) => ({ name, start, end: null })) })
        .notes.find((note) => note.includes("never closed"))
        ?.replace(/^process 100: |; taken .*$/g, "");
    expect(unclosed("a", "b", "c", "d", "e")).toBe("5 ranges were never closed (a, b, c, d, e)");
    expect(unclosed("a", "b", "c", "d", "e", "f")).toBe(
      "6 ranges were never closed (a, b, c, d, e, …)",
    );
    expect(unclosed("a", "a")).toBe("2 ranges were never closed (a)");
    expect(unclosed("x".repeat(80))).toBe(`1 range was never closed (${"x".repeat(80)})`);
    expect(unclosed("x".repeat(81))).toBe(`1 range was never closed (${"x".repeat(79)}…)`);
  });
});

describe("kernels and operations", () => {
  it("takes ranges of operation domains as CPU operations, never as regions", () => {
    const sketch: ProcessSketch = {
      ranges: [
        { name: "stem", start: 0, end: 100 },
        { name: "conv", start: 10, end: 60, domain: OPS },
        { name: "gemm", start: 20, end: 50, domain: OPS },
        { name: "relu", start: 70, end: 80, domain: OPS },
        { name: "late", start: 200, end: 205, domain: OPS },
      ],
    };
    const { regions, totals } = aggregateOf(sketch);
    expect(tree(regions)).toEqual(["stem", "(outside)"]);
    // A composite operation counts without its parts, so that the list adds up.
    expect(
      regions[0]?.kernels.map(({ kernel_name, kind, total_ms }) => [
        kernel_name,
        kind,
        total_ms * 1e6,
      ]),
    ).toEqual([
      ["gemm", "cpu_operation", 30],
      ["conv", "cpu_operation", 20],
      ["relu", "cpu_operation", 10],
    ]);
    expect(regions[0]).toMatchObject({ device: "cpu", kernelNs: 60, kernelCount: 3 });
    expect(totals).toMatchObject({ kernelNs: 65, outsideNs: 5, outsideKernelCount: 1 });
  });

  it("lists kernels of one name on one device once, the longest first, then by name", () => {
    const launches = [
      { name: "b", launch: 1, ns: 4 },
      { name: "a", launch: 2, ns: 3, device: 1 },
      { name: "a", launch: 3, ns: 2 },
      { name: "b", launch: 4, ns: 6, device: 1 },
      { name: "a", launch: 5, ns: 2 },
    ];
    const [region] = aggregateOf({
      ranges: [{ name: "step", start: 0, end: 10 }],
      kernels: launches,
    }).regions;
    expect(
      region?.kernels.map(({ kernel_name, device, calls, total_ms, mean_ms }) => [
        kernel_name,
        device,
        calls,
        total_ms * 1e6,
        mean_ms * 1e6,
      ]),
    ).toEqual([
      ["b", "cuda:1", 1, 6, 6],
      ["a", "cuda:0", 2, 4, 2],
      ["b", "cuda:0", 1, 4, 4],
      ["a", "cuda:1", 1, 3, 3],
    ]);
  });

  it("counts kernels instead of operations where both were recorded, and says so", () => {
    const { regions, notes } = aggregateOf({
      ranges: [
        { name: "stem", start: 0, end: 100 },
        { name: "conv", start: 10, end: 60, domain: OPS },
      ],
      kernels: [{ name: "k", launch: 20, ns: 7 }],
    });
    expect(regions[0]?.kernels.map(({ kernel_name }) => kernel_name)).toEqual(["k"]);
    expect(notes).toEqual([
      "process 100: 1 CPU operation is not counted because GPU kernels were recorded",
    ]);
  });

  it("lets the launch decide, not the execution", () => {
    const { regions } = aggregateOf({
      ranges: [{ name: "a", start: 0, end: 10 }],
      kernels: [
        { name: "in", launch: 9, ns: 5 },
        { name: "out", launch: 10, ns: 5 },
      ],
    });
    expect(regions.map(({ path, kernels }) => [path[0], kernels[0]?.kernel_name])).toEqual([
      ["a", "in"],
      ["(outside)", "out"],
    ]);
    // The bucket is no range: it has no time of its own.
    expect(regions[1]).toMatchObject({ invocations: 0, wallNs: null, exclusiveWallNs: null });
  });

  it("counts a kernel whose launch was not recorded as outside of every range", () => {
    const sketch: ProcessSketch = {
      ranges: [{ name: "epoch", start: 0, end: 9_000, kind: "start_end" }],
      kernels: [
        { name: "known", launch: 10, ns: 5 },
        { name: "unknown", launch: 20, ns: 7, thread: null },
      ],
    };
    const numbers = aggregateOf(sketch).regions.map(({ path, kernelNs }) => [
      path.at(-1),
      kernelNs,
    ]);
    expect(numbers).toEqual([
      ["epoch", 5],
      ["(outside)", 7],
    ]);
  });

  it("has no kernel time, rather than zero, where nothing was recorded", () => {
    const { regions, totals, notes } = aggregateOf({
      ranges: [{ name: "a", start: 0, end: 10 }],
    });
    expect(regions[0]).toMatchObject({ kernelNs: null, exclusiveKernelNs: null, kernelCount: 0 });
    expect(totals).toMatchObject({ kernelNs: null, outsideNs: null });
    expect(notes.join()).toContain("only wall times");
  });

  it("keeps a user's range called (outside) apart from the bucket", () => {
    const { regions } = aggregateOf({
      ranges: [{ name: "(outside)", start: 0, end: 10 }],
      kernels: [
        { name: "in", launch: 5, ns: 5 },
        { name: "out", launch: 50, ns: 5 },
      ],
    });
    expect(regions.map(({ kind }) => kind)).toEqual(["push_pop", "outside"]);
  });
});

describe("scopes", () => {
  const processes: ProcessSketch[] = [
    {
      pid: 30,
      ranges: [{ name: "a", start: 0, end: 10 }],
      kernels: [{ name: "k", launch: 1, ns: 5, device: 10 }],
    },
    {
      pid: 7,
      ranges: [{ name: "a", start: 0, end: 10 }],
      kernels: [{ name: "k", launch: 1, ns: 5, device: 2 }],
    },
  ];

  it("are the aggregate, then processes, then devices", () => {
    expect([...scopesOf(processes).keys()]).toEqual([
      "aggregate",
      "process:7",
      "process:30",
      "device:cuda:2",
      "device:cuda:10",
    ]);
    expect([...scopesOf(processes, { aggregate: false }).keys()][0]).toBe("process:7");
  });

  it("merge regions over processes by domain, path and kind", () => {
    const [region] = scopesOf(processes).get("aggregate")?.regions ?? [];
    expect(region).toMatchObject({ invocations: 2, processId: null, device: null, kernelNs: 10 });
    expect(region?.kernels.map(({ device }) => device).sort()).toEqual(["cuda:10", "cuda:2"]);
    const [own] = scopesOf(processes).get("process:7")?.regions ?? [];
    expect(own).toMatchObject({ invocations: 1, processId: 7, device: "cuda:2" });
  });

  it("count a range for each device on which something ran that was launched in it", () => {
    const at = (name: string, start: number) => ({ name, start, end: start + 10 });
    const scopes = scopesOf([
      {
        ranges: [at("both", 0), { name: "inner", start: 2, end: 4 }, at("one", 20), at("none", 40)],
        kernels: [
          { name: "k", launch: 3, ns: 5, device: 0 },
          { name: "k", launch: 6, ns: 5, device: 1 },
          { name: "copy", launch: 21, ns: 5, device: 1, kind: "memcpy" },
        ],
      },
    ]);
    const counts = (scope: string) =>
      scopes.get(scope)?.regions.map(({ path, invocations }) => `${path.join("/")} ${invocations}`);
    expect(counts("aggregate")).toEqual(["both 1", "both/inner 1", "one 1", "none 1"]);
    expect(counts("device:cuda:0")).toEqual(["both 1", "both/inner 1"]);
    expect(counts("device:cuda:1")).toEqual(["both 1", "one 1"]);
    const rule = "ranges count here when something launched inside them ran on this device";
    for (const [name, { notes }] of scopes)
      expect(notes.includes(rule), name).toBe(name.startsWith("device:"));
  });

  it("have the notes of the run and of their processes", () => {
    const sketches = processes.map((process) => ({ ...process, notes: [`of ${process.pid}`] }));
    const { scopes } = buildRegionModel(timelineOf(sketches, ["of the run"]));
    const told = new Map<string, readonly string[]>(
      scopes.map(({ scope, notes }) => [
        scope,
        notes.filter((note) => /\bof (the run|\d+)$/.test(note)),
      ]),
    );
    expect(told.get("aggregate")).toEqual(["of the run", "of 30", "of 7"]);
    expect(told.get("process:7")).toEqual(["of the run", "of 7"]);
    expect(told.get("device:cuda:2")).toEqual(told.get("aggregate"));
    for (const { notes } of scopes) expect(notes.join()).not.toContain("share the process id");
  });

  it("merge recordings that share a process id, and say so", () => {
    const scope = scopesOf([
      { pid: 5, ranges: [{ name: "a", start: 0, end: 1 }] },
      { pid: 5, ranges: [{ name: "a", start: 2, end: 3 }] },
    ]).get("process:5");
    expect(scope?.regions[0]?.invocations).toBe(2);
    expect(scope?.notes.join()).toContain("2 recordings share the process id 5");
  });

  it("report an empty run with a note", () => {
    for (const aggregate of [true, false]) {
      const scopes = [...scopesOf([], { aggregate }).values()];
      expect(scopes).toHaveLength(1);
      expect(scopes[0]).toMatchObject({ scope: "aggregate", regions: [] });
      expect(scopes[0]?.notes).toContain("no matching regions");
    }
  });
});
