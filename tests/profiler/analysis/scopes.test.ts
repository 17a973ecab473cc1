import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import { scopesOf } from "./models.ts";
import { type ProcessSketch, timelineOf } from "./timelines.ts";

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
