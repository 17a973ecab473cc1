/**
 * Reading what Nsight Compute exported: speed beside a plain scan for line ends of the same file in the
 * same process, and memory; the same saved again by another program; and assembly of a million kernel results in a thousand regions.
 */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { createMetricColumns, type NvtxState } from "../src/profiler/model/counters.ts";
import { createNcuAssembly } from "../src/profiler/tools/ncu/assemble/assembly.ts";
import { streamNcuCsvFile } from "../src/profiler/tools/ncu/csv/read-csv.ts";
import { savedAgain, writeNcuCsv } from "./generated-ncu-csv.ts";
import { createScore } from "./score.ts";

const CSV_BYTES = 1e9;
const RESULTS = 1_000_000;
const REGIONS = 1_000;

interface Found {
  /** Time of the processor, all threads: what else the machine does is no part of it. */
  readonly ms: number;
  /** Of the whole process, in MB. */
  readonly memory: number;
  /** Of the baseline. */
  readonly scanMs?: number;
}

/** True: the goals are reached. */
export async function benchNcu(print: (line: string) => void): Promise<boolean> {
  const score = createScore(print);
  const directory = mkdtempSync(join(tmpdir(), "hydraconf-ncu-bench-"));
  try {
    const file = join(directory, "raw.csv");
    writeNcuCsv(file, CSV_BYTES);
    const megabytes = statSync(file).size / 1e6;
    const csv = await inOwnProcess("csv", file);
    const speed = megabytes / (csv.ms / 1000);
    const detail = `${speed.toFixed(0)} MB/s; a scan for line ends ${(megabytes / ((csv.scanMs ?? 1) / 1000)).toFixed(0)} MB/s`;
    score.holds("a CSV of 1 GB is read at 50 MB/s or more", speed >= 50, detail);
    score.atMost("the same beside a scan for line ends", csv.ms / (csv.scanMs ?? 1), 80, "x");
    score.atMost("memory of the process that reads it", csv.memory, 200, "MB");
    const again = join(directory, "again.csv");
    writeNcuCsv(again, CSV_BYTES, savedAgain);
    const saved = await inOwnProcess("csv", again);
    const savedSpeed = statSync(again).size / 1e6 / (saved.ms / 1000);
    const beside = `${savedSpeed.toFixed(0)} MB/s; ncu's own ${speed.toFixed(0)} MB/s`;
    score.atMost("the same saved again by pandas, per byte", speed / savedSpeed, 1.5, "x", beside);
    score.atMost("memory of the process that reads that", saved.memory, 200, "MB");
    const assembly = await inOwnProcess("assembly", "");
    score.atMost("1,000,000 results in 1,000 regions", assembly.ms / 1000, 5, "s");
    score.atMost("memory of the process that assembles them", assembly.memory, 500, "MB");
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return score.reached();
}

async function inOwnProcess(what: string, file: string): Promise<Found> {
  const loader = fileURLToPath(new URL("../scripts/typescript-loader.mjs", import.meta.url));
  const { stdout } = await execa(process.execPath, [
    ...["--import", loader, fileURLToPath(import.meta.url)],
    ...[what, file],
  ]);
  return JSON.parse(stdout) as Found;
}

async function readCsv(file: string): Promise<Found> {
  const scanMs = scanLines(file);
  const assembly = createNcuAssembly();
  const started = processorMs();
  const { sections, notes } = await streamNcuCsvFile(file, assembly.add);
  assembly.finish({ sections, notes });
  return { ms: processorMs() - started, memory: memory(), scanMs };
}

/** Milliseconds to look for every line's end. */
function scanLines(file: string): number {
  const started = processorMs();
  const chunk = Buffer.alloc(1 << 20);
  const descriptor = openSync(file, "r");
  let lines = 0;
  for (;;) {
    const bytes = readSync(descriptor, chunk, 0, chunk.length, null);
    if (bytes === 0) break;
    const part = chunk.subarray(0, bytes);
    for (let at = part.indexOf(10); at >= 0; at = part.indexOf(10, at + 1)) lines++;
  }
  closeSync(descriptor);
  if (lines === 0) throw new Error("the generated file has lines");
  return processorMs() - started;
}

function assemble(): Found {
  const columns = createMetricColumns(
    [
      "gpu__time_duration.sum",
      "dram__bytes.sum",
      "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    ],
    ["ns", "byte", "%"],
  );
  const states = Array.from(
    { length: REGIONS },
    (_, at): NvtxState => ({
      pushPop: [
        { domain: "", name: `step ${at >> 3}` },
        { domain: "", name: `layer ${at}` },
      ],
      startEnd: [],
    }),
  );
  const started = processorMs();
  const assembly = createNcuAssembly();
  for (let id = 0; id < RESULTS; id++)
    assembly.add({
      kind: "kernel",
      id,
      processId: 1 + (id % 2),
      processName: "p",
      device: `cuda:${id % 2}`,
      deviceName: null,
      kernelName: `kernel_${id % 50}`,
      context: "1",
      stream: "7",
      nvtx: states[id % REGIONS] as NvtxState,
      columns,
      values: Float64Array.of(id % 1000, id, id % 100),
    });
  const { scopes } = assembly.finish({ sections: new Map(), notes: [] });
  const ms = processorMs() - started;
  if (scopes[0]?.totals.kernelCount !== RESULTS) throw new Error("a result was lost");
  return { ms, memory: memory() };
}

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e3;
}

const memory = (): number => process.resourceUsage().maxRSS / 1e3;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [what, file = ""] = process.argv.slice(2);
  const found = what === "csv" ? await readCsv(file) : assemble();
  console.log(JSON.stringify(found));
}
