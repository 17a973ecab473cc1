import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import { scopesOf } from "./models.ts";
import { type ProcessSketch, type RangeSketch, timelineOf } from "./timelines.ts";

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
    const rule = "this report covers ranges whose kernels or copies ran on this device";
    for (const [name, { notes }] of scopes)
      expect(notes.includes(rule), name).toBe(name.startsWith("device:"));
  });

  it("count a range once for a device, however much it launched there, and only what its thread launched", () => {
    const scopes = scopesOf([
      {
        ranges: [
          { name: "step", start: 0, end: 10 },
          { name: "shared", start: 20, end: 30, kind: "start_end" },
        ],
        kernels: [
          { name: "k", launch: 2, ns: 5 },
          { name: "k", launch: 4, ns: 5 },
          // By a thread that is not known.
          { name: "k", launch: 25, ns: 5, thread: null },
        ],
      },
    ]);
    expect(
      scopes
        .get("device:cuda:0")
        ?.regions.map(({ path, invocations, wallNs, kernelCount }) => [
          path[0],
          invocations,
          wallNs,
          kernelCount,
        ]),
    ).toEqual([
      ["step", 1, 10, 2],
      ["(outside)", 0, expect.anything(), 1],
    ]);
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
    expect(scope?.regions[0]).toMatchObject({ invocations: 2, processId: 5 });
    expect(scope?.regions[0]?.invocationWallNs?.first).toBe(1);
    expect(scope?.notes.join()).toContain("2 recordings share the process id 5");
  });

  it("cover with ranges what any of their processes covers, and of a device what ran there", () => {
    const walls = (all: readonly ProcessSketch[]) =>
      Object.fromEntries([...scopesOf(all)].map(([scope, { totals }]) => [scope, totals.wallNs]));
    const at = (start: number, end: number) => ({ name: "a", start, end });
    const k = { name: "k", ns: 5 };
    expect(
      walls([
        { pid: 1, ranges: [at(0, 10)], kernels: [{ ...k, launch: 1 }] },
        {
          pid: 2,
          ranges: [at(5, 15), at(20, 30)],
          kernels: [
            { ...k, launch: 6 },
            { ...k, launch: 21, device: 1 },
            // Outside of ranges.
            { ...k, launch: 40, device: 2 },
          ],
        },
        { pid: 3, kernels: [{ ...k, launch: 1, device: 2 }] },
      ]),
    ).toEqual({
      aggregate: 25,
      "process:1": 10,
      "process:2": 20,
      "process:3": null,
      "device:cuda:0": 15,
      "device:cuda:1": 10,
      "device:cuda:2": null,
    });
    expect(walls([{ kernels: [{ ...k, launch: 1 }] }])["aggregate"]).toBeNull();
    expect(walls([{ pid: 1 }, { pid: 2 }])["aggregate"]).toBeNull();
  });

  it("of a device say which process used it, and nothing of what happened elsewhere", () => {
    const scopes = scopesOf([
      {
        pid: 1,
        ranges: [{ name: "a", start: 0, end: 10 }],
        kernels: [{ name: "k", launch: 1, ns: 5, device: 0 }],
      },
      {
        pid: 2,
        ranges: [{ name: "a", start: 0, end: 10 }],
        kernels: [
          { name: "k", launch: 1, ns: 5, device: 1 },
          { name: "copy", launch: 2, ns: 7, device: 1, kind: "memcpy", bytes: 1 },
        ],
      },
    ]);
    const regionOf = (scope: string) => scopes.get(scope)?.regions[0];
    expect(regionOf("device:cuda:0")).toMatchObject({ processId: 1, invocations: 1 });
    expect(regionOf("device:cuda:1")).toMatchObject({ processId: 2, invocations: 1 });
    expect(regionOf("device:cuda:0")?.activities ?? new Map()).toEqual(new Map());
    expect(regionOf("device:cuda:1")?.activities?.get("memcpy")?.ns).toBe(7);
    expect(regionOf("aggregate")?.processId).toBeNull();
  });

  it("tell of a GPU where one of their processes used one, and of none where none did", () => {
    const used: ProcessSketch = {
      pid: 1,
      ranges: [{ name: "a", start: 0, end: 2000 }],
      kernels: [{ name: "k", launch: 1, ns: 5 }],
    };
    const unused: ProcessSketch = { pid: 2, ranges: [{ name: "b", start: 0, end: 10 }] };
    const usesOf = (all: readonly ProcessSketch[], scope: string) =>
      scopesOf(all)
        .get(scope)
        ?.regions.map(({ gpuUse }) => gpuUse?.busyNs);
    expect(usesOf([used, unused], "aggregate")).toEqual([5, 0]);
    expect(usesOf([used, unused], "process:2")).toEqual([undefined]);
  });

  it("have families only where labels have numbers", () => {
    const named = (...names: readonly string[]) =>
      scopesOf([
        { ranges: names.map((name, at) => ({ name, start: at * 10, end: at * 10 + 5 })) },
      ]).get("aggregate");
    expect(named("a", "b")).not.toHaveProperty("families");
    expect(named("a 1", "a 2")?.families).toMatchObject([{ path: ["a #"], members: 2 }]);
  });

  it("show what is outside of ranges last, whatever was first and is selected", () => {
    const sketch: ProcessSketch = {
      ranges: [
        { name: "a", start: 10, end: 20 },
        { name: "b", start: 30, end: 40 },
      ],
      kernels: [{ name: "k", launch: 1, ns: 5 }],
    };
    const shown = (include: string[]) =>
      scopesOf([sketch], { selection: { include, exclude: [] } })
        .get("aggregate")
        ?.regions.map(({ path }) => path.join());
    expect(shown([])).toEqual(["a", "b", "(outside)"]);
    expect(shown(["b"])).toEqual(["b", "(outside)"]);
  });

  it("show what is outside where time passed there, from a thousandth on, or something ran", () => {
    const bucketOf = (sketch: ProcessSketch, scope = "aggregate") =>
      buildRegionModel(timelineOf([sketch]))
        .scopes.find((one) => one.scope === scope)
        ?.regions.find(({ kind }) => kind === "outside");
    const ranges = [{ name: "a", start: 0, end: 9990 }];
    expect(bucketOf({ ranges, endNs: 10_000 })?.wallNs).toBe(10);
    expect(bucketOf({ ranges, endNs: 9999 })).toBeUndefined();
    const copy = { name: "copy", launch: 5, ns: 7, thread: 2, kind: "memcpy", bytes: 1 } as const;
    const copied: ProcessSketch = { ranges, kernels: [copy, { ...copy, device: 1 }] };
    for (const scope of ["aggregate", "device:cuda:0", "device:cuda:1"])
      expect(bucketOf(copied, scope)?.activities?.get("memcpy")?.calls, scope).toBe(
        scope === "aggregate" ? 2 : 1,
      );
  });

  it("say that they have times of ranges only, and of which clocks", () => {
    const noteOf = (more: Partial<RangeSketch>, kernels: ProcessSketch["kernels"] = []) =>
      scopesOf([{ ranges: [{ name: "a", start: 0, end: 10, ...more }], kernels }])
        .get("aggregate")
        ?.notes.filter((note) => note.startsWith("neither GPU kernels"));
    const only = (what: string) => [
      `neither GPU kernels nor CPU operations were recorded: only ${what} of ranges are known`,
    ];
    expect(noteOf({})).toEqual(only("wall times"));
    expect(noteOf({ cpu: 5 })).toEqual(only("wall times and processor times"));
    expect(noteOf({}, [{ name: "k", launch: 1, ns: 5 }])).toEqual([]);
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

describe("instructions in all", () => {
  const range = (name: string, start: number, more: Partial<RangeSketch> = {}): RangeSketch => ({
    ...{ name, start, end: start + 10 },
    ...more,
  });
  const totalOf = (...ranges: readonly RangeSketch[]) =>
    scopesOf([{ ranges }]).get("aggregate")?.totals.instructions;

  it("are counted once for each thread, in whatever range it was", () => {
    expect(
      totalOf(
        range("a", 0, { cpu: 9, instructions: 70 }),
        { name: "inner", start: 2, end: 8, cpu: 4, instructions: 30 },
        range("a", 20, { cpu: 9, instructions: 5 }),
        range("a", 0, { cpu: 9, instructions: 1, thread: 2 }),
      ),
    ).toBe(76);
    expect(totalOf(range("a", 0, { instructions: 7 }), range("b", 20, { instructions: 2 }))).toBe(
      9,
    );
  });

  it("are unknown where a call of a known thread has none", () => {
    const counted = range("a", 0, { cpu: 9, instructions: 7 });
    for (const name of ["a", "b"]) {
      expect(totalOf(counted, range(name, 20, { cpu: 5 }))).toBeUndefined();
      expect(totalOf(range("a", 0, { instructions: 7 }), range(name, 20))).toBeUndefined();
    }
    expect(totalOf(range("a", 0))).toBeUndefined();
    expect(totalOf(range("a", 0, { cpu: 9, instructions: 0 }))).toBeUndefined();
  });

  it("do without ranges that two threads opened and closed, which have no processor time either", () => {
    const counted = range("a", 0, { cpu: 9, instructions: 7 });
    for (const name of ["a", "b"]) expect(totalOf(counted, range(name, 20))).toBe(7);
  });
});

describe("notes of many processes", () => {
  const GONE = "ended without finishing its recording";
  const many = (count: number, note: (pid: number) => string): ProcessSketch[] =>
    Array.from({ length: count }, (_, index) => ({
      pid: index + 1,
      ranges: [{ name: "a", start: 0, end: 10 }],
      notes: [`process ${index + 1} (my (old) tool): ${note(index + 1)}`],
    }));
  const notesIn = (scopes: ReturnType<typeof scopesOf>, scope: string) =>
    scopes.get(scope)?.notes.filter((note) => note.includes("process"));
  const notesOf = (processes: ProcessSketch[], scope: string) =>
    notesIn(scopesOf(processes), scope);

  it("stand there each where there are few", () => {
    const few = many(3, () => "2 events could not be recorded");
    expect(notesOf(few, "aggregate")).toEqual(few.flatMap(({ notes = [] }) => notes));
    // Workers that end by _exit are no news of each.
    expect(
      notesOf(
        many(2, () => GONE),
        "aggregate",
      ),
    ).toEqual([`process 1 (my (old) tool) and 1 other: ${GONE}`]);
  });

  it("are one where all say the same; each one's report keeps its own", () => {
    const scopes = scopesOf(many(90, () => GONE));
    expect(notesIn(scopes, "aggregate")).toEqual([
      `process 1 (my (old) tool) and 89 others: ${GONE}`,
    ]);
    expect(notesIn(scopes, "process:70")).toEqual([`process 70 (my (old) tool): ${GONE}`]);
  });

  it("are counted where they are too many to read", () => {
    const notes = notesOf(
      many(90, (pid) => `${pid} ranges were lost`),
      "aggregate",
    );
    expect(notes).toHaveLength(65);
    expect(notes?.[0]).toBe("process 1 (my (old) tool): 1 ranges were lost");
    expect(notes?.at(-1)).toBe("26 more notes in the reports of the processes");
  });
});
