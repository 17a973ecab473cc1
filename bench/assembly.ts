/**
 * From a recording of kernels, or an export of Nsight Systems, to the report document, beside the least that has to be done with as many
 * kernels in the same run: `npm run bench assembly`
 */
import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readNsysExport } from "../src/profile/nsys/read/read-export.ts";
import { readRecording } from "../src/profile/recording/index.ts";
import { buildRegionModel, toReportBundle } from "../src/profile/regions/index.ts";
import type { Timeline } from "../src/profile/timeline.ts";
import type { RegionReportBundle } from "../src/report/document.ts";
import { recordingOfRegions } from "../tests/profile/recording/generated.ts";
import { writeNsysExport } from "./generated-nsys-export.ts";
import { cpuTimeOf, median } from "./measure.ts";
import { createScore, ms, type Score } from "./score.ts";

type Source = "recording" | "export";

const KERNELS = 1_000_000;
const REGIONS = 1_000;
/** CPU time that the document may take, which counts the threads of the garbage collector, too. */
const MOST_MS = 5_000;
/**
 * Reading and document may take this many times what JavaScript needs to read the same kernels as JSON, the
 * least that a text trace of them would cost: seconds tell as much of the machine as of the readers.
 * SQLite reads an export's tables first.
 */
const MOST_TIMES_PARSED: Readonly<Record<Source, number>> = { recording: 7, export: 12 };
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

const ROUNDS = 5;

/**
 * CPU time to read the kernels from a file of JSON, some thousands at a time, as a trace is read: the file's bytes, their text and
 * `JSON.parse`, since the readers begin with a file, too. In the process that has just read the same kernels and holds them, and the
 * median of some rounds: a single one takes a tenth more or less, by what the collector of garbage does meanwhile.
 */
function parseMs(timeline: Timeline): number {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-json-"));
  const file = join(folder, "kernels.json");
  try {
    const lengths = writeParts(file, timeline);
    const rounds = Array.from({ length: ROUNDS }, () => cpuTimeOf(() => readParts(file, lengths)));
    return median(rounds);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const PER_PART = 4_096;

/** Writes arrays of kernels, one after the other; returns the bytes of each. */
function writeParts(file: string, timeline: Timeline): readonly number[] {
  const descriptor = openSync(file, "w");
  try {
    const lengths: number[] = [];
    let part: string[] = [];
    const write = (): void => {
      lengths.push(writeSync(descriptor, `[${part.join(",")}]`));
      part = [];
    };
    for (const kernel of timeline.processes[0]?.kernels ?? []) {
      const { name, device, stream, launchNs, startNs, endNs } = kernel;
      part.push(JSON.stringify({ name, device, stream, launchNs, startNs, endNs }));
      if (part.length === PER_PART) write();
    }
    if (part.length > 0) write();
    return lengths;
  } finally {
    closeSync(descriptor);
  }
}

function readParts(file: string, lengths: readonly number[]): void {
  const descriptor = openSync(file, "r");
  try {
    for (const length of lengths) {
      const bytes = Buffer.allocUnsafe(length);
      readSync(descriptor, bytes);
      JSON.parse(bytes.toString());
    }
  } finally {
    closeSync(descriptor);
  }
}

interface Measured {
  readonly plainMs: number;
  readonly parseMs: number;
  readonly readMs: number;
  readonly firstMs: number;
  /** Of the whole process at its highest: timeline, document and Node itself. */
  readonly peakMb: number;
  readonly kernels: number;
}

/** In a process of its own: the peak of memory is a process's, and the first time is what users get. */
function measureHere(source: Source, path: string): Measured {
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
  return { plainMs, parseMs: parseMs(read), readMs, firstMs, peakMb, kernels };
}

const self = fileURLToPath(import.meta.url);

function measureApart(source: Source, path: string): Measured {
  const loader = fileURLToPath(new URL("../scripts/typescript-loader.mjs", import.meta.url));
  const args = ["--import", loader, self, source, path];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as Measured;
}

function write({ source, names }: Case): string {
  const options = { kernels: KERNELS, regions: REGIONS, names };
  if (source === "recording") return recordingOfRegions(options);
  const file = join(mkdtempSync(join(tmpdir(), "hydraconf-export-")), "run.sqlite");
  writeNsysExport(file, options);
  return file;
}

function scoreCase(score: Score, one: Case): void {
  const { about, source } = one;
  const path = write(one);
  try {
    const runs = Array.from({ length: 3 }, () => measureApart(source, path));
    const firstMs = median(runs.map((run) => run.firstMs));
    const plainMs = median(runs.map((run) => run.plainMs));
    const readMs = median(runs.map((run) => run.readMs));
    const parseMs = median(runs.map((run) => run.parseMs));
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
      `${about}: with reading, beside JSON.parse`,
      (readMs + firstMs) / parseMs,
      MOST_TIMES_PARSED[source],
      "x",
      `${ms(readMs + firstMs)}, reading the file ${ms(readMs)}; JSON.parse ${ms(parseMs)}`,
    );
    score.atMost(`${about}: memory, with reading`, peakMb, MOST_MB, "MB");
  } finally {
    rmSync(source === "export" ? dirname(path) : path, { recursive: true, force: true });
  }
}

export async function benchAssembly(print: (line: string) => void): Promise<boolean> {
  const score = createScore(print);
  print(`${KERNELS} kernels in ${REGIONS} regions, reports of all, of the process and of the GPU`);
  for (const one of cases) scoreCase(score, one);
  return score.reached();
}

if (process.argv[1] === self) {
  const [, , source, path] = process.argv;
  if (path !== undefined) console.log(JSON.stringify(measureHere(source as Source, path)));
  else process.exitCode = (await benchAssembly(console.log)) ? 0 : 1;
}
