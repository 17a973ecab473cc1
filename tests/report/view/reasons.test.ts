/** Each reason where it holds and where it does not: on files of real tools where there are some, else on sketches. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import { toReportBundle } from "../../../src/profiler/analysis/to-report.ts";
import { readRecording, withProgram } from "../../../src/profiler/tools/recorder/read.ts";
import {
  CONTRACT,
  type NCUProfileRegion,
  type NCUProfileRegionReport,
  type RegionReportBundle,
  type RunTotals,
} from "../../../src/report/model/document.ts";
import { answerOf, factsOf } from "../../../src/report/view/answer.ts";
import { type Explained, REASON_RULES, reasonFor } from "../../../src/report/view/reasons.ts";
import { ranksTable } from "../../../src/report/view/report-tables.ts";
import {
  type KernelSketch,
  type ProcessSketch,
  timelineOf,
} from "../../profiler/analysis/timelines.ts";
import { samplesOrSkip } from "../../shared.ts";
import { context } from "../bundles.ts";
import { importReal } from "../snapshots/imported.ts";
import { RECORDINGS } from "../snapshots/neutral.ts";

const REPORTS_PAGE = join(import.meta.dirname, "../../../docs/reports.md");

const sample = samplesOrSkip("reasons in Nsight's files");
const samples = sample?.("") ?? "";

/** Of a folder that tests/fixtures/recordings/README.md describes. */
function recorded(folder: string, pid: number, start_ns: string, end_ns: string) {
  const timeline = withProgram(readRecording(join(RECORDINGS, folder)), {
    kind: "recording",
    directory: ".",
    program: { pid, start_ns, end_ns },
  });
  const operationDomains = ["shallow_resnet.ops"];
  return toReportBundle(buildRegionModel(timeline, { operationDomains }), context);
}
/** A program that sleeps 300 ms, then opens 20 steps, of which the first loads for 60 ms. */
const phases = () => recorded("phases", 6928, "3535846695456", "3536374422614");

const real = async (name: string, file: string, args: readonly string[] = []) => {
  const imported = await importReal(`reasons-${name}`, samples, [file], args);
  const collector = file.endsWith(".sqlite") ? "nsys" : "ncu";
  return JSON.parse(imported.text(`${collector}/regions/report.json`)) as RegionReportBundle;
};

const sketched = (process: ProcessSketch): RegionReportBundle =>
  toReportBundle(buildRegionModel(timelineOf([process])), context);

/** Times in microseconds; a kernel begins a microsecond after its launch. */
const launches = (count: number, everyUs: number, lengthUs: number) =>
  Array.from({ length: count }, (_, at) => ({
    name: "tiny",
    launch: at * everyUs * 1000,
    ns: lengthUs * 1000,
  }));
const step = (us: number) => ({ name: "step", start: 0, end: us * 1000 });

/** As Nsight Compute counted it: percent of the peaks of multiprocessors and of memory, in each region. */
const withCounters = (bundle: RegionReportBundle, sm: number, memory: number, dram?: number) =>
  withPeaks(bundle, {
    sm__throughput: sm,
    gpu__compute_memory_throughput: memory,
    ...(dram !== undefined && { gpu__dram_throughput: dram }),
  });

function withPeaks(
  bundle: RegionReportBundle,
  shares: Readonly<Record<string, number>>,
): RegionReportBundle {
  const metrics = Object.fromEntries(
    Object.entries(shares).map(([name, value]) => [
      `${name}.avg.pct_of_peak_sustained_elapsed`,
      { value, unit: "%" },
    ]),
  );
  const reports = bundle.reports.map((report) => ({
    ...report,
    collector: { ...report.collector, name: "ncu" },
    regions: report.regions.map((region) => ({ ...region, metrics })),
  }));
  return { ...bundle, reports };
}

/** Estimates of Nsight Compute's rules, in percent of kernel time, by the section that has the rule. */
function withEstimates(
  bundle: RegionReportBundle,
  estimates: Readonly<Record<string, number>>,
): RegionReportBundle {
  const sections = Object.fromEntries(
    Object.entries(estimates).map(([section, speedup]) => [
      section,
      {
        metrics: { "sm__throughput.avg.pct_of_peak_sustained_elapsed": { value: 1, unit: "%" } },
        messages: [
          { rule: "SomeRule", type: "OPT", text: `About ${section}.`, speedup, results: 1 },
        ],
      },
    ]),
  );
  const reports = bundle.reports.map((report) => ({
    ...report,
    regions: report.regions.map((region) => ({ ...region, sections })),
  }));
  return { ...bundle, reports };
}

const busy = () => sketched({ ranges: [step(1000)], kernels: launches(20, 40, 30) });

const withCommand = (
  bundle: RegionReportBundle,
  command: readonly string[],
): RegionReportBundle => ({
  ...bundle,
  reports: bundle.reports.map((report) => ({
    ...report,
    environment: { ...report.environment, command },
  })),
});

/** A step of a millisecond that is in one call for 0.7 ms; tests of the reader have whole exports. */
function calling(api: "cuda" | "os", name: string): RegionReportBundle {
  const bundle = sketched({ ranges: [step(1000)] });
  const host_calls = [{ api, name, calls: 7, total_ms: 0.7, min_ms: 0.1, max_ms: 0.1 }];
  const reports = bundle.reports.map((report) => ({
    ...report,
    regions: report.regions.map((region) => ({ ...region, host_calls })),
  }));
  return { ...bundle, reports };
}

/** Calls of these lengths in turn, in microseconds, of threads whose clocks were not read. */
const calledFor = (lengths: readonly number[]): ProcessSketch => ({
  ranges: Array.from({ length: 80 }, (_, at) => {
    const start = at * 300_000;
    return { name: "work", start, end: start + (lengths[at % lengths.length] ?? 0) * 1000 };
  }),
});

/** Ranges of a microsecond, with a microsecond between them. */
const tinyCalls = (count: number): ProcessSketch => ({
  ranges: Array.from({ length: count }, (_, at) => ({
    name: "add",
    start: at * 2000,
    end: at * 2000 + 1000,
    cpu: 1000,
  })),
});

interface Worker {
  readonly thread: number;
  /** Length of each call, in µs. */
  readonly calls: readonly number[];
  /** The part of a call in which it computes. */
  readonly computes?: number;
}

/** The main thread of a process, as the system numbers it. */
const MAIN = 7;

/** Threads that work side by side in `work`. */
const working = (workers: readonly Worker[], names = true): ProcessSketch => ({
  pid: MAIN,
  ranges: workers
    .flatMap(({ thread, calls, computes = 1 }) => {
      let at = 0;
      return calls.map((us) => {
        const start = at;
        at += us * 1000;
        return { name: "work", thread, start, end: at, cpu: us * 1000 * computes };
      });
    })
    .sort((a, b) => a.start - b.start),
  ...(names && { threadNames: new Map(workers.map(({ thread }) => [thread, `worker ${thread}`])) }),
});
const sameCalls = (count: number, us: number) => new Array<number>(count).fill(us);
const workers = (...lengths: readonly number[]): readonly Worker[] =>
  lengths.map((us, at) => ({ thread: 11 + at, calls: sameCalls(20, us) }));

