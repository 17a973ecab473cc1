import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import type { RankIdentity, Timeline } from "../../../src/profiler/model/timeline.ts";
import { runs } from "../../runs.ts";
import { type KernelSketch, processOf, type RangeSketch, timelineOf } from "./timelines.ts";

/** A program of ranks, each computing for its time before a call that all make; in ms. */
function ranks(
  compute: readonly number[],
  name = "MPI_Allreduce",
  size = compute.length,
): Timeline {
  const ms = 1_000_000;
  const latest = Math.max(...compute);
  const timeline = timelineOf(
    compute.map((own, rank) => ({
      pid: 100 + rank,
      ranges: [
        { name: "compute", start: 0, end: own * ms },
        { name, start: own * ms, end: (latest + 1) * ms },
      ],
    })),
  );
  const identity = (rank: number): RankIdentity => ({ rank, size, localRank: rank, host: "node1" });
  return {
    ...timeline,
    processes: timeline.processes.map((process, rank) => ({ ...process, rank: identity(rank) })),
  };
}

const aggregate = (timeline: Timeline) => buildRegionModel(timeline).scopes[0];
const regionOf = (timeline: Timeline, name: string) =>
  aggregate(timeline)?.regions.find(({ path }) => path.at(-1) === name);

describe("ranks", () => {
  it("have scopes of their own in the place of their processes, in the order of their numbers", () => {
    const { scopes } = buildRegionModel(ranks([10, 10, 60]));
    expect(scopes.map(({ scope }) => scope)).toEqual(["aggregate", "rank:0", "rank:1", "rank:2"]);
    expect(scopes[0]?.ranks).toEqual(
      [0, 1, 2].map((rank) => ({
        rank,
        host: "node1",
        local_rank: rank,
        process_ids: [100 + rank],
        communication_ms: rank === 2 ? 1 : 51,
        exposed_communication_ms: rank === 2 ? 1 : 51,
      })),
    );
  });

  it("have all their processes and notes; processes without a rank keep scopes of their own", () => {
    const everywhere = ranks([10, 20]);
    const processes = [...everywhere.processes, ...everywhere.processes].map((process, at) => {
      const own = { ...process, pid: 7 + at, notes: [`of ${7 + at}`] };
      const { rank: _, ...unranked } = own;
      return at === 2 ? unranked : own;
    });
    const { scopes } = buildRegionModel({ ...everywhere, processes, notes: ["of all"] });
    expect(
      scopes.map(({ scope, regions, notes }) => [
        scope,
        regions[0]?.invocations,
        notes.filter((note) => note.startsWith("of ")),
      ]),
    ).toEqual([
      ["aggregate", 4, ["of all", "of 7", "of 8", "of 9", "of 10"]],
      ["rank:0", 1, ["of all", "of 7"]],
      ["rank:1", 2, ["of all", "of 8", "of 10"]],
      ["process:9", 1, ["of all", "of 9"]],
    ]);
    expect(scopes[0]?.ranks?.map(({ process_ids }) => process_ids)).toEqual([[7], [8, 10]]);
    for (const { scope, ranks: infos } of scopes.slice(1)) expect(infos, scope).toBeUndefined();
  });

  it("ran as long as the program that was started, if it is one of theirs", () => {
    const timeline = ranks([10, 20]);
    const runsOf = (span: Timeline["span"]) =>
      buildRegionModel({ ...timeline, ...(span && { span }) }).scopes.map(
        ({ totals }) => (totals.run?.processNs ?? 0) / 1e6,
      );
    expect(runsOf(undefined)).toEqual([42, 21, 21]);
    expect(runsOf({ pid: 101, startNs: -9e6, endNs: 30e6 })).toEqual([60, 21, 39]);
    // One that starts the ranks is none of them.
    expect(runsOf({ pid: 1, startNs: -9e6, endNs: 30e6 })).toEqual([42, 21, 21]);
  });

  it("share the time of a region evenly or not", () => {
    expect(regionOf(ranks([10, 10, 60, 20]), "compute")?.ranks).toEqual({
      wall_ms: [10, 10, 60, 20],
      min_ms: 10,
      mean_ms: 25,
      max_ms: 60,
      imbalance: 2.4,
      load_balance: 25 / 60,
      slowest_rank: 2,
    });
  });

  it("that never enter a region do other work: they are no imbalance", () => {
    const everywhere = ranks([10, 20, 60]);
    const timeline = {
      ...everywhere,
      processes: everywhere.processes.map((process, rank) => ({
        ...process,
        ranges: process.ranges.filter(({ name }) => rank !== 1 || name !== "compute"),
      })),
    };
    expect(regionOf(timeline, "compute")?.ranks).toMatchObject({
      wall_ms: [10, null, 60],
      min_ms: 10,
      mean_ms: 35,
      max_ms: 60,
      imbalance: 60 / 35,
      slowest_rank: 2,
    });
    const alone = {
      ...everywhere,
      processes: everywhere.processes.map((process, rank) => ({
        ...process,
        ranges: process.ranges.filter(({ name }) => rank === 1 || name !== "compute"),
      })),
    };
    expect(regionOf(alone, "compute")?.ranks).toEqual({
      wall_ms: [null, 20, null],
      min_ms: 20,
      mean_ms: 20,
      max_ms: 20,
      imbalance: 1,
      load_balance: 1,
      slowest_rank: 1,
    });
  });

  it("tell how much of their communication no computation hides", () => {
    const ms = 1_000_000;
    const kernel = (name: string, from: number, to: number) => ({
      // Kernels of these timelines begin 1 µs after their launch.
      ...{ name, launch: from * ms - 1000, ns: (to - from) * ms },
    });
    const communicationOf = (kernels: readonly KernelSketch[]) => {
      const timeline = ranks([10, 20]);
      const processes = timeline.processes.map((process, rank) =>
        rank === 0 ? { ...process, kernels: processOf({ kernels }).kernels } : process,
      );
      return aggregate({ ...timeline, processes })?.ranks?.map(
        ({ communication_ms, exposed_communication_ms }) => [
          communication_ms,
          exposed_communication_ms,
        ],
      );
    };
    // Two streams of communication, from 10 to 40, and computation until 15 and from 30 to 35.
    const nccl = [
      kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 10, 30),
      kernel("ncclDevKernel_SendRecv", 20, 40),
    ];
    const compute = [kernel("gemm", 1, 15), kernel("reduce_kernel", 30, 35)];
    expect(communicationOf([...nccl, ...compute])).toEqual([
      [30, 20],
      [1, 1],
    ]);
    // Without kernels of communication, ranges of communication count: from 10 to 21.
    expect(communicationOf(compute)).toEqual([
      [11, 6],
      [1, 1],
    ]);
    expect(communicationOf([])).toEqual([
      [11, 11],
      [1, 1],
    ]);
    expect(aggregate(ranks([1, 2], "other"))?.ranks?.[0]).not.toHaveProperty("communication_ms");
  });

  it("expose at most all of their communication, and at least what computation could not cover", () => {
    const spans = fc.array(
      fc.record({
        at: fc.integer({ min: 1, max: 50 }),
        length: fc.integer({ min: 1, max: 20 }),
        communicates: fc.boolean(),
      }),
      { minLength: 1, maxLength: 20 },
    );
    fc.assert(
      fc.property(spans, (all) => {
        const timeline = ranks([1, 1], "other");
        const kernels = all.map(({ at, length, communicates }) => ({
          ...{
            name: communicates ? "ncclKernel" : "gemm",
            launch: 1e6 * at - 1000,
            ns: 1e6 * length,
          },
        }));
        const processes = timeline.processes.map((process) => ({
          ...process,
          kernels: processOf({ kernels }).kernels,
        }));
        const [rank] = aggregate({ ...timeline, processes })?.ranks ?? [];
        const within = (ms: number, kind: boolean) =>
          all.some(
            ({ at, length, communicates }) => communicates === kind && at <= ms && ms < at + length,
          );
        const times = Array.from({ length: 100 }, (_, ms) => ms);
        const communication = times.filter((ms) => within(ms, true));
        const exposed = communication.filter((ms) => !within(ms, false));
        expect(rank?.communication_ms ?? 0).toBeCloseTo(communication.length, 6);
        expect(rank?.exposed_communication_ms ?? 0).toBeCloseTo(exposed.length, 6);
      }),
      { numRuns: runs(200) },
    );
  });

  it("have their least, mean and most time in whatever order they come", () => {
    const ms = fc.integer({ min: 1, max: 1000 });
    fc.assert(
      fc.property(fc.array(ms, { minLength: 2, maxLength: 6 }), (times) => {
        const found = regionOf(ranks(times), "compute")?.ranks;
        expect(found?.wall_ms).toEqual(times);
        expect(found?.min_ms).toBe(Math.min(...times));
        expect(found?.max_ms).toBe(Math.max(...times));
        const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
        expect(found?.mean_ms).toBeCloseTo(mean, 9);
        expect(found?.imbalance).toBeCloseTo(Math.max(...times) / mean, 9);
        expect(times[found?.slowest_rank ?? -1]).toBe(Math.max(...times));
      }),
      { numRuns: runs(50) },
    );
  });

  it("wait in communication for the one that enters last", () => {
    expect(regionOf(ranks([10, 30, 60]), "MPI_Allreduce")?.ranks).toMatchObject({
      wall_ms: [51, 31, 1],
      slowest_rank: 2,
      waiting_ms: 80,
    });
  });

  /** Calls of ranks, in ms; `pid` for a rank with several processes. */
  const callsOf = (
    calls: readonly (readonly [rank: number, ...RangeSketch[]])[],
    machines: readonly number[] = [],
  ): Timeline => {
    const timeline = timelineOf(
      calls.map(([rank, ...ranges], index) => ({
        pid: 100 + index,
        rank: { rank, size: 2, localRank: rank, host: "node1" },
        ranges: ranges.map((range) => ({
          ...range,
          start: range.start * 1e6,
          end: range.end === null ? null : range.end * 1e6,
        })),
      })),
    );
    const processes = timeline.processes.map((process, index) => {
      const machine = machines[index];
      return machine === undefined ? process : { ...process, machine };
    });
    return { ...timeline, processes };
  };
  const barrier = (start: number, end: number, thread = 1) => ({
    name: "barrier",
    start,
    end,
    thread,
  });
  const waitsIn = (calls: Parameters<typeof callsOf>[0]) => {
    const found = regionOf(callsOf(calls), "barrier")?.ranks;
    return [found?.waiting_ms, found?.slowest_rank];
  };

  it("wait call by call; what they wait for a rank is added up", () => {
    // 4 ms for rank 0, then 3 ms and 2 ms for rank 1.
    expect(
      waitsIn([
        [0, barrier(4, 5), barrier(10, 14), barrier(20, 23)],
        [1, barrier(0, 5), barrier(13, 14), barrier(22, 23)],
      ]),
    ).toEqual([9, 1]);
    expect(
      waitsIn([
        [0, barrier(6, 7), barrier(10, 14), barrier(20, 23)],
        [1, barrier(0, 7), barrier(13, 14), barrier(22, 23)],
      ]),
    ).toEqual([11, 0]);
  });

  it("wait at most until their call ends, and for the first of those that enter together", () => {
    expect(
      waitsIn([
        [0, barrier(0, 2)],
        [1, barrier(7, 8)],
      ]),
    ).toEqual([2, 1]);
    expect(
      waitsIn([
        [0, barrier(3, 4)],
        [1, barrier(3, 4)],
      ]),
    ).toEqual([0, 0]);
  });

  it("are told no waiting where one makes more calls than another", () => {
    expect(
      waitsIn([
        [0, barrier(0, 5), barrier(6, 7)],
        [1, barrier(4, 9)],
      ]),
    ).toEqual([undefined, 0]);
  });

  it("wait in the order in which calls begin, of all their processes and where calls overlap", () => {
    // Rank 0 makes one call in each of its processes, the second process first.
    expect(
      waitsIn([
        [0, barrier(10, 14)],
        [0, barrier(0, 5)],
        [1, barrier(4, 5), barrier(13, 14)],
      ]),
    ).toEqual([7, 1]);
    // Of two threads, the call that begins first ends last.
    expect(
      waitsIn([
        [0, barrier(0, 20), barrier(10, 14, 2)],
        [1, barrier(4, 5), barrier(13, 14)],
      ]),
    ).toEqual([7, 1]);
  });

  it("communicate where a library, or the category of a range, says so", () => {
    const inDomain = (domain: string) => {
      const call = (start: number) => ({ name: "do", domain, start, end: 9 });
      return regionOf(
        callsOf([
          [0, call(0)],
          [1, call(5)],
        ]),
        "do",
      )?.ranks?.waiting_ms;
    };
    expect(["NCCL", "mpi", "nccl_tests", "mpi4py", "my mpi"].map(inDomain)).toEqual([
      5,
      5,
      undefined,
      undefined,
      undefined,
    ]);
    const inCategory = (domain: string, category: number) => {
      const call = (start: number) => ({ name: "do", domain, category, start, end: 9 });
      const timeline = callsOf([
        [0, call(0)],
        [1, call(5)],
      ]);
      const categoryNames = [
        { domain: "a", category: 1, name: "collective" },
        { domain: "a", category: 2, name: "solver" },
      ];
      const processes = timeline.processes.map((process) => ({ ...process, categoryNames }));
      return regionOf({ ...timeline, processes }, "do")?.ranks?.waiting_ms;
    };
    expect([inCategory("a", 1), inCategory("a", 2), inCategory("b", 1)]).toEqual([
      5,
      undefined,
      undefined,
    ]);
  });

  it("share families too, and take no time evenly", () => {
    const step = (number: number, start: number, end: number) => ({
      name: `step ${number}`,
      start,
      end,
    });
    const timeline = callsOf([
      [0, step(1, 0, 10), step(2, 10, 20)],
      [1, step(3, 0, 30), step(4, 30, 60)],
    ]);
    const [family] = aggregate(timeline)?.families ?? [];
    expect(family?.path).toEqual(["step #"]);
    expect(family?.ranks).toMatchObject({ wall_ms: [20, 60], slowest_rank: 1 });
    expect(
      aggregate(
        callsOf([
          [0, barrier(0, 1)],
          [1, barrier(0, 1)],
        ]),
      ),
    ).not.toHaveProperty("families");
    const nothing = { name: "nothing", start: 5, end: 5 };
    expect(
      regionOf(
        callsOf([
          [0, nothing],
          [1, nothing],
        ]),
        "nothing",
      )?.ranks,
    ).toMatchObject({
      max_ms: 0,
      imbalance: 1,
      load_balance: 1,
    });
  });

  it("are in the order of their numbers, whichever process comes first", () => {
    const scopes = buildRegionModel(
      callsOf([
        [1, barrier(0, 3)],
        [0, barrier(0, 2)],
      ]),
    ).scopes;
    expect(scopes.map(({ scope }) => scope)).toEqual(["aggregate", "rank:0", "rank:1"]);
    expect(scopes[0]?.ranks?.map(({ rank }) => rank)).toEqual([0, 1]);
    expect(scopes[0]?.regions[0]?.ranks?.wall_ms).toEqual([2, 3]);
  });

  it("of several machines are lined up by their clocks, and it is said", () => {
    const several = /^ranks of several machines are lined up by their clocks of the day/;
    const notesOf = (machines: readonly number[]) =>
      (
        aggregate(
          callsOf(
            [
              [0, barrier(0, 1)],
              [1, barrier(0, 1)],
            ],
            machines,
          ),
        )?.notes ?? []
      ).filter((note) => several.test(note));
    expect(notesOf([0, 1])).toHaveLength(1);
    expect(notesOf([1, 1])).toEqual([]);
    expect(notesOf([])).toEqual([]);
  });

  it.each(["ncclAllGather", "barrier", "halo exchange", "gradient all-reduce"])(
    "take %s for communication",
    (name) => {
      expect(regionOf(ranks([10, 60], name), name)?.ranks?.waiting_ms).toBe(50);
    },
  );

  it.each(["MPI_Send", "solve", "commit"])("do not wait in %s", (name) => {
    expect(regionOf(ranks([10, 60], name), name)?.ranks?.waiting_ms).toBeUndefined();
  });

  it("are told where some recorded nothing", () => {
    expect(aggregate(ranks([10, 60], "barrier", 4))?.notes).toContain(
      "of 4 ranks 2 recorded something; missing: 2, 3",
    );
    expect(aggregate(ranks([10, 60], "barrier", 12))?.notes).toContain(
      "of 12 ranks 2 recorded something; missing: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11",
    );
    expect(aggregate(ranks([10, 60], "barrier", 13))?.notes).toContain(
      "of 13 ranks 2 recorded something; missing: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ...",
    );
    expect(aggregate(ranks([10, 60]))?.notes.join()).not.toMatch(/missing/);
  });

  it("are none of a program of one rank", () => {
    const { scopes } = buildRegionModel(ranks([10]));
    expect(scopes.map(({ scope }) => scope)).toEqual(["aggregate", "process:100"]);
    expect(scopes[0]?.regions[0]?.ranks).toBeUndefined();
  });
});
