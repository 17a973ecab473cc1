/** Report bundles for tests, made by the real builder from small timelines. */
import fc from "fast-check";
import { buildRegionModel } from "../../src/profiler/analysis/build.ts";
import { toReportBundle } from "../../src/profiler/analysis/to-report.ts";
import type {
  KernelRecord,
  KernelRepeats,
  NCUProfileRegion,
  NCUProfileRegionReport,
  RegionReportBundle,
} from "../../src/report/model/document.ts";
import { kernelsOfReport } from "../../src/report/view/kernel-list.ts";
import { type ProcessSketch, timelineOf } from "../profiler/analysis/timelines.ts";

export const context = {
  generatedAt: "2026-01-31T12:00:00.000Z",
  configFingerprint: `sha256:${"0".repeat(64)}`,
  collectorVersion: "0.1.0",
  environment: {
    hostname: "host",
    os: "Linux 6.1.0",
    cpu: "Example CPU",
    gpus: [],
    command: ["build/Release/shallow_resnet", "--device", "cpu", "--label", "a|b `c` d's"],
    device: "cpu",
    hydraconf_version: "0.1.0",
  },
} as const;

export const bundleOf = (
  processes: readonly ProcessSketch[],
  options: Parameters<typeof buildRegionModel>[1] = {},
): RegionReportBundle =>
  withoutRun(toReportBundle(buildRegionModel(timelineOf(processes), options), context));

/**
 * As where only ranges and kernels were measured, and not the run around them: its regions and numbers are those of a
 * sketch alone. What reports say of runs is tested with the answer.
 */
export const withoutRun = ({ contract, reports }: RegionReportBundle): RegionReportBundle => ({
  contract,
  reports: reports.map(({ totals: { run: _, ...totals }, regions, families, ...report }) => ({
    ...report,
    totals,
    regions: regions.flatMap((region): readonly NCUProfileRegion[] => {
      if (region.kind !== "outside") return [region];
      const { gpu_activity: _, ...outside } = region;
      return region.kernel_count === 0 && Object.keys(region.metrics).length === 0
        ? []
        : [{ ...outside, wall_ms: null, wall_exclusive_ms: null }];
    }),
    ...(families && { families }),
  })),
});

const OPS = "shallow_resnet.ops";
const MS = 1_000_000;

/** Two forward passes of a small network, as the built-in workload annotates them. */
export const resnet: ProcessSketch = {
  pid: 4711,
  ranges: [0, 1].flatMap((pass) => {
    const at = pass * 20 * MS;
    return [
      { name: "forward", start: at, end: at + 18 * MS },
      { name: "stem", start: at + MS, end: at + 4 * MS },
      { name: "conv2d 4x3x64x64", start: at + MS, end: at + 3 * MS + pass, domain: OPS },
      { name: "residual", start: at + 5 * MS, end: at + 15 * MS },
      { name: "block.conv1", start: at + 6 * MS, end: at + 9 * MS },
      { name: "conv2d 4x16x64x64", start: at + 6 * MS, end: at + 8 * MS, domain: OPS },
      { name: "block.conv2", start: at + 10 * MS, end: at + 14 * MS },
      { name: "conv2d 4x16x64x64", start: at + 10 * MS, end: at + 13 * MS, domain: OPS },
      { name: "linear 16x10", start: at + 16 * MS, end: at + 17 * MS, domain: OPS },
    ];
  }),
};

/** Names that try to become markup, terminal control, paths or other lines. */
export const hostileNames = [
  "<script>alert(1)</script>",
  "a | b",
  "`code` ```",
  "line\nbreak\r\n# heading",
  "\u001b[31mred\u001b[0m\u0007",
  "\u202eright to left",
  "[link](javascript:alert(1)) ![image](http://x/y.png)",
  "@everyone www.example.com https://example.com",
  "*bold* _it_ ~~no~~ \\| # 1. - +",
  "&lt;b&gt; <!-- -->",
  "",
  "   ",
  "..",
  "../../etc/passwd",
  "a/b\\c",
  "x".repeat(10_000),
  "漢字かな",
  "👩‍👩‍👧 family",
  "\ud800 lone surrogate",
  "\u0000nul",
];

export const anyName: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...hostileNames),
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.string({ unit: "grapheme", maxLength: 300 }),
);

