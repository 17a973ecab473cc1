/** The kernels of regions are the sums of their launches, by name and device, whatever was open at each. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createKernelNames } from "../../../src/profiler/analysis/kernel-names.ts";
import { byTime, createKernelRows } from "../../../src/profiler/analysis/kernel-rows.ts";
import {
  createKernelTallies,
  type KernelTallies,
  type KernelTally,
  ranOn,
  talliedTogether,
} from "../../../src/profiler/analysis/kernel-tallies.ts";
import {
  childNode,
  createPathTree,
  type RegionIdentity,
  regionAt,
} from "../../../src/profiler/analysis/path-tree.ts";
import type { DeviceName, KernelRecord } from "../../../src/report/model/document.ts";
import { runs } from "../../runs.ts";

const NS_PER_MS = 1e6;

interface Launch {
  readonly process: number;
  /** Places of regions that were open, outermost first; the last one is the owner. */
  readonly open: readonly number[];
  readonly name: string;
  /** Null for a CPU operation. */
  readonly device: number | null;
  readonly ns: number;
}

const REGIONS = 4;
const PROCESSES = 2;

/** What each of the processes tallied of its launches. */
function tallied(launches: readonly Launch[]) {
  const root = createPathTree();
  const regions = Array.from({ length: REGIONS }, (_, at) =>
    regionAt(childNode(root, `r${at}`, ""), "push_pop"),
  );
  const outside = regionAt(childNode(root, "(outside)", ""), "outside");
  const names = createKernelNames();
  const builders = Array.from({ length: PROCESSES }, () => createKernelTallies(names.numbered));
  const lists = new Map<string, readonly RegionIdentity[]>();
  for (const { process, open, name, device, ns } of launches) {
    const key = open.join();
    const list = lists.get(key) ?? open.flatMap((at) => regions[at] ?? []);
    lists.set(key, list);
    const owner = list.at(-1) ?? outside;
    const kernel = device === null ? names.operation(name) : names.kernel({ name, device });
    builders[process]?.add(list.length === 0 ? [outside] : list, owner, kernel, ns);
  }
  const tallies = builders.map((builder) => builder.finish());
  const partsOf = (region: RegionIdentity) =>
    tallies.flatMap((of: KernelTallies) => of.get(region) ?? []);
  return { rows: createKernelRows(names.numbered), regions, outside, tallies, partsOf };
}

const placeOf = (device: number | null): DeviceName => (device === null ? "cpu" : `cuda:${device}`);

/** By name and device, as the definition reads. */
function recordsOf(launches: readonly Launch[]): readonly KernelRecord[] {
  const sums = new Map<string, readonly [Launch, number, number]>();
  for (const launch of launches) {
    const key = JSON.stringify([launch.name, launch.device]);
    const [, calls, ns] = sums.get(key) ?? [launch, 0, 0];
    sums.set(key, [launch, calls + 1, ns + launch.ns]);
  }
  return [...sums.values()].map(([{ name, device }, calls, ns]) => ({
    kernel_name: name,
    kind: device === null ? "cpu_operation" : "gpu_kernel",
    total_ms: ns / NS_PER_MS,
    calls,
    mean_ms: ns / calls / NS_PER_MS,
    device: placeOf(device),
  }));
}

const inAnyOrder = (records: readonly KernelRecord[]) =>
  records.map((record) => JSON.stringify(record)).sort();
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

const anyLaunches: fc.Arbitrary<readonly Launch[]> = fc.array(
  fc.record({
    process: fc.nat(PROCESSES - 1),
    open: fc.constantFrom([], [0], [0, 1], [0, 1, 2], [1, 0], [3]),
    name: fc.constantFrom("a", "b", "B"),
    device: fc.constantFrom(0, 1, null),
    ns: fc.nat(5),
  }),
  { maxLength: 25 },
);

