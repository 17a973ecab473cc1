import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { buildRegionModel } from "../../src/profiler/analysis/build.ts";
import { combineRuns } from "../../src/profiler/analysis/repeats.ts";
import { toReportBundle } from "../../src/profiler/analysis/to-report.ts";
import type {
  CollectorInfo,
  CounterStatistics,
  InvocationStatistics,
  KernelHardware,
  KernelRecord,
  KernelRepeats,
  MetricValue,
  NCUProfileRegion,
  NCUProfileRegionReport,
  PayloadStatistics,
  RankInfo,
  RegionGpuActivity,
  RegionRanks,
  RegionRepeats,
  RegionReportBundle,
  RegionSelection,
  RepeatStatistics,
  ReportEnvironment,
  ReportSelection,
  ReportTotals,
  RunTotals,
} from "../../src/report/index.ts";
import { CONTRACTS, contractFile, createReportValidator } from "../../src/report/index.ts";
import { readContract } from "../../src/report/validation/validate.ts";
import { timelineOf, twoLibraries } from "../profiler/analysis/timelines.ts";
import { assembleNcu } from "../profiler/tools/ncu/assemble/assemble-all.ts";
import { resultOf } from "../profiler/tools/ncu/results.ts";
import { bundleOf, context, resnet } from "./bundles.ts";

/** The keys of each type; the compiler refuses a missing or an extra one. */
type Keys<T> = Readonly<Record<keyof T, true>>;

/** Added by a minor version: documents of the versions before do not have them. */
const ADDED: Readonly<Record<string, readonly string[]>> = {
  NCUProfileRegion: [
    "path_domains",
    "family",
    "members",
    "cpu_ms",
    "cpu_exclusive_ms",
    "invocation_cpu_ms",
    "unclosed",
    "gpu_activity",
    "repeats",
    "ranks",
    "payloads",
    "counters",
  ],
  RegionRepeats: ["cpu_ms"],
  RegionRanks: ["waiting_ms"],
  PayloadStatistics: ["sum", "per_second"],
  RegionReportBundle: ["kernel_names"],
  NCUProfileRegionReport: [
    "families",
    "kernels_of",
    "ranks",
    "kernel_repeats",
    "selection",
    "failure",
  ],
  ReportSelection: [
    "ncu_include_expressions",
    "ncu_exclude_expressions",
    "kernel_include_patterns",
    "kernel_exclude_patterns",
    "kernel_name_base",
    "kernel_top_names",
  ],
  KernelRecord: ["hardware"],
  ReportTotals: ["cpu_ms", "run"],
  RunTotals: ["gpu_activity", "gpu_activity_in_ranges"],
  InvocationStatistics: ["first"],
  RegionSelection: [
    "kernel_include_patterns",
    "kernel_exclude_patterns",
    "kernel_name_base",
    "kernel_top_names",
  ],
};