const BUNDLES = {
  one_slow_thread: () => sketched(working(workers(100, 100, 230, 100))),
  even_threads: () => sketched(working(workers(100, 120, 130, 100))),
  phases: () => phases(),
  ranks: () => recorded("ranks", 6483, "2815078968513", "2815985050113"),
  one_rank: () => recorded("one-rank", 15401, "3454976544385", "3455493254887"),
  one_processor: () => recorded("one-processor", 13603, "4977454326257", "4977605848375"),
  mutex: () => recorded("causes/mutex", 26964, "25853214367998", "25855700798470"),
  condition: () => recorded("causes/condition", 29318, "26007559717031", "26008379775121"),
  fdatasync: () => recorded("causes/fdatasync", 3582, "26326945024525", "26327817347695"),
  fdatasync_busy: () =>
    recorded("causes/fdatasync-busy", 23611, "25727779591892", "25728637973623"),
  sleep: () => recorded("causes/sleep", 29681, "26019654460852", "26020476704693"),
  child_asleep: () => recorded("causes/child-asleep", 28863, "25989241472376", "25990104596557"),
  child_computing: () =>
    recorded("causes/child-computing", 29042, "25997977107116", "25998605838317"),
  page_faults: () => recorded("causes/page-faults", 21838, "25672186098582", "25672935408811"),
  system_calls: () => recorded("causes/system-calls", 28674, "25980754122252", "25981409008733"),
  join: () => recorded("causes/join", 25505, "25804764406409", "25805380615918"),
  message: () => recorded("causes/message", 25823, "25818722396011", "25819344533960"),
  pipe: () => recorded("causes/pipe", 29948, "26031669216590", "26032505375883"),
  outlier: () => recorded("causes/outlier", 26768, "25841815332405", "25842577473526"),
  first_request: () => recorded("causes/first-request", 30200, "26042464772881", "26043326575766"),
  busy_waiting: () => recorded("causes/busy-waiting", 30514, "26051655847279", "26052514288208"),
  python_alone: () =>
    withCommand(recorded("causes/python-alone", 32180, "26118348486697", "26119451093579"), [
      "python3",
      "train.py",
    ]),
  python: () =>
    withCommand(recorded("causes/python", 23152, "25711878114276", "25717093782177"), [
      "python3",
      "train.py",
    ]),
  allocating: () => calling("cuda", "cudaMalloc"),
  launching: () => calling("cuda", "cudaLaunchKernel"),
  locking: () => calling("os", "pthread_mutex_lock"),
  tiny_calls: () => sketched(tinyCalls(20_000)),
  slow_calls: () => sketched(calledFor([100, 100, 100, 230])),
  even_calls: () => sketched(calledFor([100, 100, 100, 130])),
  model: () => recorded("resnet-forward", 17197, "2988572000000", "2988600000000"),
  copies: () =>
    real("copies", "pub-nsysai-h100-2gpu-2026.2-schema3.25.sqlite", [
      "--labels",
      "pytorch",
      "--no-html",
    ]),
  ranges: () => real("ranges", "nsys-real-nvtx+synthetic-cuda-2023.4.sqlite"),
  memory: () => real("memory", "raw-1kernel-t4-base-units.csv"),
  several: () => real("several", "raw-multi-kernel-gtx1660-ncu2024.1.csv"),
  advice: () => real("advice", "r1.ncu-rep", ["--reader", "own"]),
  grid: () => real("grid", "gpm.ncu-rep", ["--reader", "own"]),
  tiny: () => real("tiny", "mojo.ncu-rep", ["--reader", "own"]),
  tiny_launches: () => sketched({ ranges: [step(1000)], kernels: launches(100, 10, 3) }),
  back_to_back: () => sketched({ ranges: [step(1010)], kernels: launches(100, 10, 9.5) }),
  computing: () => withCounters(busy(), 91, 20),
  at_peaks: () => withCounters(busy(), 91, 85),
  streaming: () => withPeaks(busy(), { dram__throughput: 88 }),
  in_caches: () => withCounters(busy(), 20, 91, 31),
  launch_estimate: () => withEstimates(busy(), { "Launch Statistics": 30, Occupancy: 40 }),
  occupancy_estimate: () =>
    withEstimates(busy(), {
      "Launch Statistics": 15,
      Occupancy: 20,
      "Memory Workload Analysis Tables": 40,
    }),
  memory_estimate: () =>
    withEstimates(withCounters(busy(), 20, 65, 62), {
      "Source Counters": 20,
      "Instruction Statistics": 30,
    }),
  compute_estimate: () =>
    withEstimates(withCounters(busy(), 70, 20), {
      "Compute Workload Analysis": 20,
      "Warp State Statistics": 30,
    }),
  warp_estimate: () => withEstimates(withCounters(busy(), 65, 62), { "Warp State Statistics": 30 }),
  small_estimates: () => withEstimates(busy(), { "Launch Statistics": 9, Occupancy: 9 }),
  gaps: () => sketched({ ranges: [step(10_000)], kernels: launches(5, 2000, 100) }),
  ending: () => sketched({ ranges: [step(1000)], endNs: 9_000_000 }),
  waits: () =>
    sketched({
      ranges: [step(1000)],
      kernels: [{ name: "k", launch: 2_000_000, ns: 10 }],
      waits: [{ call: 100_000, ns: 800_000 }],
    }),
} as const;
type Source = keyof typeof BUNDLES;
const OF_SAMPLES: readonly Source[] = [
  "copies",
  "ranges",
  "memory",
  "several",
  "advice",
  "grid",
  "tiny",
];

const loaded = new Map<Source, RegionReportBundle>();

beforeAll(async () => {
  for (const name of Object.keys(BUNDLES) as Source[])
    if (sample !== null || !OF_SAMPLES.includes(name)) loaded.set(name, await BUNDLES[name]());
}, 120_000);

const reasonOf = (source: Source, label: string, explained: Explained) => {
  const bundle = loaded.get(source);
  const report = bundle?.reports[0];
  if (report === undefined) throw new Error(`${source} is not there`);
  const place = report.regions.findIndex(({ path }) => path.join(" / ") === label);
  if (place < 0) throw new Error(`no region ${label} in ${source}`);
  return reasonFor(factsOf(report)(place), explained)?.rule ?? null;
};

const wallReason = (report: NCUProfileRegionReport, label: string) => {
  const place = report.regions.findIndex(({ path }) => path.join(" / ") === label);
  return reasonFor(factsOf(report)(place), "wall");
};

const OUTSIDE = "(outside)";
const ITEM = "aten::is_nonzero / aten::item / aten::_local_scalar_dense";

/** A rule, where it holds, and where it does not; those of sketches have no real file here. */
const CASES: readonly (readonly [
  rule: string,
  explained: Explained,
  holds: readonly [Source, string],
  not: readonly [Source, string],
])[] = [
  ["before_ranges", "wall", ["phases", OUTSIDE], ["copies", OUTSIDE]],
  ["after_ranges", "wall", ["ending", OUTSIDE], ["phases", OUTSIDE]],
  ["first_call", "wall", ["phases", "step / load"], ["phases", "step / compute"]],
  ["outlier_call", "wall", ["outlier", "step"], ["phases", "step / load"]],
  ["copies", "wall", ["copies", ITEM], ["ranges", "A"]],
  ["launch_rule", "gpu", ["grid", OUTSIDE], ["advice", OUTSIDE]],
  ["launch_rule", "gpu", ["launch_estimate", "step"], ["occupancy_estimate", "step"]],
  ["occupancy_rule", "gpu", ["occupancy_estimate", "step"], ["small_estimates", "step"]],
  ["memory_rule", "gpu", ["memory_estimate", "step"], ["occupancy_estimate", "step"]],
  ["compute_rule", "gpu", ["compute_estimate", "step"], ["memory_estimate", "step"]],
  // What is at 88 % of the memory's peak is limited by it, whatever its warps stall for.
  ["ncu_rule", "gpu", ["warp_estimate", "step"], ["advice", OUTSIDE]],
  ["memory_bandwidth", "gpu", ["streaming", "step"], ["in_caches", "step"]],
  ["memory_bandwidth", "gpu", ["memory", OUTSIDE], ["at_peaks", "step"]],
  ["memory_bound", "gpu", ["in_caches", "step"], ["tiny", OUTSIDE]],
  ["compute_bound", "gpu", ["computing", "step"], ["at_peaks", "step"]],
  ["near_both_peaks", "gpu", ["at_peaks", "step"], ["computing", "step"]],
  ["latency", "gpu", ["tiny", OUTSIDE], ["memory", OUTSIDE]],
  ["launch_bound", "wall", ["tiny_launches", "step"], ["back_to_back", "step"]],
  ["kernels", "wall", ["back_to_back", "step"], ["tiny_launches", "step"]],
  ["idle_between_kernels", "wall", ["ranges", "A"], ["copies", ITEM]],
  ["waits_for_gpu", "wall", ["waits", "step"], ["ranges", "A"]],
  ["one_kernel", "gpu", ["ranges", "A"], ["memory", OUTSIDE]],
  ["no_gpu_work", "wall", ["ranges", "never popped"], ["ranges", "A"]],
  ["slow_rank", "wall", ["ranks", "step / MPI_Allreduce"], ["one_rank", "step / MPI_Allreduce"]],
  ["uneven_ranks", "wall", ["ranks", "step / compute"], ["ranks", "step / MPI_Allreduce"]],
  ["uneven_threads", "wall", ["one_slow_thread", "work"], ["even_threads", "work"]],
  ["cpu_operations", "wall", ["model", "residual / block.conv1"], ["one_rank", "step / compute"]],
  ["allocation_calls", "wall", ["allocating", "step"], ["launching", "step"]],
  ["cuda_call", "wall", ["launching", "step"], ["allocating", "step"]],
  ["os_call", "wall", ["locking", "step"], ["launching", "step"]],
  ["python_lock", "wall", ["python_alone", "train"], ["condition", "take"]],
  ["lock", "wall", ["mutex", "update"], ["condition", "take"]],
  ["condition", "wall", ["condition", "take"], ["mutex", "update"]],
  ["file", "wall", ["fdatasync", "save"], ["sleep", "poll"]],
  ["sleep", "wall", ["sleep", "poll"], ["fdatasync", "save"]],
  ["child", "wall", ["child_asleep", "run tool"], ["sleep", "poll"]],
  ["input", "wall", ["pipe", "receive"], ["message", "receive"]],
  ["join", "wall", ["join", "collect"], ["condition", "take"]],
  ["system_call", "wall", ["message", "receive"], ["pipe", "receive"]],
  ["processor", "wall", ["busy_waiting", "wait for it"], ["mutex", "update"]],
  ["tiny_calls", "wall", ["tiny_calls", "add"], ["one_rank", "step / compute"]],
  ["page_faults", "wall", ["page_faults", "fill"], ["system_calls", "read"]],
  ["system_time", "wall", ["system_calls", "read"], ["page_faults", "fill"]],
  ["cpu_bound", "wall", ["one_rank", "step / compute"], ["one_rank", "step / write"]],
  ["waits_off_cpu", "wall", ["one_rank", "step / write"], ["one_rank", "step / compute"]],
  ["uneven_calls", "wall", ["slow_calls", "work"], ["even_calls", "work"]],
  ["computes_and_waits", "wall", ["one_processor", "shared"], ["one_rank", "step / compute"]],
];