describe("kernels of regions", () => {
  it("are the sums of their launches in all scopes", () => {
    fc.assert(
      fc.property(anyLaunches, (launches) => {
        const { rows, regions, outside, tallies, partsOf } = tallied(launches);
        for (const [at, region] of [...regions.entries(), [-1, outside] as const]) {
          const isInside = ({ open }: Launch) =>
            region === outside ? open.length === 0 : open.includes(at);
          const scopes = [[partsOf(region), launches.filter(isInside)] as const];
          for (const [process, tally] of tallies.entries())
            scopes.push([
              [tally.get(region) ?? []].flat(),
              launches.filter((launch) => launch.process === process && isInside(launch)),
            ]);
          // Twice, since rows are remembered.
          for (const [parts, all] of scopes)
            for (const device of [null, "cuda:0", "cuda:1", "cpu", null]) {
              const here = all.filter(
                (launch) => device === null || placeOf(launch.device) === device,
              );
              const { records, calls, ns } = rows.rowsOf(parts, device);
              expect(inAnyOrder(records)).toEqual(inAnyOrder(recordsOf(here)));
              expect(records).toEqual(records.toSorted(byTime));
              expect([calls, ns]).toEqual([here.length, sum(here.map((launch) => launch.ns))]);
            }
        }
      }),
      { numRuns: runs(40) },
    );
  });

  it("count once for the region that contains them directly, by kind and device", () => {
    fc.assert(
      fc.property(anyLaunches, (launches) => {
        const { regions, tallies } = tallied(launches);
        for (const [process, tally] of tallies.entries())
          for (const [at, region] of regions.entries()) {
            const all = launches.filter((launch) => launch.process === process);
            const inside = all.filter(({ open }) => open.includes(at));
            const own = all.filter(({ open }) => open.at(-1) === at);
            const found = tally.get(region);
            expect(found === undefined).toBe(inside.length === 0);
            const devices = new Set(inside.map(({ device }) => placeOf(device)));
            expect(new Set(found?.devices)).toEqual(devices);
            expect(found?.devices ?? []).toHaveLength(devices.size);
            for (const device of ["cuda:0", "cuda:1", "cpu"] as const)
              expect(found !== undefined && ranOn(found, device)).toBe(devices.has(device));
            const exclusive = [...new Set(own.map(({ device }) => device))].map((device) => {
              const here = own.filter((launch) => launch.device === device);
              return {
                kind: device === null ? "cpu_operation" : "gpu_kernel",
                device: placeOf(device),
                calls: here.length,
                ns: sum(here.map((launch) => launch.ns)),
              };
            });
            expect(found?.exclusive ?? []).toHaveLength(exclusive.length);
            expect(found?.exclusive ?? []).toEqual(expect.arrayContaining(exclusive));
          }
      }),
    );
  });

  it("of several regions together count once that were launched in two of them", () => {
    fc.assert(
      fc.property(anyLaunches, (launches) => {
        const { rows, regions, tallies } = tallied(launches);
        const [of0, of1] = [0, 1].map((at) => regions[at]);
        for (const [process, tally] of tallies.entries()) {
          const both = [of0, of1].flatMap((region) =>
            region === undefined ? [] : (tally.get(region) ?? []),
          );
          const together = talliedTogether(both);
          const inside = launches.filter(
            ({ process: where, open }) =>
              where === process && (open.includes(0) || open.includes(1)),
          );
          const parts: readonly KernelTally[] = together === null ? [] : [together];
          expect(inAnyOrder(rows.rowsOf(parts, null).records)).toEqual(
            inAnyOrder(recordsOf(inside)),
          );
          const devices = new Set(inside.map(({ device }) => placeOf(device)));
          expect(new Set(together?.devices)).toEqual(devices);
          const own = inside.filter(({ open }) => [0, 1].includes(open.at(-1) ?? -1));
          expect(sum((together?.exclusive ?? []).map(({ calls }) => calls))).toBe(own.length);
          expect(sum((together?.exclusive ?? []).map(({ ns }) => ns))).toBe(
            sum(own.map(({ ns }) => ns)),
          );
        }
      }),
    );
    expect(talliedTogether([])).toBeNull();
  });

  it("are as many as there are, each with its own numbers", () => {
    const launches = Array.from({ length: 5000 }, (_, at) => ({
      process: at % 2,
      open: at < 2600 ? [0] : [0, 1],
      name: `k${at % 2500}`,
      device: 0,
      ns: 1 + (at % 2500),
    }));
    const { rows, regions, partsOf } = tallied(launches);
    for (const [at, region] of regions.entries()) {
      const inside = launches.filter(({ open }) => open.includes(at));
      const { records, calls } = rows.rowsOf(partsOf(region), null);
      expect(inAnyOrder(records)).toEqual(inAnyOrder(recordsOf(inside)));
      expect(calls).toBe(inside.length);
    }
  });
});

it("kernels stand in descending order of time, and in that of their names where it is the same", () => {
  const record = (kernel_name: string, total_ms: number | null): KernelRecord => ({
    ...{ kernel_name, total_ms, kind: "gpu_kernel", calls: 1, mean_ms: total_ms },
    device: "cuda:0",
  });
  const wanted = [
    record("z", 3),
    record("B", 2),
    record("a", 2),
    record("b", 2),
    record("ä", 2),
    record("late", 1),
    record("zero", 0),
    record("Unknown", null),
    record("unknown", null),
  ];
  expect(wanted.toReversed().sort(byTime)).toEqual(wanted);
  expect(byTime(record("a", 2), record("a", 2))).toBe(0);
  expect(byTime(record("b", 2), record("a", 2))).toBeGreaterThan(0);
});