const bundle: Keys<RegionReportBundle> = { contract: true, kernel_names: true, reports: true };
const report: Keys<NCUProfileRegionReport> = {
  scope: true,
  regions: true,
  kernels_of: true,
  families: true,
  totals: true,
  ranks: true,
  kernel_repeats: true,
  generated_at: true,
  config_fingerprint: true,
  collector: true,
  environment: true,
  selection: true,
  failure: true,
  notes: true,
};
const totals: Keys<ReportTotals> = {
  region_count: true,
  invocations: true,
  kernel_count: true,
  total_ms: true,
  outside_ms: true,
  outside_kernel_count: true,
  wall_ms: true,
  cpu_ms: true,
  run: true,
};
const region: Keys<NCUProfileRegion> = {
  name: true,
  path: true,
  parent: true,
  depth: true,
  domain: true,
  path_domains: true,
  family: true,
  members: true,
  kind: true,
  device: true,
  process_id: true,
  invocations: true,
  total_ms: true,
  exclusive_ms: true,
  wall_ms: true,
  wall_exclusive_ms: true,
  cpu_ms: true,
  cpu_exclusive_ms: true,
  invocation_cpu_ms: true,
  unclosed: true,
  invocation_wall_ms: true,
  kernel_count: true,
  gpu_activity: true,
  metrics: true,
  sections: true,
  kernels: true,
  repeats: true,
  ranks: true,
  payloads: true,
  counters: true,
  selection: true,
  notes: true,
};
const payload: Keys<PayloadStatistics> = {
  name: true,
  unit: true,
  count: true,
  sum: true,
  mean: true,
  min: true,
  max: true,
  per_second: true,
};
const counter: Keys<CounterStatistics> = {
  name: true,
  domain: true,
  unit: true,
  samples: true,
  min: true,
  mean: true,
  max: true,
};
const gpuActivity: Keys<RegionGpuActivity> = {
  busy_ms: true,
  kernel_ms: true,
  copy_ms: true,
  overlap_ms: true,
};
const statistics: Keys<InvocationStatistics> = {
  min: true,
  median: true,
  max: true,
  p95: true,
  first: true,
};
const run: Keys<RunTotals> = {
  wall_ms: true,
  process_ms: true,
  process_count: true,
  in_ranges_ms: true,
  before_ranges_ms: true,
  after_ranges_ms: true,
  gpu_activity: true,
  gpu_activity_in_ranges: true,
};
const rankInfo: Keys<RankInfo> = { rank: true, host: true, local_rank: true, process_ids: true };
const regionRanks: Keys<RegionRanks> = {
  wall_ms: true,
  min_ms: true,
  mean_ms: true,
  max_ms: true,
  imbalance: true,
  load_balance: true,
  slowest_rank: true,
  waiting_ms: true,
};
const repeats: Keys<RegionRepeats> = {
  runs: true,
  total_ms: true,
  wall_ms: true,
  cpu_ms: true,
};
const kernelRepeats: Keys<KernelRepeats> = {
  kernel_name: true,
  kind: true,
  runs: true,
  total_ms: true,
};
const repeatStatistics: Keys<RepeatStatistics> = {
  mean: true,
  std: true,
  ci95_low: true,
  ci95_high: true,
  stable: true,
};
const metric: Keys<MetricValue> = { value: true, unit: true };
const kernel: Keys<KernelRecord> = {
  kernel_name: true,
  kind: true,
  total_ms: true,
  calls: true,
  mean_ms: true,
  device: true,
  hardware: true,
};
const hardware: Keys<KernelHardware> = {
  sm_pct: true,
  memory_pct: true,
  limited_by: true,
  tensor_pct: true,
  occupancy_pct: true,
  occupancy_limit_pct: true,
  occupancy_limited_by: true,
};
const selection: Keys<RegionSelection> = {
  include_patterns: true,
  exclude_patterns: true,
  kernel_include_patterns: true,
  kernel_exclude_patterns: true,
  kernel_name_base: true,
  kernel_top_names: true,
};
const reportSelection: Keys<ReportSelection> = {
  ...selection,
  applies_to: true,
  ncu_include_expressions: true,
  ncu_exclude_expressions: true,
};
const collector: Keys<CollectorInfo> = {
  name: true,
  version: true,
  wall_clock: true,
  kernel_clock: true,
};
const environment: Keys<ReportEnvironment> = {
  hostname: true,
  os: true,
  cpu: true,
  gpus: true,
  command: true,
  device: true,
  hydraconf_version: true,
};

const types = {
  RegionReportBundle: bundle,
  NCUProfileRegionReport: report,
  ReportTotals: totals,
  RunTotals: run,
  NCUProfileRegion: region,
  RegionGpuActivity: gpuActivity,
  InvocationStatistics: statistics,
  RankInfo: rankInfo,
  RegionRanks: regionRanks,
  PayloadStatistics: payload,
  CounterStatistics: counter,
  RegionRepeats: repeats,
  KernelRepeats: kernelRepeats,
  RepeatStatistics: repeatStatistics,
  MetricValue: metric,
  KernelRecord: kernel,
  KernelHardware: hardware,
  RegionSelection: selection,
  ReportSelection: reportSelection,
  CollectorInfo: collector,
  ReportEnvironment: environment,
};

