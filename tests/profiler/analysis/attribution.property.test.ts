import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import type { RegionModelEntry, ScopeModel } from "../../../src/profiler/analysis/region-model.ts";
import { runs } from "../../runs.ts";
import { didSomething } from "./models.ts";
import { oracleRegions } from "./oracle.ts";
import {
  anyKernels,
  anyNumbers,
  anyRanges,
  type ProcessSketch,
  processOf,
  timelineOf,
  wellNested,
} from "./timelines.ts";

type Placed = Pick<RegionModelEntry, "path" | "domain" | "path_domains" | "kind">;
const domainsOf = ({ path, domain, path_domains }: Placed) =>
  path_domains ?? path.map(() => domain);
const keyOf = (region: Placed) => JSON.stringify([region.path, domainsOf(region), region.kind]);

function scopeOf(model: { readonly scopes: readonly ScopeModel[] }, scope: string): ScopeModel {
  const found = model.scopes.find((candidate) => candidate.scope === scope);
  if (found === undefined) throw new Error(`no scope ${scope}`);
  return found;
}

const sum = (numbers: readonly (number | null)[]) =>
  numbers.reduce<number>((total, value) => total + (value ?? 0), 0);

/** What is known of regions whatever was measured of their ranges. */
const summary = (pieces: readonly RegionModelEntry[]) => {
  const total = (read: (piece: RegionModelEntry) => number | null | undefined) =>
    sum(pieces.map((piece) => read(piece) ?? 0));
  const payloads = pieces.flatMap((piece) => piece.payloads ?? []);
  return {
    invocations: total(({ invocations }) => invocations),
    wallNs: total(({ wallNs }) => wallNs),
    exclusiveWallNs: total(({ exclusiveWallNs }) => exclusiveWallNs),
    kernelNs: total(({ kernelNs }) => kernelNs),
    exclusiveKernelNs: total(({ exclusiveKernelNs }) => exclusiveKernelNs),
    kernelCount: total(({ kernelCount }) => kernelCount),
    unclosed: total(({ unclosed }) => unclosed),
    calls: {
      min: Math.min(...pieces.flatMap(({ invocationWallNs }) => invocationWallNs?.min ?? [])),
      max: Math.max(...pieces.flatMap(({ invocationWallNs }) => invocationWallNs?.max ?? [])),
    },
    gpu: [
      total(({ gpuUse }) => gpuUse?.busyNs),
      total(({ gpuUse }) => gpuUse?.kernelNs),
      total(({ gpuUse }) => gpuUse?.copyNs),
    ],
    categories: [...new Set(pieces.flatMap(({ categories = [] }) => categories))].sort(),
    payload: {
      count: sum(payloads.map(({ count }) => count)),
      sum: sum(payloads.map((payload) => payload.sum ?? 0)),
      min: Math.min(...payloads.map(({ min }) => min)),
      max: Math.max(...payloads.map(({ max }) => max)),
    },
    activities: (["memcpy", "memset", "synchronization"] as const).map((kind) => [
      total(({ activities }) => activities?.get(kind)?.calls),
      total(({ activities }) => activities?.get(kind)?.ns),
      total(({ activities }) => activities?.get(kind)?.bytes),
      total(({ activities }) => activities?.get(kind)?.pageableNs),
      total(({ activities }) => activities?.get(kind)?.knownNs),
    ]),
  };
};