describe("reasons", () => {
  it.each(CASES)("%s of %s time is found where it holds, and not elsewhere", (...one) => {
    const [rule, explained, holds, not] = one;
    if (sample === null && [holds, not].some(([source]) => OF_SAMPLES.includes(source))) return;
    expect(reasonOf(...holds, explained)).toBe(rule);
    expect(reasonOf(...not, explained)).not.toBe(rule);
  });

  it("have each a case", () => {
    expect([...new Set(CASES.map(([rule]) => rule))].toSorted()).toEqual(
      REASON_RULES.map(({ name }) => name).toSorted(),
    );
  });

  it("of kernels are in the order of NVIDIA's triage guide: launch, occupancy, memory, compute", () => {
    const gpu = REASON_RULES.filter(({ explains }) => explains.includes("gpu"));
    expect(gpu.map(({ name }) => name)).toEqual([
      "launch_bound",
      "launch_rule",
      "occupancy_rule",
      "memory_rule",
      "memory_bandwidth",
      "memory_bound",
      "compute_rule",
      "compute_bound",
      "ncu_rule",
      "near_both_peaks",
      "latency",
      "one_kernel",
    ]);
  });

  it("name the section of Nsight Compute that they come from, and none for what no section has", () => {
    const sectionOf = (source: Source, label: string) => {
      const report = loaded.get(source)?.reports[0];
      if (report === undefined) throw new Error(`${source} is not there`);
      const place = report.regions.findIndex(({ path }) => path.join(" / ") === label);
      const reason = reasonFor(factsOf(report)(place), "gpu");
      return [reason?.rule, reason?.section];
    };
    expect(sectionOf("occupancy_estimate", "step")).toEqual(["occupancy_rule", "Occupancy"]);
    expect(sectionOf("memory_estimate", "step")).toEqual(["memory_rule", "Source Counters"]);
    // Measured by metrics alone, or by the recorder.
    expect(sectionOf("streaming", "step")).toEqual(["memory_bandwidth", undefined]);
    expect(sectionOf("computing", "step")).toEqual(["compute_bound", undefined]);
    if (sample === null) return;
    expect(sectionOf("grid", OUTSIDE)).toEqual(["launch_rule", "Launch Statistics"]);
    expect(sectionOf("tiny", OUTSIDE)).toEqual(["latency", "GPU Speed Of Light Throughput"]);
    expect(sectionOf("advice", OUTSIDE)).toEqual([
      "memory_bandwidth",
      "GPU Speed Of Light Throughput",
    ]);
  });

  it("stand in the documentation in their order", () => {
    const rows = REASON_RULES.map(
      ({ name, threshold, source }) => `| \`${name}\` | ${threshold} | ${source} |\n`,
    );
    expect(readFileSync(REPORTS_PAGE, "utf8")).toContain(rows.join(""));
  });

  it("say their threshold and where it comes from, each once", () => {
    expect(new Set(REASON_RULES.map(({ name }) => name)).size).toBe(REASON_RULES.length);
    for (const { threshold, source } of REASON_RULES) {
      expect(threshold).not.toBe("");
      expect(source).not.toBe("");
    }
  });
});

describe("waiting for copies", () => {
  /** In a step of a millisecond: copies for 0.8 ms, and beside nothing a kernel for 0.1 ms. */
  const copied = (
    copies: readonly Partial<KernelSketch>[],
    kernel: Partial<KernelSketch> = {},
    process: Pick<ProcessSketch, "defaultStreams"> = {},
  ) => {
    const { reports } = sketched({
      ranges: [step(1000)],
      kernels: [
        ...copies.map((copy, at) => ({
          ...{ name: "copy", kind: "memcpy" as const, context: 1 },
          ...{ launch: (at * 800_000) / copies.length, ns: 800_000 / copies.length },
          ...copy,
        })),
        { name: "k", launch: 850_000, ns: 100_000, context: 1, ...kernel },
      ],
      ...process,
    });
    return reports[0] === undefined ? null : wallReason(reports[0], "step");
  };
  const inTime = "800.0 µs of 1.00 ms copies run, and no kernel";
  const own = "copy less, or beside kernels: cudaMemcpyAsync on a stream of its own";

  it("names the stream that kernels use as well", () => {
    expect(copied([{ stream: 7, isPageable: false }], { stream: 7 })).toMatchObject({
      rule: "copies",
      evidence: `${inTime}; of the time that it copies, 0.0 % from or to pageable memory and 100.0 % on stream 7, on which kernels run, too`,
      advice: own,
    });
    const ofTwoDevices = [{ stream: 7 }, { stream: 15, device: 1 }, { stream: 9 }];
    const onBoth = copied([...ofTwoDevices, { stream: 7 }], { stream: 7 });
    expect(onBoth?.evidence).toBe(
      `${inTime}; of the time that it copies, 50.0 % on stream 7, on which kernels run, too`,
    );
  });

  it("names the default stream where the recording says which one it is", () => {
    const defaultStreams = [{ context: 1, stream: 7 }];
    const pageable = [{ stream: 7, isPageable: true }];
    expect(copied(pageable, { stream: 13 }, { defaultStreams })).toMatchObject({
      evidence: `${inTime}; of the time that it copies, 100.0 % from or to pageable memory and 100.0 % on stream 7, the default stream`,
      advice: `${own}, made with cudaStreamNonBlocking, since other streams wait for the default one; with pinned memory in place of pageable`,
    });
    expect(copied([{ stream: 7 }], { stream: 7 }, { defaultStreams })?.evidence).toMatch(
      / on stream 7, the default stream, on which kernels run, too$/,
    );
  });

  it("asks for no stream of their own for copies that have one", () => {
    const alone = copied([{ stream: 9, isPageable: false }], { stream: 7 }, { defaultStreams: [] });
    expect(alone).toMatchObject({
      evidence: `${inTime}; of the time that it copies, 0.0 % from or to pageable memory`,
      advice:
        "copy less, or begin earlier: no kernel uses their stream, and they run beside kernels",
    });
    const unknown = copied([{ stream: 9, isPageable: false }], { stream: 7 });
    expect(unknown?.advice).toMatch(
      /^copy less, or begin earlier: .* unless it is the default one/,
    );
  });

  it("is as before where streams are not recorded, of other contexts, or mixed", () => {
    expect(copied([{}], {})).toMatchObject({
      evidence: inTime,
      advice: `${own}; with memory of the host that is pinned, where it is pageable`,
    });
    expect(copied([{ stream: 7 }], { stream: 7, context: 2 })?.evidence).toBe(inTime);
    const streams = [7, 9, 9].map((stream) => ({ stream }));
    expect(copied(streams, { stream: 7 })?.evidence).toBe(inTime);
  });

  it("of another region tells of their memory and stream what that region does", () => {
    const { reports } = sketched({
      ranges: [
        { name: "load", start: 0, end: 100_000 },
        { name: "step", start: 100_000, end: 1_000_000 },
      ],
      kernels: [
        ...[{ name: "copy", kind: "memcpy" as const, stream: 7, isPageable: true }].map((copy) => ({
          ...copy,
          launch: 50_000,
          ns: 800_000,
        })),
        { name: "k", launch: 860_000, ns: 100_000, stream: 7 },
      ],
    });
    const reason = reports[0] === undefined ? null : wallReason(reports[0], "step");
    expect(reason).toMatchObject({
      evidence:
        "751.0 µs of 900.0 µs copies run, and no kernel; load issues 100.0 % of the time of all copies; of that, 100.0 % from or to pageable memory and 100.0 % on stream 7, on which kernels run, too",
      advice: `${own}; with pinned memory in place of pageable`,
    });
  });
});