const kernelsOfNcu = (): readonly KernelRecord[] => {
  const metrics = { "sm__throughput.avg.pct_of_peak_sustained_elapsed": [5, "%"] } as const;
  const measured = { results: [resultOf({ ns: 1, metrics })], sections: new Map(), notes: [] };
  return assembleNcu(measured).scopes[0]?.regions[0]?.kernels ?? [];
};

describe("the region report contract", async () => {
  const contract = readContract();
  const { schemas } = contract.components;

  it("is a valid OpenAPI 3.1 document", async () => {
    const validator = new Validator();
    const result = await validator.validate(parse(readFileSync(contractFile(), "utf8")));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(validator.version).toBe("3.1");
  });

  it("has the objects of the TypeScript types, and no other", () => {
    const objects = Object.entries(schemas).filter(([, schema]) => schema.type === "object");
    expect(objects.map(([name]) => name).sort()).toEqual(Object.keys(types).sort());
  });

  it.each(Object.entries(types))(
    "%s has the keys of its type, required but for those added later",
    (name, keys) => {
      const schema = schemas[name];
      expect(Object.keys(schema?.properties ?? {}).sort()).toEqual(Object.keys(keys).sort());
      const required = Object.keys(keys).filter((key) => !(ADDED[name] ?? []).includes(key));
      expect([...(schema?.required ?? [])].sort()).toEqual(required.sort());
      expect(schema).toMatchObject({ additionalProperties: false });
    },
  );

  it("describes every object and every property", () => {
    for (const [name, schema] of Object.entries(schemas)) {
      expect(schema.description, name).toBeTruthy();
      for (const [key, property] of Object.entries(schema.properties ?? {})) {
        const target = schemas[property.$ref?.split("/").at(-1) ?? ""];
        expect(property.description ?? target?.description, `${name}.${key}`).toBeTruthy();
      }
    }
  });

  it("names the version that the types name", () => {
    expect(schemas["RegionReportBundle"]?.properties?.["contract"]).toMatchObject({
      enum: CONTRACTS,
    });
  });

  it("accepts its own example and what the builder makes", async () => {
    const validator = createReportValidator();
    const examples = schemas["RegionReportBundle"] as { examples?: unknown[] };
    expect(examples.examples).toHaveLength(1);
    expect(validator.validate(examples.examples?.[0])).toEqual([]);
    expect(validator.validate(bundleOf([resnet]))).toEqual([]);
  });

  it("has its objects' keys in the order in which they are written", () => {
    const run = {
      ...twoLibraries,
      ranges: (twoLibraries.ranges ?? []).map((range) => ({ ...range, cpu: 1 })),
    };
    const repeated = combineRuns([run, run].map((one) => buildRegionModel(timelineOf([one]))));
    const written = toReportBundle(repeated.model, {
      ...context,
      failure: "sh ended with exit code 1",
    });
    const [first] = written.reports;
    const load = first?.regions[1];
    const order = (name: string) => Object.keys(schemas[name]?.properties ?? {});
    // Only of parallel programs, of labels with numbers, and in files that are large.
    const ofOne = (name: string) =>
      order(name).filter(
        (key) => !["ranks", "kernels_of", "kernel_names", "families"].includes(key),
      );
    expect(Object.keys(written)).toEqual(ofOne("RegionReportBundle"));
    expect(Object.keys(first ?? {})).toEqual(ofOne("NCUProfileRegionReport"));
    expect(Object.keys(first?.totals ?? {})).toEqual(order("ReportTotals"));
    const [kernel] = kernelsOfNcu();
    expect(Object.keys(kernel ?? {})).toEqual(order("KernelRecord"));
    expect(Object.keys(kernel?.hardware ?? {})).toEqual(order("KernelHardware"));
    // Only of regions that are not closed.
    const closed = ofOne("NCUProfileRegion").filter(
      // Nor do the program's ranges carry numbers of their own, or have any in their labels.
      (key) => !["unclosed", "payloads", "counters", "family", "members"].includes(key),
    );
    expect(Object.keys(load ?? {})).toEqual(closed);
    const unmeasured = order("KernelRecord").filter((key) => key !== "hardware");
    expect(Object.keys(load?.kernels[0] ?? {})).toEqual(unmeasured);
  });
});
