/** What is read from the real exports agrees with what the real `nsys stats` printed of them. */
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { execaSync } from "execa";
import { describe, expect, it } from "vitest";
import { getOrCreate, once } from "../../../../src/foundation/system/get-or-create.ts";
import { buildRegionModel } from "../../../../src/profiler/analysis/build.ts";
import type {
  KernelInstance,
  ProcessTimeline,
  RangeInstance,
} from "../../../../src/profiler/model/timeline.ts";
import { readNsysExport } from "../../../../src/profiler/tools/nsys/read/read-export.ts";
import { nsightEnvironment, nsightOrSkip } from "../../../nsight.ts";
import { isOwnSample, ownSample, samplesOrSkip } from "../../../shared.ts";
import { parseStats, temporary } from "./exports.ts";

const sample = samplesOrSkip("public nsys exports against the CSVs of nsys stats");
const nsys = nsightOrSkip("nsys", "all numbers of nsys stats");

/** The kept CSVs of the H100 end after 39 rows; the tool itself prints all of them. */
const RECORDINGS = [
  { name: "2023.4", file: "nsys-real-nvtx+synthetic-cuda-2023.4.sqlite", stats: "nsys-stats" },
  { name: "H100", file: "pub-nsysai-h100-2gpu-2026.2-schema3.25.sqlite", stats: "nsys-stats-h100" },
  { name: "H100, all", file: "pub-nsysai-h100-2gpu-2026.2-schema3.25.sqlite", stats: null },
].filter(
  ({ file, stats }) => (stats !== null || nsys !== null) && (sample !== null || isOwnSample(file)),
);

const labelOf = ({ domain, name }: Pick<RangeInstance, "domain" | "name">) =>
  domain === "" ? name : `${domain}:${name}`;