describe("what threads wait for", () => {
  const said = (source: Source, label: string) => {
    const [report] = loaded.get(source)?.reports ?? [];
    if (report === undefined) throw new Error(`${source} is not there`);
    const reason = wallReason(report, label);
    return `${reason?.title}: ${reason?.evidence}`;
  };

  it("is told with how often it was seen", () => {
    expect(said("mutex", "update")).toBe("waits for a lock: 5.59 s of 9.04 s (215 of 343 samples)");
    expect(said("condition", "take")).toMatch(/^waits for a condition variable or semaphore: /);
    expect(said("fdatasync", "save")).toMatch(/^waits for files: /);
    expect(said("pipe", "receive")).toMatch(/^waits for a pipe: /);
  });

  it("is told of files with the blocks that were read and written, where they were counted", () => {
    const [report] = loaded.get("fdatasync")?.reports ?? [];
    if (report === undefined) throw new Error("fdatasync is not there");
    const saidOf = (read: number, written: number) => {
      const blocks = { blocks_read: read, blocks_written: written };
      const metrics = Object.entries(blocks).map(([name, value]) => [name, { value, unit: "" }]);
      const regions = report.regions.map((region) => ({
        ...region,
        metrics: { ...region.metrics, ...Object.fromEntries(metrics) },
      }));
      return wallReason({ ...report, regions }, "save")?.evidence;
    };
    const uncounted = wallReason(report, "save")?.evidence;
    expect(saidOf(0, 12_288)).toBe(
      `${uncounted}; 0 blocks of 512 bytes read from disks, 12,288 written`,
    );
    expect(saidOf(0, 0)).toBe(uncounted);
  });

  it("is a child that computes, or one that waits itself", () => {
    expect(said("child_asleep", "run tool")).toMatch(
      /^waits for a child process, which is asleep itself: .* its children compute for 0\.0 % of the time$/,
    );
    expect(said("child_computing", "run tool")).toMatch(
      /^waits for a child process, which computes: .* its children compute for 98\.6 % of the time$/,
    );
    const [report] = loaded.get("child_computing")?.reports ?? [];
    if (report === undefined) throw new Error("child_computing is not there");
    const titleOf = (share: number) => {
      const regions = report.regions.map((region) => ({
        ...region,
        ...(region.thread_samples && {
          thread_samples: {
            ...region.thread_samples,
            children_cpu_ms: share * region.thread_samples.counted_ms,
          },
        }),
      }));
      return wallReason({ ...report, regions }, "run tool")?.title;
    };
    expect([0.12, 0.06, 0.01].map(titleOf)).toEqual([
      "waits for a child process, which computes",
      "waits for a child process, which computes little: it is asleep itself, or waits for a free processor",
      "waits for a child process, which is asleep itself",
    ]);
  });

  it("is a free processor on a busy machine, and beside it what takes the rest", () => {
    expect(said("busy_waiting", "wait for it")).toMatch(
      /^waits for a free processor; on a free machine: CPU bound: .*busy waiting/,
    );
    expect(said("fdatasync_busy", "save")).toMatch(
      /^waits for a free processor; on a free machine: waits for files: /,
    );
    expect(said("python", "train")).toMatch(
      /^waits for a free processor; on a free machine: waits for Python's lock \(GIL\), as it seems: /,
    );
  });

  it("is told of a free machine from the same part of its time on as beside no other work", () => {
    const [report] = loaded.get("fdatasync_busy")?.reports ?? [];
    if (report === undefined) throw new Error("fdatasync_busy is not there");
    const waiting = (fileMs: number) => {
      const [wallMs, queuedMs, cpuMs] = [1000, 600, 400 - fileMs];
      const regions = report.regions.map((region) => ({
        ...region,
        wall_ms: wallMs,
        wall_exclusive_ms: wallMs,
        cpu_ms: cpuMs,
        cpu_exclusive_ms: cpuMs,
        thread_samples: {
          states: { running: 80, file: 20 },
          counted_ms: wallMs,
          queued_ms: queuedMs,
          slices: 300,
          system_ms: cpuMs / 2,
          minor_page_faults: 0,
          major_page_faults: 0,
          children_cpu_ms: 0,
        },
      }));
      return wallReason({ ...report, regions }, "save")?.title;
    };
    expect(waiting(85)).toBe("waits for a free processor; on a free machine: waits for files");
    expect(waiting(75)).toBe(
      "waits for a free processor; on a free machine: computes in the kernel: system calls",
    );
  });

  it("before the first range is no start-up where the program waits", () => {
    expect(said("first_request", OUTSIDE)).toMatch(
      /^waiting for a timer: it sleeps, before the first range: /,
    );
    expect(said("phases", OUTSIDE)).toMatch(/^starting up, before the first range: /);
  });

  it("is between ranges where very many are short", () => {
    expect(said("tiny_calls", OUTSIDE)).toMatch(
      /^between very many short ranges: 1\.0 µs for each of /,
    );
  });

  it("is not said of fewer than eight samples", () => {
    const [report] = loaded.get("sleep")?.reports ?? [];
    if (report === undefined) throw new Error("sleep is not there");
    const withStates = (states: NonNullable<NCUProfileRegion["thread_samples"]>["states"]) => ({
      ...report,
      regions: report.regions.map((region) => ({
        ...region,
        ...(region.thread_samples && { thread_samples: { ...region.thread_samples, states } }),
      })),
    });
    expect(wallReason(withStates({ sleep: 7 }), "poll")?.rule).toBe("waits_off_cpu");
    // Where threads were looked at, another setting than the default is meant.
    expect(wallReason(withStates({ sleep: 7 }), "poll")?.advice).toMatch(
      /told from 8 samples on, and it has 7: let it run for longer, or raise pipeline\.recorder\.sampling_frequency$/,
    );
    expect(wallReason(withStates({}), "poll")?.advice).toMatch(
      /pipeline\.recorder\.sampling_frequency=100 tells/,
    );
    expect(wallReason(withStates({ sleep: 8 }), "poll")?.rule).toBe("sleep");
    // The kernel refuses to say what it waits for.
    expect(wallReason(withStates({ unknown: 30 }), "poll")?.evidence).toMatch(
      /the kernel did not say for what/,
    );
  });
});

describe("what computes part of its time", () => {
  const reportOf = (source: Source): NCUProfileRegionReport => {
    const report = loaded.get(source)?.reports[0];
    if (report === undefined) throw new Error(`${source} is not there`);
    return report;
  };

  it("waits for a processor where others take it away", () => {
    const reason = wallReason(reportOf("one_processor"), "shared");
    expect(reason?.title).toBe("waits more than it computes, for a free processor");
    expect(reason?.evidence).toBe(
      "its threads compute for 60.02 ms of 202.29 ms (29.7 %) and wait for 142.27 ms; 57 of 57 context switches took the processor from a thread that had more to compute",
    );
  });

  it("waits for something else where it leaves its processor", () => {
    const reason = wallReason(reportOf("one_processor"), "half");
    expect(reason?.title).toBe("waits more than it computes");
    expect(reason?.evidence).toMatch(/in 10 of 16 context switches they had nothing to compute/);
  });

  it("says which part is larger, and how to learn what it waits for", () => {
    const { regions, ...report } = reportOf("one_processor");
    const uncounted = regions.map((region) => ({
      ...region,
      metrics: {},
      cpu_exclusive_ms: (region.wall_exclusive_ms ?? 0) * 0.55,
    }));
    const reason = wallReason({ ...report, regions: uncounted }, "half");
    expect(reason?.title).toBe("computes more than it waits");
    expect(reason?.advice).toMatch(/pipeline\.recorder\.cpu=counts/);
  });
});