export const firstReport = (bundle: RegionReportBundle): NCUProfileRegionReport => {
  const [report] = bundle.reports;
  if (report === undefined) throw new Error("no report");
  return report;
};

export const regionNamed = (bundle: RegionReportBundle, name: string): NCUProfileRegion => {
  const region = firstReport(bundle).regions.find((candidate) => candidate.name === name);
  if (region === undefined) throw new Error(`no region ${name}`);
  return region;
};

/** Regions in ten branches, each with its own kernels of different length. */
export function largeBundle(regions: number, kernelsPerRegion: number): RegionReportBundle {
  const small = bundleOf([resnet]);
  const report = firstReport(small);
  const [sample] = report.regions;
  if (sample === undefined) throw new Error("no region");
  const branch = (index: number) => `branch ${index % 10}`;
  const entry = (path: readonly string[], index: number): NCUProfileRegion => ({
    ...sample,
    name: path.at(-1) ?? "",
    path,
    parent: path.at(-2) ?? null,
    depth: path.length - 1,
    device: "cuda:0",
    total_ms: 10 + index,
    exclusive_ms: path.length === 1 ? 0 : 10 + index,
    wall_ms: 20 + index,
    kernel_count: kernelsPerRegion,
    kernels: Array.from({ length: kernelsPerRegion }, (_, kernel) => ({
      kernel_name: `void gemm_kernel<float, ${kernel % 400}, 128>(Params<${index % 50}>)`,
      kind: "gpu_kernel" as const,
      total_ms: (10 + index) / (kernel + 1),
      calls: 3,
      mean_ms: (10 + index) / (kernel + 1) / 3,
      device: "cuda:0",
    })),
  });
  const all = Array.from({ length: 10 }, (_, root) => [
    entry([branch(root)], root),
    ...Array.from({ length: Math.floor(regions / 10) - 1 }, (_, step) =>
      entry([branch(root), `step ${step}`], root + step * 10),
    ),
  ]).flat();
  const totals = { ...report.totals, total_ms: 1e6, kernel_count: regions * kernelsPerRegion };
  return { ...small, reports: [{ ...report, regions: all, totals }] };
}

/**
 * The report as of repeated runs whose mean it is.
 *
 * @param half half of the 95 % interval of each time, as a share of it
 */
export function repeated(
  report: NCUProfileRegionReport,
  half = 0.001,
  runs = 5,
): NCUProfileRegionReport {
  const of = (ms: number | null | undefined) =>
    ms == null
      ? null
      : { mean: ms, std: 0, ci95_low: ms * (1 - half), ci95_high: ms * (1 + half), stable: true };
  const ofKernels = (kernels: readonly KernelRecord[]): readonly KernelRepeats[] =>
    kernels.flatMap(({ kernel_name, kind, total_ms }) => {
      const time = of(total_ms);
      return time === null ? [] : [{ kernel_name, kind, runs, total_ms: time }];
    });
  const withRepeats = (region: NCUProfileRegion): NCUProfileRegion => ({
    ...region,
    repeats: {
      runs,
      total_runs: runs,
      wall_ms: of(region.wall_ms),
      wall_exclusive_ms: of(region.wall_exclusive_ms),
      total_ms: of(region.total_ms),
      exclusive_ms: of(region.exclusive_ms),
      ...(region.cpu_ms != null && {
        cpu_ms: of(region.cpu_ms),
        cpu_exclusive_ms: of(region.cpu_exclusive_ms),
      }),
      ...(region.kernels.length > 0 && { kernels: ofKernels(region.kernels) }),
    },
  });
  return {
    ...report,
    regions: report.regions.map(withRepeats),
    ...(report.families && { families: report.families.map(withRepeats) }),
    kernel_repeats: ofKernels(kernelsOfReport(report).longest()),
  };
}

/** The report of one region that was called as often as there are lengths, in ms. */
export const reportOfCalls = (lengths: readonly number[]): NCUProfileRegionReport =>
  firstReport(
    bundleOf([
      {
        pid: 1,
        ranges: lengths.map((ms, at) => ({
          name: "step",
          start: at * 1e9,
          end: at * 1e9 + ms * 1e6,
        })),
      },
    ]),
  );