/** Adds up by key. */
function sums(entries: Iterable<readonly [string, { calls: number; ns: number }]>) {
  const found = new Map<string, { calls: number; ns: number }>();
  for (const [key, { calls, ns }] of entries) {
    const sum = found.get(key) ?? { calls: 0, ns: 0 };
    found.set(key, { calls: sum.calls + calls, ns: sum.ns + ns });
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What the installed nsys prints; of a copy, since it writes beside what it reads. */
function printStats(file: string, report: string): string {
  const copy = join(temporary(), "run.sqlite");
  copyFileSync(file, copy);
  const { stdout } = execaSync(
    nsys ?? "",
    ["stats", "--report", report, "--format", "csv", "--output", "-", copy],
    { env: nsightEnvironment() },
  );
  return stdout.slice(stdout.search(/^(Time|NVTX Range|Range)[ ,]/m));
}

const isKernel = ({ kind }: KernelInstance) => kind === undefined || kind === "kernel";

/** Kernels are made when they are asked for: here once, and not for each range. */
const kernelsOf = new WeakMap<ProcessTimeline, readonly KernelInstance[]>();

/** The GPU activities that a push/pop range contains by nsys's rule: launched on its thread in it. */
const launchedIn = (timeline: ProcessTimeline, range: RangeInstance) =>
  getOrCreate(kernelsOf, timeline, () => [...timeline.kernels]).filter(
    ({ launchThreadId, launchNs }) =>
      launchThreadId === range.threadId &&
      range.startNs <= launchNs &&
      launchNs <= (range.endNs ?? Number.POSITIVE_INFINITY),
  );

describe.each(RECORDINGS)("the export $name", ({ file, stats }) => {
  const pathOf = sample ?? ownSample;
  const read = once(() => readNsysExport(pathOf(file)));
  const csv = (report: string) =>
    parseStats(
      stats === null
        ? printStats(pathOf(file), report)
        : readFileSync(pathOf(`${stats}-${report}.csv`), "utf8"),
    );
  const isCut = stats === "nsys-stats-h100";
  /** All that we have where all was printed, else what was printed of it. */
  const comparable = <T>(ours: ReadonlyMap<string, T>, printed: ReadonlyMap<string, T>) =>
    new Map([...ours].filter(([key]) => !isCut || printed.has(key)));

  it("has the kernels of cuda_gpu_kern_sum", () => {
    const printed = csv("cuda_gpu_kern_sum").map(
      (row) =>
        [
          row["Name"] ?? "",
          { calls: Number(row["Instances"]), ns: Number(row["Total Time (ns)"]) },
        ] as const,
    );
    expect(printed.length).toBeGreaterThan(2);
    const ours = read().processes.flatMap(({ kernels }) =>
      [...kernels]
        .filter(isKernel)
        .map(({ name, startNs, endNs }) => [name, { calls: 1, ns: endNs - startNs }] as const),
    );
    expect(comparable(sums(ours), sums(printed))).toEqual(sums(printed));
  });

  it("has the projections of nvtx_gpu_proj_sum", () => {
    const printed = csv("nvtx_gpu_proj_sum").filter(({ Style }) => Style === "PushPop");
    expect(printed.length).toBeGreaterThan(3);
    const names = new Set(printed.map(({ Range }) => Range));
    const { processes } = read();
    const ours = new Map<string, { ops: number; ns: number; wall: number }>();
    for (const process of processes)
      for (const range of process.ranges) {
        if (range.kind !== "push_pop" || !names.has(labelOf(range))) continue;
        const inside = launchedIn(process, range);
        if (inside.length === 0) continue;
        const start = Math.min(...inside.map(({ startNs }) => startNs));
        const end = Math.max(...inside.map(({ endNs }) => endNs));
        const sum = ours.get(labelOf(range)) ?? { ops: 0, ns: 0, wall: 0 };
        ours.set(labelOf(range), {
          ops: sum.ops + inside.length,
          ns: sum.ns + end - start,
          wall: sum.wall + (range.endNs ?? 0) - range.startNs,
        });
      }
    for (const row of printed)
      expect([row["Range"], ours.get(row["Range"] ?? "")]).toEqual([
        row["Range"],
        {
          ops: Number(row["Total GPU Ops"]),
          ns: Number(row["Total Proj Time (ns)"]),
          wall: Number(row["Total Range Time (ns)"]),
        },
      ]);
  });

  it("gives push/pop regions the kernels of nvtx_kern_sum, inclusively", () => {
    const { scopes } = buildRegionModel(read(), { aggregate: true, labels: { fold: null } });
    const ours = sums(
      (scopes[0]?.regions ?? [])
        .filter(({ kind }) => kind === "push_pop")
        .flatMap(({ path, domain, kernels }) =>
          kernels
            .map(({ kernel_name, calls, total_ms }) => ({
              name: kernel_name,
              calls,
              ns: Math.round((total_ms ?? 0) * 1e6),
            }))
            .filter(({ name }) => !name.startsWith("[CUDA"))
            .map(
              ({ name, calls, ns }) =>
                [
                  `${labelOf({ domain, name: path.at(-1) ?? "" })} | ${name}`,
                  { calls, ns },
                ] as const,
            ),
        ),
    );
    const printed = csv("nvtx_kern_sum")
      .filter(({ Style }) => Style === "PushPop")
      .map(
        (row) =>
          [
            `${row["NVTX Range"]} | ${row["Kernel Name"]}`,
            { calls: Number(row["Kern Inst"]), ns: Number(row["Total Time (ns)"]) },
          ] as const,
      );
    expect(printed.length).toBeGreaterThan(5);
    expect(comparable(ours, sums(printed))).toEqual(sums(printed));
  });

  it("counts kernels outside of every range, with and without a known launch, as (outside)", () => {
    const outside = csv("nvtx_kern_sum").filter((row) => row["NVTX Range"] === "");
    const printed = outside.reduce((sum, row) => sum + Number(row["Kern Inst"]), 0);
    const [whole] = buildRegionModel(read(), { labels: { fold: null } }).scopes;
    const bucket = whole?.regions.find(({ kind }) => kind === "outside");
    const kernels =
      bucket?.kernels.filter((kernel) => !kernel.kernel_name.startsWith("[CUDA")) ?? [];
    expect(kernels.reduce((sum, { calls }) => sum + calls, 0)).toBe(printed);
    expect(printed).toBeGreaterThan(0);
  });
});

describe("where we differ from nsys by design", () => {
  const read = () => readNsysExport(ownSample("nsys-real-nvtx+synthetic-cuda-2023.4.sqlite"));

  it("a start/end range contains what any thread of its process launches, not its own only", () => {
    const [whole] = buildRegionModel(read(), { labels: { fold: null } }).scopes;
    const numbers = (name: string) => {
      const found = whole?.regions.find(({ path }) => path.length === 1 && path[0] === name);
      return found?.kernels.map(({ kernel_name: kernel, calls, total_ms }) => ({
        kernel,
        calls,
        ns: Math.round((total_ms ?? 0) * 1e6),
      }));
    };
    // nvtx_kern_sum gives the first no kernel: another thread launched it.
    expect(numbers('start/end "q", comma')).toEqual([
      { kernel: "relu(float*)", calls: 1, ns: 6100 },
    ]);
    expect(numbers("dom se")).toEqual([{ kernel: "relu(float*)", calls: 1, ns: 500 }]);
  });

  it("so that a range of another thread inside it is nested in it", () => {
    const [whole] = buildRegionModel(read(), { labels: { fold: null } }).scopes;
    const paths = whole?.regions.map(({ path }) => path.join(" > "));
    expect(paths).toContain('start/end "q", comma > thread range');
  });
});