describe("a reason claims no more than the numbers do", () => {
  const reportOf = (process: ProcessSketch): NCUProfileRegionReport => {
    const [report] = sketched(process).reports;
    if (report === undefined) throw new Error("there is no report");
    return report;
  };
  const reasonOf = (process: ProcessSketch, name = "step") => wallReason(reportOf(process), name);

  it("of equal parts none is larger", () => {
    const half = { ...step(1000), cpu: 500_000 };
    expect(reasonOf({ ranges: [half] })?.title).toBe("computes as long as it waits");
    const kernels = ["one", "two"].map((name, at) => ({ name, launch: at * 500_000, ns: 400_000 }));
    expect(reasonOf({ ranges: [step(1000)], kernels })?.evidence).toMatch(
      /the longest is one \(50\.0 % of the kernel time\)$/,
    );
  });

  it("one kernel has none beside it", () => {
    const alone = { name: "gemm", launch: 0, ns: 100_000 };
    const again = { ...alone, launch: 500_000 };
    expect(reasonOf({ ranges: [step(1000)], kernels: [alone] })).toMatchObject({
      rule: "idle_between_kernels",
      title: "the GPU is idle around its kernel",
      advice: "find what the host does besides the launch: open ranges around its parts",
    });
    expect(reasonOf({ ranges: [step(1000)], kernels: [alone, again] })?.title).toBe(
      "the GPU is idle between kernels",
    );
  });

  it("some switches do not explain a long wait", () => {
    const counted = (ms: number, voluntary: number, involuntary: number) =>
      reasonOf({
        ranges: [
          {
            ...step(ms * 1000),
            cpu: ms * 100_000,
            counts: [0, 0, voluntary, involuntary],
          },
        ],
      });
    expect(counted(400, 1, 5)?.title).toBe("waits without computing, for a free processor");
    expect(counted(10_000, 1, 5)).toMatchObject({
      title: "waits without computing",
      evidence: expect.stringMatching(
        /in 1 of 6 context switches they had nothing to compute: they sleep, or wait for files, locks, other processes or a free processor$/,
      ),
    });
    expect(counted(10_000, 5, 1)?.evidence).toMatch(/files, locks or other processes$/);
  });

  it("each of two waits has its time", () => {
    const { regions, ...report } = reportOf({ ranges: [step(100_000)] });
    const sampled = regions.map((region) => ({
      ...region,
      thread_samples: {
        ...{ counted_ms: 0, queued_ms: 0, slices: 0, system_ms: 0 },
        ...{ minor_page_faults: 0, major_page_faults: 0, children_cpu_ms: 0 },
        states: { lock: 12, file: 8 },
      },
    }));
    expect(wallReason({ ...report, regions: sampled }, "step")).toMatchObject({
      title: "waits for a lock, and for files",
      evidence: "60.00 ms of 100.00 ms (12 of 20 samples); 40.00 ms (8 of 20 samples) for files",
    });
  });

  it("a region does not wait for what one inside it waits for", () => {
    const us = 1000;
    const process: ProcessSketch = {
      ranges: [step(1000), { name: "inner", start: 100 * us, end: 900 * us }],
      kernels: [{ name: "gemm", launch: 110 * us, ns: 10 * us }],
      waits: [{ call: 120 * us, ns: 700 * us }],
    };
    expect(reasonOf(process, "step / inner")?.evidence).toMatch(
      /700\.0 µs of 800\.0 µs|nothing runs/,
    );
    expect(reasonOf(process)?.rule).not.toBe("waits_for_gpu");
  });

  it("a region does not run the kernels of one inside it that is not shown", () => {
    const process: ProcessSketch = {
      ranges: [step(1000), { name: "inner", start: 100_000, end: 900_000 }],
      kernels: [{ name: "gemm", launch: 110_000, ns: 780_000 }],
    };
    const selection = { include: [], exclude: ["inner"] };
    const [report] = toReportBundle(
      buildRegionModel(timelineOf([process]), { selection }),
      context,
    ).reports;
    expect(report?.regions.map(({ name }) => name)).toEqual(["step"]);
    expect(reasonOf(process)?.title).toBe("without the GPU");
    expect(report && wallReason(report, "step")).toBeNull();
  });

  it("a host whose processor time is not known may sleep", () => {
    const titleOf = (cpu?: number) =>
      reasonOf({
        ranges: [
          { ...step(1000), ...(cpu !== undefined && { cpu }) },
          { name: "other", start: 1_000_000, end: 2_000_000 },
        ],
        kernels: [{ name: "gemm", launch: 1_100_000, ns: 500_000 }],
      })?.title;
    expect(titleOf()).toBe("without the GPU");
    expect(titleOf(600_000)).toBe("host work without the GPU");
  });

  it("kernels whose names are not known apart are launched by the region all the same", () => {
    const [report] = busy().reports;
    if (report === undefined) throw new Error("there is no report");
    const facts = factsOf(report)(0);
    expect(reasonFor(facts, "wall")).toMatchObject({ rule: "kernels" });
    expect(reasonFor({ ...facts, longest: null }, "wall")?.evidence).toMatch(
      /, most of it launched by itself$/,
    );
  });

  it("a range that never closed computed at least so much, and does not wait for the rest", () => {
    const open = (cpu: number) => {
      const report = reportOf({ ranges: [{ ...step(1000), end: null, cpu }], endNs: 1_000_000 });
      expect(report.regions[0]).toMatchObject({ unclosed: 1, cpu_ms: cpu / 1e6 });
      return wallReason(report, "step")?.rule ?? null;
    };
    expect(open(0)).toBeNull();
    expect(open(500_000)).toBeNull();
    expect(open(900_000)).toBe("cpu_bound");
  });

  it("memory that is set is not copied", () => {
    const set: KernelSketch = { name: "memset", launch: 0, ns: 800_000, kind: "memset", bytes: 1 };
    expect(reasonOf({ ranges: [step(1000)], kernels: [set] })).toMatchObject({
      rule: "copies",
      title: "waits for memory that is copied or set",
      evidence:
        "800.0 µs of 1.00 ms memory is copied or set, and no kernel runs; none of the regions copies",
    });
  });
});

