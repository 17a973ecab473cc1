/**
 * From a recording of kernels, or an export of Nsight Systems, to the report document, beside what a script takes for as many kernels in
 * the same run: `npm run bench assembly`
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildRegionModel } from "../src/profiler/analysis/build.ts";
import { toReportBundle } from "../src/profiler/analysis/to-report.ts";
import type { Timeline } from "../src/profiler/model/timeline.ts";
import { readNsysExport } from "../src/profiler/tools/nsys/read/read-export.ts";
import { readRecording } from "../src/profiler/tools/recorder/read.ts";
import type { RegionReportBundle } from "../src/report/model/document.ts";
import { recordingOfRegions } from "../tests/profiler/tools/recorder/generated.ts";
import { writeNsysExport } from "./generated-nsys-export.ts";
import { addTo, type Sums, sumUp, writeKernels } from "./kernel-script.ts";
import { cpuTimeOf, median } from "./measure.ts";
import { createScore, ms, type Score } from "./score.ts";

type Source = "recording" | "export";

const KERNELS = 1_000_000;
const REGIONS = 1_000;
const PER_REGION = KERNELS / REGIONS;
/** CPU time that the document may take, which counts the threads of the garbage collector, too. */
const MOST_MS = 5_000;
/**
 * Reading and document may take this many times what a script takes that reads the same kernels as JSON and sums them up by region
 * and name. `JSON.parse` alone would be no measure: how its time and that of maps of a million names relate differs by half from one
 * machine to the next. SQLite reads an export's tables first.
 */
const MOST_TIMES_SCRIPT: Readonly<Record<Source, number>> = { recording: 4, export: 7 };
/** Of the process that reads the file and makes the document. */
const MOST_MB = 500;
/** Summing up by region and name in two plain maps; the document may take this many times that. */
const MOST_TIMES_PLAIN = 25;

interface Case {
  readonly about: string;
  readonly source: Source;
  /** Different names of kernels. With 1,000 of them there is a row for every kernel of a region. */
  readonly names: number;
}

/**
 * A million names are the worst of its size: no two launches share a row, and nine of ten kernels have a row in two
 * regions. What it does not show: its names have 30 characters, and longer ones take a byte more for each
 * character; several processes with a million names of their own take that much more; and files of the
 * reports, which are 1 GB then and written in pieces, take time of their own.
 */
const cases: readonly Case[] = [
  { about: "50 names", source: "recording", names: 50 },
  { about: "1,000 names", source: "recording", names: 1_000 },
  { about: "1,000,000 names", source: "recording", names: 1_000_000 },
  { about: "nsys, 50 names", source: "export", names: 50 },
  { about: "nsys, 1,000,000 names", source: "export", names: 1_000_000 },
];

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

function plainSums(timeline: Timeline): Sums {
  const sums: Sums = new Map();
  let index = 0;
  for (const kernel of timeline.processes[0]?.kernels ?? [])
    addTo(sums, Math.floor(index++ / PER_REGION), kernel);
  return sums;
}

interface Measured {
  readonly plainMs: number;
  readonly readMs: number;
  readonly firstMs: number;
  /** Of the whole process at its highest: timeline, document and Node itself. */
  readonly peakMb: number;
  readonly kernels: number;
}

/**
 * In a process of its own: the peak of memory is a process's, and the first time is what users get.
 *
 * @param json the folder for the same kernels as a script reads them, if it is not there yet
 */
function measureHere(source: Source, path: string, json: string): Measured {
  let timeline: Timeline | null = null;
  const readMs = cpuTimeOf(() => {
    timeline = source === "export" ? readNsysExport(path) : readRecording(path);
  });
  const read = timeline as unknown as Timeline;
  let bundle: RegionReportBundle | null = null;
  const firstMs = cpuTimeOf(() => {
    bundle = assemble(read);
  });
  const peakMb = process.resourceUsage().maxRSS / 1024;
  const kernels = (bundle as RegionReportBundle | null)?.reports[0]?.totals.kernel_count ?? 0;
  const plainMs = median(Array.from({ length: 5 }, () => cpuTimeOf(() => plainSums(read))));
  if (!existsSync(json)) writeKernels(json, read.processes[0]?.kernels ?? []);
  return { plainMs, readMs, firstMs, peakMb, kernels };
}

/** First argument of the process that is the script. */
const SCRIPT = "script";

const self = fileURLToPath(import.meta.url);

/** Runs this file with the arguments, in a process of its own. */
function apart(...args: readonly string[]): unknown {
  const loader = fileURLToPath(new URL("../scripts/typescript-loader.mjs", import.meta.url));
  const all = ["--import", loader, self, ...args];
  return JSON.parse(execFileSync(process.execPath, all, { encoding: "utf8" }));
}

/** @param folder of the case */
function write({ source, names }: Case, folder: string): string {
  const options = { kernels: KERNELS, regions: REGIONS, names };
  if (source === "recording") return recordingOfRegions(options);
  const file = join(folder, "run.sqlite");
  writeNsysExport(file, options);
  return file;
}

function scoreCase(score: Score, one: Case): void {
  const { about, source } = one;
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-assembly-"));
  const path = write(one, folder);
  const json = join(folder, "json");
  try {
    const rounds = Array.from({ length: 3 }, () => ({
      run: apart(source, path, json) as Measured,
      scriptMs: apart(SCRIPT, json) as number,
    }));
    const runs = rounds.map(({ run }) => run);
    const firstMs = median(runs.map((run) => run.firstMs));
    const plainMs = median(runs.map((run) => run.plainMs));
    const readMs = median(runs.map((run) => run.readMs));
    const scriptMs = median(rounds.map((round) => round.scriptMs));
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
    score.atMost(`${about}: CPU time of the document`, firstMs, MOST_MS, "ms");
    score.atMost(
      `${about}: with reading, beside a script`,
      (readMs + firstMs) / scriptMs,
      MOST_TIMES_SCRIPT[source],
      "x",
      `${ms(readMs + firstMs)}, reading the file ${ms(readMs)}; the script ${ms(scriptMs)}`,
    );
    score.atMost(`${about}: memory, with reading`, peakMb, MOST_MB, "MB");
  } finally {
    for (const directory of [folder, path]) rmSync(directory, { recursive: true, force: true });
  }
}

export async function benchAssembly(print: (line: string) => void): Promise<boolean> {
  const score = createScore(print);
  print(`${KERNELS} kernels in ${REGIONS} regions, reports of all, of the process and of the GPU`);
  for (const one of cases) scoreCase(score, one);
  return score.reached();
}

if (process.argv[1] === self) {
  const [, , what, path, json = ""] = process.argv;
  if (path === undefined) process.exitCode = (await benchAssembly(console.log)) ? 0 : 1;
  else if (what === SCRIPT) console.log(cpuTimeOf(() => sumUp(path, KERNELS, PER_REGION)));
  else console.log(JSON.stringify(measureHere(what as Source, path, json)));
}