describe("attribution", () => {
  it("equals its definition on traces that overlap in every way", () => {
    fc.assert(
      fc.property(anyRanges, anyKernels, (ranges, kernels) => {
        const process = { ranges, kernels };
        const scope = scopeOf(buildRegionModel(timelineOf([process])), "process:100");
        const got = new Map(
          scope.regions.filter(didSomething).map((region) => [
            keyOf(region),
            {
              path: region.path,
              domains: domainsOf(region),
              kind: region.kind,
              invocations: region.invocations,
              kernelNs: region.kernelNs ?? 0,
              exclusiveKernelNs: region.exclusiveKernelNs ?? 0,
              kernelCount: region.kernelCount,
              wallNs: region.kind === "outside" ? 0 : (region.wallNs ?? 0),
              exclusiveWallNs: region.kind === "outside" ? 0 : (region.exclusiveWallNs ?? 0),
            },
          ]),
        );
        expect(got).toEqual(oracleRegions(processOf(process)));
      }),
      { numRuns: runs(1000) },
    );
  });

  it("gives each kernel exactly one exclusive owner", () => {
    fc.assert(
      fc.property(anyRanges, anyKernels, (ranges, kernels) => {
        for (const { regions, totals, scope } of buildRegionModel(timelineOf([{ ranges, kernels }]))
          .scopes) {
          expect(sum(regions.map(({ exclusiveKernelNs }) => exclusiveKernelNs))).toBe(
            totals.kernelNs ?? 0,
          );
          if (scope !== "aggregate") continue;
          expect(totals.kernelCount).toBe(kernels.length);
          expect(totals.kernelNs ?? 0).toBe(sum(kernels.map(({ ns }) => ns)));
        }
      }),
    );
  });

  it("splits the aggregate over processes and over devices without loss", () => {
    fc.assert(
      fc.property(anyRanges, anyKernels, anyRanges, anyKernels, (r1, k1, r2, k2) => {
        const { scopes } = buildRegionModel(
          timelineOf([
            { pid: 1, ranges: r1, kernels: k1 },
            { pid: 2, ranges: r2, kernels: k2 },
          ]),
        );
        const aggregate = scopeOf({ scopes }, "aggregate");
        const processes = scopes.filter(({ scope }) => scope.startsWith("process:"));
        const devices = scopes.filter(({ scope }) => scope.startsWith("device:"));
        for (const parts of [processes, devices]) {
          expect(sum(parts.map(({ totals }) => totals.kernelNs))).toBe(
            aggregate.totals.kernelNs ?? 0,
          );
          for (const region of aggregate.regions) {
            const pieces = parts.flatMap(({ regions }) =>
              regions.filter((part) => keyOf(part) === keyOf(region)),
            );
            expect(sum(pieces.map(({ kernelNs }) => kernelNs))).toBe(region.kernelNs ?? 0);
            if (parts === processes)
              expect(sum(pieces.map(({ invocations }) => invocations))).toBe(region.invocations);
          }
        }
      }),
    );
  });

  it("gives regions of several processes the sums of what is known of each", () => {
    const process = fc.tuple(anyRanges, anyKernels, anyKernels, fc.infiniteStream(anyNumbers)).map(
      ([ranges, kernels, copies, numbers]): ProcessSketch => ({
        ranges: ranges.map((range) => ({ ...range, ...numbers.next().value })),
        kernels: [
          ...kernels,
          ...copies.map((one, at) => ({
            ...one,
            kind: at % 2 === 0 ? ("memcpy" as const) : ("memset" as const),
            bytes: at,
            isPageable: at % 3 === 0,
          })),
        ],
        waits: copies.map(({ launch, ns }) => ({ call: launch, ns })),
        categoryNames: [1, 2].map((category) => ({ domain: "", category, name: `c${category}` })),
      }),
    );
    fc.assert(
      fc.property(fc.array(process, { minLength: 3, maxLength: 3 }), (processes) => {
        const { scopes } = buildRegionModel(
          timelineOf(processes.map((sketch, at) => ({ ...sketch, pid: at + 1 }))),
        );
        const parts = scopes.filter(({ scope }) => scope.startsWith("process:"));
        const aggregate = scopeOf({ scopes }, "aggregate");
        expect(aggregate.totals).toMatchObject({
          kernelCount: sum(parts.map(({ totals }) => totals.kernelCount)),
          outsideKernelCount: sum(parts.map(({ totals }) => totals.outsideKernelCount)),
        });
        expect(aggregate.totals.cpuNs ?? 0).toBe(sum(parts.map(({ totals }) => totals.cpuNs ?? 0)));
        for (const region of aggregate.regions.filter(({ kind }) => kind !== "outside")) {
          const pieces = parts.flatMap(({ regions }) =>
            regions.filter((part) => keyOf(part) === keyOf(region)),
          );
          const called = pieces.filter(({ invocations }) => invocations > 0);
          expect(summary([region])).toEqual(summary(pieces));
          expect(region.processId).toBe(pieces.length === 1 ? pieces[0]?.processId : null);
          const ofAll = <T>(read: (piece: RegionModelEntry) => T | undefined): readonly T[] => {
            const known = called.flatMap((piece) => read(piece) ?? []) as readonly T[];
            return known.length === called.length ? known : [];
          };
          const cpus = ofAll(({ cpu }) => cpu);
          expect(region.cpu === undefined).toBe(cpus.length === 0);
          expect(region.cpu?.ns ?? 0).toBe(sum(cpus.map(({ ns }) => ns)));
          expect(region.cpu?.exclusiveNs ?? 0).toBe(sum(cpus.map((cpu) => cpu.exclusiveNs)));
          expect(region.cpu?.invocationNs.max ?? 0).toBe(
            Math.max(0, ...cpus.map(({ invocationNs }) => invocationNs.max)),
          );
          const executed = ofAll(({ instructions }) => instructions);
          expect(region.instructions === undefined).toBe(executed.length === 0);
          expect(region.instructions?.count ?? 0).toBe(sum(executed.map(({ count }) => count)));
          expect(region.instructions?.exclusive ?? 0).toBe(
            sum(executed.map(({ exclusive }) => exclusive)),
          );
          const counted = pieces.every(({ counts }) => counts !== undefined)
            ? pieces.map(({ counts = [] }) => counts)
            : [];
          const which = [...Array(Math.min(...counted.map(({ length }) => length), 3)).keys()];
          expect(region.counts ?? []).toEqual(
            counted.length === 0 ? [] : which.map((at) => sum(counted.map((of) => of[at] ?? 0))),
          );
        }
      }),
      { numRuns: runs(50) },
    );
  });

  it("reconciles well-nested traces: exclusive times add up, parents contain their children", () => {
    fc.assert(
      fc.property(wellNested, (process) => {
        const { regions, totals } = scopeOf(buildRegionModel(timelineOf([process])), "process:100");
        const roots = regions.filter(({ path }) => path.length === 1);
        expect(sum(roots.map(({ kernelNs }) => kernelNs))).toBe(totals.kernelNs ?? 0);
        expect(sum(regions.map(({ exclusiveWallNs }) => exclusiveWallNs))).toBe(
          sum(roots.map(({ wallNs }) => wallNs)),
        );
        const byPath = new Map(regions.map((region) => [JSON.stringify(region.path), region]));
        for (const region of regions) {
          const parent = byPath.get(JSON.stringify(region.path.slice(0, -1)));
          if (region.path.length === 1) continue;
          expect(parent).toBeDefined();
          expect(parent?.wallNs).toBeGreaterThanOrEqual(region.wallNs ?? 0);
          expect(parent?.kernelNs ?? 0).toBeGreaterThanOrEqual(region.kernelNs ?? 0);
          expect(parent?.kernelCount).toBeGreaterThanOrEqual(region.kernelCount);
        }
      }),
    );
  });

  it("does not depend on how threads interleave", () => {
    fc.assert(
      fc.property(
        wellNested,
        fc.array(fc.nat(1_000_000), { minLength: 3, maxLength: 3 }),
        (process, shifts) => {
          // Threads that share no start/end range are independent: moving one in time changes nothing but what
          // the GPU did meanwhile, whoever launched it, and which
          // call was the first, and what no range covers.
          const shift = (thread: number | null | undefined) => shifts[(thread ?? 1) - 1] ?? 0;
          const shifted = {
            ranges: (process.ranges ?? []).map((range) => ({
              ...range,
              start: range.start + shift(range.thread),
              end: (range.end ?? 0) + shift(range.thread),
            })),
            kernels: (process.kernels ?? []).map((kernel) => ({
              ...kernel,
              launch: kernel.launch + shift(kernel.thread),
            })),
          };
          const numbers = (sketch: typeof process) => {
            const { regions } = scopeOf(buildRegionModel(timelineOf([sketch])), "process:100");
            return new Map(
              regions
                .filter(didSomething)
                .map(({ gpuUse: _, invocationWallNs: calls, ...region }) => [
                  keyOf(region),
                  {
                    ...region,
                    invocationWallNs: calls && { ...calls, first: 0 },
                    ...(region.kind === "outside" && { wallNs: 0, exclusiveWallNs: 0 }),
                  },
                ]),
            );
          };
          expect(numbers(shifted)).toEqual(numbers(process));
        },
      ),
    );
  });

  it("lists parents before children and every region once", () => {
    fc.assert(
      fc.property(anyRanges, (ranges) => {
        for (const scope of buildRegionModel(timelineOf([{ ranges }])).scopes) {
          const regions = scope.regions.filter(didSomething);
          const keys = regions.map(keyOf);
          expect(new Set(keys).size).toBe(keys.length);
          const placeOf = (region: Placed, depth: number) =>
            JSON.stringify([region.path.slice(0, depth), domainsOf(region).slice(0, depth)]);
          const places = regions.map((region) => placeOf(region, region.path.length));
          regions.forEach((region, index) => {
            const parent = places.indexOf(placeOf(region, region.path.length - 1));
            expect(parent).toBeLessThan(index);
          });
        }
      }),
    );
  });
});