describe("the headline claims no more than the numbers do", () => {
  const ofRun = (ms: number, inRangesMs: number, gpu?: RunTotals["gpu_activity"]): RunTotals => ({
    ...{ wall_ms: ms, process_ms: ms, process_count: 1, in_ranges_ms: inRangesMs },
    ...{ before_ranges_ms: 0, after_ranges_ms: 0 },
    ...(gpu && { gpu_activity: gpu, gpu_activity_in_ranges: gpu }),
  });
  const headlineOf = (
    process: ProcessSketch,
    change: (report: NCUProfileRegionReport) => NCUProfileRegionReport = (report) => report,
  ) => {
    const bundle = sketched({ endNs: 1_000_000, ...process });
    return answerOf({ ...bundle, reports: bundle.reports.map(change) })?.headline;
  };
  const parts = (...lengths: readonly number[]) =>
    lengths.map((us, at) => {
      const start = lengths.slice(0, at).reduce((sum, each) => sum + each, 0) * 1000;
      return { name: `part ${"abc"[at]}`, start, end: start + us * 1000 };
    });

  it("no one of two equal parts is most", () => {
    expect(headlineOf({ ranges: parts(500, 500) })).toMatch(
      /The time is spread over 2 regions: none takes more than 50\.0 % of the run/,
    );
  });

  it("no region takes more than a time, where its share is too small to be shown", () => {
    const ranges = Array.from({ length: 26 * 100 }, (_, at) => {
      const name = `${String.fromCharCode(97 + (at % 26))}${"x".repeat(Math.floor(at / 26))}`;
      return { name, start: at * 300, end: (at + 1) * 300 };
    });
    expect(headlineOf({ ranges, endNs: 780_000 })).toMatch(
      /: none takes more than 0\.3 µs of its own, which is <0\.1 % of the run\./,
    );
  });

  it("what runs outside of them may be more than any region", () => {
    expect(headlineOf({ ranges: parts(350, 250) })).toMatch(
      /The time is spread over 2 regions and what runs outside of them: none takes more than 40\.0 % of the run \(400\.0 µs\)/,
    );
  });

  it("times of several threads are added up", () => {
    const ranges = [1, 2].map((thread) => ({ name: "work", thread, start: 0, end: 400_000 }));
    expect(headlineOf({ ranges })).toMatch(
      /Most time is in work: 80\.0 % of the run \(800\.0 µs in 2 threads\)/,
    );
  });

  it("kernels run beside copies, too", () => {
    const gpu = { busy_ms: 0.9, kernel_ms: 0.9, copy_ms: 0.3, overlap_ms: 0.3 };
    expect(
      headlineOf({ ranges: parts(1000) }, (report) => ({
        ...report,
        totals: { ...report.totals, run: ofRun(1, 1, gpu) },
      })),
    ).toMatch(/^Kernels run for 90\.0 % of the run \(900\.0 µs of 1\.00 ms\)\./);
  });

  it("a reason of a part of the time outside is not of most of it", () => {
    const headline = headlineOf({ ranges: parts(100) }, (report) => ({
      ...report,
      totals: { ...report.totals, run: ofRun(1, 0.1) },
      regions: report.regions.map((region) =>
        region.kind === "outside"
          ? {
              ...region,
              ...{ wall_ms: 0.9, wall_exclusive_ms: 0.9 },
              thread_samples: {
                ...{ counted_ms: 0, queued_ms: 0, slices: 0, system_ms: 0 },
                ...{ minor_page_faults: 0, major_page_faults: 0, children_cpu_ms: 0 },
                states: { running: 5, sleep: 5 },
              },
            }
          : region,
      ),
    }));
    expect(headline).toMatch(
      /pass outside every range\. Of that: waits for a timer: it sleeps \(450\.0 µs of 900\.0 µs/,
    );
  });

  it("a kernel outside of ranges is compared with those inside, too", () => {
    const kernels = [
      { name: "inside", launch: 0, ns: 300_000 },
      { name: "also", launch: 350_000, ns: 300_000 },
      { name: "alone", launch: 800_000, ns: 400_000 },
    ];
    const headline = headlineOf({ ranges: parts(350, 350), kernels }, (report) => {
      const { run: _, ...totals } = report.totals;
      return {
        ...report,
        totals: { ...totals, wall_ms: null },
        regions: report.regions.map((region) => ({
          ...region,
          ...{ wall_ms: null, wall_exclusive_ms: null },
        })),
      };
    });
    expect(headline).not.toMatch(/^Most kernel time/);
    expect(headline).toMatch(/what runs outside of them: none takes more than 40\.0 %/);
  });
});

describe.skipIf(sample === null)("the answer", () => {
  it("says of a training step that waits for copies that it does", () => {
    const answer = answerOf(loaded.get("copies") ?? { contract: CONTRACT, reports: [] });
    expect(answer?.headline).toMatch(
      /^For 97\.0 % .* the GPU copies or sets memory and runs no kernel\./,
    );
    expect(answer?.byWall[0]).toMatchObject({
      label: ITEM,
      base: "run",
      reason: {
        rule: "copies",
        evidence:
          "829.72 ms of 856.98 ms copies run, and no kernel; most of them are issued elsewhere, the largest part outside every range (43.6 % of the time of all copies); of all, <0.1 % from or to pageable memory and 100.0 % on streams 7 and 15, on which kernels run, too; its threads are in cudaStreamSynchronize for 856.89 ms",
      },
    });
    const [run, ...others] = answer?.runs ?? [];
    expect(run?.parts.reduce((sum, { ms }) => sum + ms, 0)).toBeCloseTo(run?.ms ?? 0, 3);
    // A device for each process: said once.
    expect(others.map(({ name }) => name)).toEqual(["process:111", "process:112"]);
  });

  it("of kernels alone is of kernel time, and says so", () => {
    const answer = answerOf(loaded.get("advice") ?? { contract: CONTRACT, reports: [] });
    expect(answer?.runs).toEqual([]);
    expect(answer?.byWall).toEqual([]);
    expect(answer?.byGpu[0]).toMatchObject({ base: "kernel time", share: 100 });
    expect(answer?.headline).toBe(
      "Most kernel time is in matrix_addition2D(float *, float *, float *, int, int), outside every range: 100.0 % of the kernel time (52.6 µs), limited by memory bandwidth.",
    );
    expect(answer?.more[0]?.command).toBe("deep-profile -- PROG ARG...");
  });
});

it.skipIf(sample === null)("names no kernel for what several take together", () => {
  const answer = answerOf(loaded.get("tiny") ?? { contract: CONTRACT, reports: [] });
  expect(answer?.headline).toBe(
    "No kernel takes most of the kernel time (6.1 µs, outside every range): the longest of 4, warmingUp(float *), takes 26.0 % of the kernel time (1.6 µs). Of all together: its kernels use neither memory nor multiprocessors well.",
  );
});

describe("the answer of a recording", () => {
  it("says that the run passes before its first range", () => {
    const answer = answerOf(phases());
    expect(answer?.headline).toBe(
      "63.4 % of the run (334.52 ms of 527.73 ms) pass outside every range. Most of that: starting up, before the first range (328.89 ms of 334.52 ms).",
    );
    expect(answer?.byWall.map(({ label, reason }) => [label, reason?.rule ?? null])).toEqual([
      ["outside every range", "before_ranges"],
      ["step / load", "first_call"],
      ["step / compute", null],
    ]);
  });

  it("takes reasons from the counters of another collector", () => {
    const recorded = busy();
    const counted = withCounters(recorded, 91, 20);
    expect(answerOf(recorded)?.byGpu[0]?.reason?.rule).toBe("one_kernel");
    expect(answerOf(recorded, [counted])?.byGpu[0]?.reason?.rule).toBe("compute_bound");
    expect(answerOf(recorded)?.more.map(({ command }) => command)).toContainEqual(
      expect.stringMatching(
        /^deep-profile pipeline\.ncu\.enable=true pipeline\.ncu\.ncu_cli\.nvtx\.include=step -- /,
      ),
    );
  });
});

it("blames a rank only where the others wait for that one, and not for another each time", () => {
  const ms = 1_000_000;
  /** Ranks that enter each of four calls at once, but for one of them. @param late the rank that is 8 ms late in a call */
  const waiting = (late: (call: number) => number) => {
    const timeline = timelineOf(
      [0, 1, 2, 3].map((rank) => ({
        pid: 100 + rank,
        ranges: [0, 1, 2, 3].map((call) => ({
          name: "MPI_Allreduce",
          start: (call * 10 + (late(call) === rank ? 8 : 0)) * ms,
          end: (call * 10 + 9) * ms,
        })),
      })),
    );
    const processes = timeline.processes.map((process, rank) => ({
      ...process,
      rank: { rank, size: 4, localRank: rank, host: "node1" },
    }));
    const bundle = toReportBundle(buildRegionModel({ ...timeline, processes }), context);
    const [table] = ranksTable(bundle.reports[0]?.regions ?? []);
    const rows = [...(table?.rows ?? [])];
    return [answerOf(bundle)?.byWall[0]?.reason?.title, JSON.stringify(rows)];
  };
  const [always, shown] = waiting(() => 2);
  expect(always).toBe("waits for rank 2, which comes late");
  expect(shown).toContain('"rank 2"');
  const [inTurn, listed] = waiting((call) => call);
  expect(inTurn).toBe("waits for the last rank, another one each time");
  expect(listed).toContain('"varies"');
  expect(listed).not.toContain('"rank ');
});

it("blames no rank where all take equally long", () => {
  const shown = (lengths: readonly number[]) => {
    const timeline = timelineOf(
      lengths.map((ns, rank) => ({
        pid: 100 + rank,
        ranges: [{ name: "compute", start: 0, end: ns }],
      })),
    );
    const processes = timeline.processes.map((process, rank) => ({
      ...process,
      rank: { rank, size: lengths.length, localRank: rank, host: "node1" },
    }));
    const bundle = toReportBundle(buildRegionModel({ ...timeline, processes }), context);
    return JSON.stringify([...(ranksTable(bundle.reports[0]?.regions ?? [])[0]?.rows ?? [])]);
  };
  expect(shown([10_000, 10_000, 10_005])).toContain('"none"');
  expect(shown([10_000, 10_000, 10_000])).not.toContain('"rank ');
  expect(shown([10_000, 10_200, 10_000])).toContain('"rank 1"');
});

it("suggests repeats of a parallel program in the way in which they run: one process starts the ranks", async () => {
  const bundle = await BUNDLES.ranks();
  const [main] = bundle.reports;
  if (main === undefined) throw new Error("there is no report");
  const suggested = (...command: readonly string[]) => {
    const environment = { ...main.environment, command };
    return answerOf({ ...bundle, reports: [{ ...main, environment }] })?.more.map(
      (one) => one.command,
    );
  };
  expect(suggested("./m", "x y")).toContain("deep-profile repeats=5 -- mpirun -n 4 ./m 'x y'");
  expect(suggested("/usr/bin/mpirun", "-n", "4", "./m")).toContain(
    "deep-profile repeats=5 -- /usr/bin/mpirun -n 4 ./m",
  );
});

it("names what was open when a program failed", () => {
  const bundle = sketched({
    ranges: [
      { name: "step", start: 0, end: null },
      { name: "load", start: 10, end: 20 },
      { name: "compute", start: 30, end: null },
    ],
  });
  const [report] = bundle.reports;
  if (report === undefined) throw new Error("a bundle has a report");
  const failed = { ...report, failure: "prog was ended by SIGABRT" };
  expect(answerOf({ ...bundle, reports: [failed] })?.failure).toBe(
    "prog was ended by SIGABRT, with step / compute open",
  );
  expect(answerOf(bundle)?.failure).toBeNull();
});

it("calls operations CPU bound only where its threads compute in them", () => {
  const bundle = loaded.get("model");
  const [report] = bundle?.reports ?? [];
  const place = report?.regions.findIndex(({ name }) => name === "block.conv1") ?? -1;
  if (report === undefined || place < 0) throw new Error("the model has the region");
  const titleWith = (part: number) => {
    const regions = report.regions.map((region) => ({
      ...region,
      cpu_exclusive_ms: (region.wall_exclusive_ms ?? 0) * part,
    }));
    return reasonFor(factsOf({ ...report, regions })(place), "wall")?.title;
  };
  expect(titleWith(0.9)).toBe("CPU bound");
  expect(titleWith(0.1)).toBe("CPU operations, with other work on the processors");
});

describe("the kernels that ran in a region", () => {
  const evidence = (kernels: readonly KernelSketch[]) => {
    const bundle = sketched({
      ranges: [
        { name: "launch", start: 0, end: 100_000 },
        { name: "copy back", start: 100_000, end: 1_100_000 },
      ],
      kernels,
    });
    const [report] = bundle.reports;
    const place = report?.regions.findIndex(({ name }) => name === "copy back") ?? -1;
    if (report === undefined || place < 0) throw new Error("the sketch has the region");
    const reason = reasonFor(factsOf(report)(place), "wall");
    expect(reason?.rule).toBe("kernels");
    return reason?.evidence;
  };
  const before = { name: "gemm", launch: 99_000, ns: 900_000 };

  it("are not those that it launched, where these ran for less than half of the time", () => {
    expect(evidence([before])).toBe("900.0 µs of 1.00 ms, launched elsewhere");
    const cast = { name: "cast", launch: 1_000_000, ns: 50_000 };
    expect(evidence([before, cast])).toBe("950.0 µs of 1.00 ms, most of it launched elsewhere");
  });

  it("are mostly one only where that has at least half of the kernel time", () => {
    const gemm = { name: "gemm", launch: 200_000, ns: 500_000 };
    const cast = { name: "cast", launch: 800_000, ns: 200_000 };
    expect(evidence([gemm, cast])).toBe(
      "700.0 µs of 1.00 ms, most of it gemm (71.4 % of the kernel time)",
    );
    const three = ["a", "b", "c"].map((name, at) => ({
      name,
      launch: 110_000 + at * 300_000,
      ns: 200_000 + at * 50_000,
    }));
    expect(evidence(three)).toBe(
      "750.0 µs of 1.00 ms, the longest is c (40.0 % of the kernel time)",
    );
  });
});

it("names the longest operation of a region's own, not that of a region inside", () => {
  const domain = "ops";
  const ranges = [
    step(1000),
    { name: "inner", start: 100_000, end: 500_000 },
    { name: "conv", domain, start: 100_000, end: 500_000 },
    { name: "conv", domain, start: 500_000, end: 550_000 },
    { name: "add", domain, start: 550_000, end: 950_000 },
  ];
  const model = buildRegionModel(timelineOf([{ ranges }]), { operationDomains: [domain] });
  const [report] = toReportBundle(model, context).reports;
  const place = report?.regions.findIndex(({ name }) => name === "step") ?? -1;
  if (report === undefined || place < 0) throw new Error("the sketch has the region");
  expect(reasonFor(factsOf(report)(place), "wall")?.evidence).toBe(
    "operations take 450.0 µs of 600.0 µs, most of it add (88.9 %)",
  );
});

it("says of one kernel what is not of regions inside", () => {
  const evidence = (ranges: ProcessSketch["ranges"]) => {
    const kernels = [
      { name: "gemm", launch: 50_000, ns: 100_000 },
      { name: "gemm", launch: 250_000, ns: 200_000 },
    ];
    const [report] = sketched({ ranges: [step(1000), ...(ranges ?? [])], kernels }).reports;
    const place = report?.regions.findIndex(({ name }) => name === "step") ?? -1;
    if (report === undefined || place < 0) throw new Error("the sketch has the region");
    return reasonFor(factsOf(report)(place), "gpu")?.evidence;
  };
  expect(evidence([])).toBe("gemm takes 300.0 µs of 300.0 µs in 2 calls");
  expect(evidence([{ name: "inner", start: 200_000, end: 300_000 }])).toBe(
    "gemm takes 100.0 µs of 100.0 µs in 1 call",
  );
});

describe("on a machine that is busy", () => {
  /** A report as if each region had taken so many times as long, all of it in the queue of a processor but for the first. */
  const stretched = (report: NCUProfileRegionReport, times: number, isSampled = true) => ({
    ...report,
    regions: report.regions.map((region) => {
      const wall = (region.wall_ms ?? 0) * times;
      const own = (region.wall_exclusive_ms ?? 0) * times;
      return {
        ...region,
        ...{ wall_ms: wall, wall_exclusive_ms: own },
        ...(isSampled && {
          thread_samples: {
            ...{ counted_ms: own, queued_ms: (own * (times - 1)) / times, slices: 1000 },
            ...{ system_ms: 0, minor_page_faults: 0, major_page_faults: 0, children_cpu_ms: 0 },
            states: { running: 80 },
          },
        }),
      };
    }),
  });
  const reportOf = (process: ProcessSketch): NCUProfileRegionReport => {
    const [report] = sketched(process).reports;
    if (report === undefined) throw new Error("there is no report");
    return report;
  };

  it("very many short calls are named, in ranges and between them", () => {
    const report = reportOf(tinyCalls(20_000));
    // 1 µs and a wait of 24 µs: too long for a short call, were it not for the queue.
    const busy = stretched(report, 25);
    expect(wallReason(busy, "add")?.title).toBe(
      "waits for a free processor; on a free machine: in very many short calls",
    );
    expect(wallReason(busy, "add")?.evidence).toMatch(
      /^a processor is missing for 480\.00 ms of 500\.00 ms; 20,000 calls of 1\.0 µs on average without waits for a processor; recording/,
    );
    expect(wallReason(busy, OUTSIDE)?.title).toBe(
      "waits for a free processor; on a free machine: between very many short ranges",
    );
    expect(wallReason(busy, OUTSIDE)?.evidence).toMatch(
      /; \d\.\d µs without waits for a processor for each of 20,000 ranges; recording/,
    );
    const waited = wallReason(stretched(report, 1.1), "add");
    expect(waited?.rule).toBe("tiny_calls");
    expect(waited?.evidence).toMatch(/^20,000 calls of 1\.0 µs on average without waits for a pro/);
    // Waits that change no digit are not worth a word.
    for (const times of [1, 1.001])
      expect(wallReason(stretched(report, times), "add")?.evidence).toMatch(
        /^20,000 calls of 1\.0 µs on average; recording takes a part of that itself$/,
      );
    // What nobody knows to be a queue is time of the calls.
    expect(wallReason(stretched(report, 25, false), "add")?.rule).not.toBe("tiny_calls");
  });

  it("no call is an outlier that only waited for a processor", () => {
    const ms = 1_000_000;
    const calls = (place: number, cpu: number) =>
      reportOf({
        ranges: Array.from({ length: 5 }, (_, at) => ({
          name: "step",
          start: at * 200 * ms,
          end: at * 200 * ms + (at === place ? 100 : 1) * ms,
          cpu: (at === place ? cpu : 1) * ms,
        })),
      });
    /** The long call and the four short ones take 104 ms. */
    const ruleOf = (report: NCUProfileRegionReport, queuedMs: number) =>
      wallReason(
        {
          ...report,
          regions: report.regions.map((region) => ({
            ...region,
            thread_samples: {
              ...{ counted_ms: 104, queued_ms: queuedMs, slices: 100, system_ms: 0 },
              ...{ minor_page_faults: 0, major_page_faults: 0, children_cpu_ms: 0 },
              states: { running: 5, sleep: 5 },
            },
          })),
        },
        "step",
      )?.rule;
    for (const [place, rule] of [
      [0, "first_call"],
      [3, "outlier_call"],
    ] as const) {
      expect(ruleOf(calls(place, 100), 0)).toBe(rule);
      expect(ruleOf(calls(place, 1), 99)).toBe("processor");
      // It slept, or waited for a file, as long as for a processor.
      expect(ruleOf(calls(place, 1), 50)).toBe(rule);
    }
  });
});

it("leads with what threads do, not with who waits for their end", () => {
  const ms = 1_000_000;
  const headline = (helpers: readonly number[]) => {
    const bundle = sketched({
      ranges: [
        { name: "process", start: 0, end: 1000 * ms },
        { name: "print", start: 1000 * ms, end: 1300 * ms },
        ...helpers.map((thread) => ({ name: "merge", start: 50 * ms, end: 950 * ms, thread })),
      ],
    });
    const reports = bundle.reports.map((report) => ({
      ...report,
      regions: report.regions.map((region) =>
        region.name === "process"
          ? {
              ...region,
              thread_samples: {
                ...{ counted_ms: 1000, queued_ms: 0, slices: 1, system_ms: 0 },
                ...{ minor_page_faults: 0, major_page_faults: 0, children_cpu_ms: 0 },
                states: { join: 99, running: 1 },
              },
            }
          : region,
      ),
    }));
    return answerOf({ ...bundle, reports })?.headline;
  };
  expect(headline([8])).toMatch(/Most time is in merge: 69\.2 % of the run \(900\.00 ms\)/);
  expect(headline([8, 9])).toMatch(/Most time is in merge: 1\.4 threads on average \(1\.80 s\)/);
  // Its threads are in no range.
  expect(headline([])).toMatch(/Most time is in process: 76\.9 % of the run .*end of a thread/);
});

describe("threads of a region", () => {
  const reasonOfWork = (process: ProcessSketch) => {
    const [report] = sketched(process).reports;
    return report === undefined ? null : wallReason(report, "work");
  };
  const isUneven = (process: ProcessSketch) => reasonOfWork(process)?.rule === "uneven_threads";

  it("are named with their numbers, and with what the slow one does", () => {
    expect(reasonOfWork(working(workers(100, 100, 230, 100)))).toMatchObject({
      title:
        "uneven over threads: a call of thread worker 13 (13) takes 2.3 times that of the others",
      evidence:
        "its 20 calls take 230.0 µs in the median, those of 3 other threads 100.0 µs; on average it computes for 230.0 µs of each, and they for 100.0 µs",
      advice: "give that thread smaller pieces, or let all threads take pieces from one queue",
    });
    const waits = [
      ...workers(100, 100, 100),
      { thread: 20, calls: sameCalls(20, 300), computes: 0.3 },
    ];
    expect(reasonOfWork(working(waits, false))).toMatchObject({
      title: "uneven over threads: a call of thread 20 takes 3.0 times that of the others",
      advice:
        "find what it waits for in its row of the timeline: it computes about as much as the others",
    });
  });

  it("are compared by what they compute, where one waits for longer", () => {
    const adviceWith = (computes: number) =>
      reasonOfWork(
        working([...workers(100, 100, 100), { thread: 20, calls: sameCalls(20, 300), computes }]),
      )?.advice;
    const find = "find what it waits for in its row of the timeline: it computes";
    expect(adviceWith(0)).toBe(`${find} less than the others`);
    expect(adviceWith(0.1)).toBe(`${find} less than the others`);
    expect(adviceWith(0.4)).toBe(`${find} about as much as the others`);
    expect(adviceWith(0.6)).toBe(
      `${find} more than the others, which is the smaller part of the difference`,
    );
    expect(adviceWith(0.9)).toMatch(/^give that thread smaller pieces/);
    const idle = [11, 12, 13, 20].map((thread) => ({
      thread,
      calls: sameCalls(20, thread === 20 ? 300 : 100),
      computes: 0,
    }));
    expect(reasonOfWork(working(idle))?.advice).toBe(`${find} about as much as the others`);
  });

  it("are said to be as many as are compared", () => {
    const few = [20, 21, 22].map((thread) => ({ thread, calls: [9000, 9000] }));
    expect(reasonOfWork(working([...workers(100, 100, 230, 100), ...few]))?.evidence).toMatch(
      /^its 20 calls take 230\.0 µs in the median, those of 3 other threads 100\.0 µs;/,
    );
    const busy = [...workers(100, 100, 100), { thread: 30, calls: sameCalls(60, 100) }, ...few];
    expect(reasonOfWork(working(busy))?.evidence).toMatch(/; 3 other threads in the median 20 /);
  });

  it("say nothing by times of nothing", () => {
    const none = [...workers(0, 0, 0), { thread: 20, calls: sameCalls(60, 0) }];
    expect(reasonOfWork(working(none))?.title ?? "").not.toContain("uneven");
  });

  it("that share a queue are told by their calls: a slow one makes fewer", () => {
    const [slow, ...others] = workers(230, 100, 100, 100);
    const shared = [{ thread: 11, calls: slow?.calls.slice(0, 9) ?? [] }, ...others];
    expect(isUneven(working(shared))).toBe(true);
  });

  it("are told apart where one of them makes more calls", () => {
    const more = [...workers(100, 100, 100), { thread: 20, calls: sameCalls(60, 100) }];
    expect(reasonOfWork(working(more))).toMatchObject({
      rule: "uneven_threads",
      title: "uneven over threads: thread worker 20 (20) makes 3.0 times the calls of the others",
    });
  });

  it("say nothing if the main thread does other work", () => {
    const other = { thread: MAIN, calls: [9000, 9000, 9000, 9000, 9000] };
    expect(isUneven(working([other, ...workers(100, 100, 100, 100)]))).toBe(false);
    const often = { thread: MAIN, calls: sameCalls(200, 100) };
    expect(isUneven(working([often, ...workers(100, 100, 100, 100)]))).toBe(false);
    // One that takes its part of the work is a worker, too.
    const alike = { thread: MAIN, calls: sameCalls(20, 300) };
    expect(isUneven(working([alike, ...workers(100, 100, 100)]))).toBe(true);
  });

  it("say nothing by few calls, by the first one of each, or by two threads", () => {
    const few = workers(100, 100, 100, 300).map((one) => ({
      ...one,
      calls: one.calls.slice(0, 4),
    }));
    expect(isUneven(working(few))).toBe(false);
    const starting = workers(100, 100, 100, 100).map((one, at) => ({
      ...one,
      calls: [at === 0 ? 1900 : 100, ...one.calls],
    }));
    expect(isUneven(working(starting))).toBe(false);
    expect(isUneven(working(workers(100, 300)))).toBe(false);
  });

  /** Where a part of the time passes in waits for a free processor, and another one for a timer. */
  const onBusyMachine = (process: ProcessSketch, shares: { queued: number; sleep: number }) => {
    const [report] = sketched(process).reports;
    if (report === undefined) throw new Error("there is no report");
    const regions = report.regions.map((region) => {
      const wallMs = region.wall_ms ?? 0;
      return {
        ...region,
        thread_samples: {
          ...{ counted_ms: wallMs, queued_ms: shares.queued * wallMs, slices: 100 },
          ...{ system_ms: 0, minor_page_faults: 0, major_page_faults: 0, children_cpu_ms: 0 },
          states: {
            running: Math.round((1 - shares.sleep) * 100),
            sleep: Math.round(shares.sleep * 100),
          },
        },
      };
    });
    return wallReason({ ...report, regions }, "work");
  };
  /** The calls of a thread that sleeps for `us`, of which some wait for a processor afterwards. */
  const sleeping = (thread: number, us: number, waits: readonly number[]) => ({
    thread,
    calls: Array.from({ length: 20 }, (_, at) => us + (waits[at % waits.length] ?? 0)),
    computes: 0.001,
  });

  it("are not uneven by calls that only wait for a free processor for longer", () => {
    const even = [
      sleeping(11, 4000, [0, 2000, 3000]),
      sleeping(12, 4000, [0, 1000, 4000]),
      sleeping(13, 4000, [0, 9500, 12_000]),
      sleeping(14, 4000, [0, 2000, 4000]),
    ];
    expect(isUneven(working(even))).toBe(true);
    expect(onBusyMachine(working(even), { queued: 0.4, sleep: 0.55 })?.rule).toBe("sleep");
    expect(onBusyMachine(working(even), { queued: 0.7, sleep: 0.25 })?.title).toBe(
      "waits for a free processor; on a free machine: waits for a timer: it sleeps",
    );
    // So much waiting for a processor does not explain it.
    expect(onBusyMachine(working(even), { queued: 0.02, sleep: 0.95 })?.rule).toBe(
      "uneven_threads",
    );
  });

  it("are uneven on a busy machine if the shortest call of one takes longer, too", () => {
    const slow = [
      sleeping(11, 4000, [200, 7000, 9000]),
      sleeping(12, 4000, [100, 7000, 9000]),
      sleeping(13, 12_000, [100, 5000, 9000]),
      sleeping(14, 4000, [2000, 8000, 9000]),
    ];
    expect(onBusyMachine(working(slow), { queued: 0.7, sleep: 0.25 })).toMatchObject({
      title: expect.stringMatching(
        /^waits for a free processor; on a free machine: uneven over threads: a call of thread worker 13 \(13\) takes 2\.9 times that of the others$/,
      ),
      evidence: expect.stringMatching(
        /its 20 calls take 12\.10 ms at least, those of 3 other threads 4\.20 ms/,
      ),
      advice: expect.stringMatching(
        /^find what it waits for .*: it computes more than the others, which is the smaller part of the difference; measure where nothing/,
      ),
    });
    expect(onBusyMachine(working(slow), { queued: 0.4, sleep: 0.55 })?.rule).toBe("uneven_threads");
    // A thread that finds nothing prepared now and then, where others do.
    const mixed = [
      ...[11, 12, 14].map((thread) => sleeping(thread, 4000, [8000, 8100, 0, 8000])),
      sleeping(13, 12_000, [100]),
    ];
    expect(onBusyMachine(working(mixed), { queued: 0.7, sleep: 0.25 })?.title).not.toMatch(
      /uneven/,
    );
  });

  it("say nothing over ranks, of which one is named", () => {
    const bundle = toReportBundle(
      buildRegionModel(
        timelineOf(
          [0, 1, 2, 3].map((rank) => ({
            pid: 100 + rank,
            rank: { rank, size: 4, localRank: rank, host: "host" },
            ranges: sameCalls(6, rank === 2 ? 300 : 100).map((us, at) => ({
              name: "work",
              thread: 100 + rank,
              start: at * 1e6,
              end: at * 1e6 + us * 1000,
            })),
          })),
        ),
      ),
      context,
    );
    const [report] = bundle.reports;
    expect(report?.regions[0]?.threads?.count).toBe(4);
    expect(report && wallReason(report, "work")?.rule).toBe("uneven_ranks");
  });
});
