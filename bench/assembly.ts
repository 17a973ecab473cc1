/**
 * From a timeline to the report document, beside the least that has to be done with as many kernels
 * in the same run: `npm run bench assembly`
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { buildRegionModel, toReportBundle } from "../src/profile/regions/index.ts";
import type { KernelInstance, RangeInstance, Timeline } from "../src/profile/timeline.ts";
import type { RegionReportBundle } from "../src/report/document.ts";
import { median, timeOf } from "./measure.ts";
import { createScore, ms, type Score } from "./score.ts";

const KERNELS = 1_000_000;
const REGIONS = 1_000;
/** What the document may take. */
const MOST_MS = 5_000;
const MOST_MB = 500;
/** Summing up by region and name in two plain maps; the document may take this many times that. */
const MOST_TIMES_PLAIN = 25;

interface Case {
  readonly name: "few" | "many";
  readonly about: string;
  /** Different names of kernels in a region. With 1,000 of them there is a row for every kernel. */
  readonly names: number;
}

const cases: readonly Case[] = [
  { name: "few", about: "50 names", names: 50 },
  { name: "many", about: "1,000 names", names: 1_000 },
];

/** Regions with as many kernels each; every tenth lies around the nine after it. */
function timelineOf({ names }: Case): Timeline {
  const ranges: RangeInstance[] = [];
  const kernels: KernelInstance[] = [];
  const kernelNames = Array.from({ length: names }, (_, i) => `void kernel_${i}<float>(float*)`);
  const perRegion = KERNELS / REGIONS;
  let now = 0;
  for (let region = 0; region < REGIONS; region++) {
    const startNs = now;
    for (let k = 0; k < perRegion; k++) {
      now += 10;
      kernels.push({
        kind: "kernel",
        name: kernelNames[k % names] ?? "",
        device: 0,
        stream: 7,
        launchThreadId: 1,
        launchNs: now,
        startNs: now + 2_000,
        endNs: now + 3_000 + (k % 7),
      });
    }
    now += 10;
    const nested = region % 10 === 0 ? 9 : 0;
    ranges.push({
      id: region,
      kind: "push_pop",
      domain: "",
      name: `region ${region}`,
      threadId: 1,
      startNs,
      endNs: now + nested * (perRegion + 1) * 10 + (nested > 0 ? 5 : 0),
      endThreadId: 1,
      category: null,
      color: null,
      payload: null,
    });
  }
  return {
    collector: "recorder",
    clock: "CLOCK_MONOTONIC",
    originNs: 0n,
    notes: [],
    processes: [
      {
        pid: 1,
        parentPid: null,
        executable: "program",
        startNs: 0,
        endNs: now,
        finished: true,
        ranges,
        marks: [],
        kernels,
        notes: [],
      },
    ],
  };
}

function assemble(timeline: Timeline): RegionReportBundle {
  return toReportBundle(buildRegionModel(timeline), {
    generatedAt: "2026-01-02T03:04:05Z",
    configFingerprint: "sha256:0",
    collectorVersion: "0",
    environment: {
      hostname: "host",
      os: "os",
      cpu: "cpu",
      gpus: [],
      command: [],
      device: "cuda:0",
      hydraconf_version: "0",
    },
  });
}

/** What nobody can do without: each kernel finds its region's row of its name. */
function plainSums(timeline: Timeline): number {
  const regions = new Map<number, Map<string, { calls: number; ns: number }>>();
  const perRegion = KERNELS / REGIONS;
  let index = 0;
  for (const { name, startNs, endNs } of timeline.processes[0]?.kernels ?? []) {
    const region = Math.floor(index++ / perRegion);
    const rows = regions.get(region) ?? new Map<string, { calls: number; ns: number }>();
    regions.set(region, rows);
    const row = rows.get(name);
    if (row === undefined) {
      rows.set(name, { calls: 1, ns: endNs - startNs });
    } else {
      row.calls++;
      row.ns += endNs - startNs;
    }
  }
  return regions.size;
}

interface Measured {
  readonly plainMs: number;
  readonly firstMs: number;
  /** Of the whole process at its highest: timeline, document and Node itself. */
  readonly peakMb: number;
  readonly kernels: number;
}

/** In a process of its own: the peak of memory is a process's, and the first time is what users get. */
function measureHere(one: Case): Measured {
  const timeline = timelineOf(one);
  let bundle: RegionReportBundle | null = null;
  const firstMs = timeOf(() => {
    bundle = assemble(timeline);
  });
  const peakMb = process.resourceUsage().maxRSS / 1024;
  const kernels = (bundle as RegionReportBundle | null)?.reports[0]?.totals.kernel_count ?? 0;
  const plainMs = median(Array.from({ length: 5 }, () => timeOf(() => plainSums(timeline))));
  return { plainMs, firstMs, peakMb, kernels };
}

const self = fileURLToPath(import.meta.url);

function measureApart(name: Case["name"]): Measured {
  const loader = fileURLToPath(new URL("../scripts/typescript-loader.mjs", import.meta.url));
  const args = ["--import", loader, self, name];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as Measured;
}

function scoreCase(score: Score, { name, about }: Case): void {
  const runs = Array.from({ length: 3 }, () => measureApart(name));
  const firstMs = median(runs.map((run) => run.firstMs));
  const plainMs = median(runs.map((run) => run.plainMs));
  const peakMb = Math.max(...runs.map((run) => run.peakMb));
  score.holds(
    `${about}: no kernel is lost`,
    runs.every((run) => run.kernels === KERNELS),
    "",
  );
  score.atMost(
    `${about}: document beside plain sums`,
    firstMs / plainMs,
    MOST_TIMES_PLAIN,
    "x",
    `${ms(firstMs)}, plain sums ${ms(plainMs)}`,
  );
  score.atMost(`${about}: time`, firstMs, MOST_MS, "ms");
  score.atMost(`${about}: memory of the process`, peakMb, MOST_MB, "MB");
}

export async function benchAssembly(print: (line: string) => void): Promise<boolean> {
  const score = createScore(print);
  print(`${KERNELS} kernels in ${REGIONS} regions, reports of all, of the process and of the GPU`);
  for (const one of cases) scoreCase(score, one);
  return score.reached();
}

if (process.argv[1] === self) {
  const one = cases.find(({ name }) => name === process.argv[2]);
  if (one !== undefined) console.log(JSON.stringify(measureHere(one)));
  else process.exitCode = (await benchAssembly(console.log)) ? 0 : 1;
}
