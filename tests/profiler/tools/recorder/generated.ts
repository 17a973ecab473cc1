import { closeSync, mkdtempSync, openSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recordType } from "../../../../src/profiler/tools/recorder/format.ts";
import {
  type ChunkContent,
  encodeChunk,
  encodeHeader,
  record,
  records,
  START_NS,
  stringRecord,
  UNIT,
  type Words,
} from "./writer.ts";

export interface GeneratedOptions {
  /** Kernels, launches and ranges: as many of each. */
  readonly events: number;
  /** Different names of ranges, and of kernels. */
  readonly names?: number;
  readonly ranges?: "push_pop" | "start_end";
}

export interface RegionsOptions {
  readonly kernels: number;
  readonly regions: number;
  /** Different names of kernels, which take turns. */
  readonly names: number;
}

/**
 * Writes the recording of a program with regions of as many kernels each, one after another; every
 * tenth lies around the nine after it. A name stands before the first kernel that has it.
 *
 * @returns a directory with that recording
 */
export function recordingOfRegions({ kernels, regions, names }: RegionsOptions): string {
  const perRegion = kernels / regions;
  const regionNs = (perRegion + 2) * 1_000;
  return writeRecording(START_NS + BigInt(regions * regionNs), (append) => {
    const labels = Array.from({ length: regions }, (_, i) => stringRecord(i + 1, `region ${i}`));
    append(0, START_NS, [records.thread(0, 100), ...labels]);
    append(1, START_NS, [records.thread(0, 200)]);
    for (let region = 0; region < regions; region++) {
      const baseNs = START_NS + BigInt(region * regionNs);
      const calls: Words[] = [records.push(0, region + 1)];
      const work: Words[] = [];
      for (let k = 0; k < perRegion; k++) {
        const at = (k + 1) * 1_000;
        const index = region * perRegion + k;
        if (index < names)
          work.push(stringRecord(index + 1, `void kernel_${index}<float>(float*)`));
        calls.push(record(recordType.launch, [at, index + 1], 32));
        work.push(kernelRecord(baseNs + BigInt(at + 500), index + 1, (index % names) + 1));
      }
      if (region % 10 !== 0) calls.push(records.pop(regionNs - 1_000));
      if (region % 10 === 9) calls.push(records.pop(regionNs - 900));
      append(0, baseNs, calls);
      append(1, baseNs, work);
    }
  });
}

/** Ranges per chunk: some 20 KB, as the recorder makes them. */
const PER_CHUNK = 1_000;
const THREADS = 2;

/**
 * Writes the recording of a program whose two threads open a range, launch a kernel in it and close
 * it, over and over. As CUPTI delivers them, the kernels' records stand in a stream of their own.
 *
 * @returns a directory with that recording
 */
export function generatedRecording({
  events,
  names = 50,
  ranges = "push_pop",
}: GeneratedOptions): string {
  const texts = (what: string): Words[] =>
    Array.from({ length: names }, (_, i) => stringRecord(i + 1, `${what} ${i}`));
  return writeRecording(START_NS + BigInt(events) * 1_000n, (append) => {
    for (let thread = 0; thread < THREADS; thread++)
      append(thread, START_NS, [records.thread(0, 100 + thread), ...texts("range")]);
    append(THREADS, START_NS, [records.thread(0, 200), ...texts("_Z6kernel")]);
    for (let first = 0; first < events; first += PER_CHUNK) {
      const count = Math.min(PER_CHUNK, events - first);
      const baseNs = START_NS + BigInt(first) * 1_000n;
      const calls: Words[] = [];
      const work: Words[] = [];
      for (let i = 0; i < count; i++) {
        const correlation = first + i + 1;
        const name = (correlation % names) + 1;
        const at = i * 1_000;
        const id = BigInt(correlation);
        calls.push(ranges === "push_pop" ? records.push(at, name) : records.start(at, id, name));
        calls.push(record(recordType.launch, [at + 100, correlation], 32));
        calls.push(ranges === "push_pop" ? records.pop(at + 900) : records.end(at + 900, id));
        work.push(kernelRecord(baseNs + BigInt(at + 500), correlation, name));
      }
      append((first / PER_CHUNK) % THREADS, baseNs, calls);
      append(THREADS, baseNs, work);
    }
  });
}

type Append = (stream: number, baseNs: bigint, content: readonly Words[]) => void;

/** @returns a directory with a recording of what is appended */
function writeRecording(finishedNs: bigint, write: (append: Append) => void): string {
  const directory = mkdtempSync(join(tmpdir(), "generated-recording-"));
  const file = openSync(join(directory, "1.nvtxrec"), "w");
  let claimed = UNIT;
  const sequences = new Map<number, number>();
  try {
    write((stream, baseNs, content) => {
      const sequence = sequences.get(stream) ?? 0;
      sequences.set(stream, sequence + 1);
      const chunk: ChunkContent = { stream, sequence, baseNs, records: content };
      const bytes = encodeChunk(chunk, true);
      writeSync(file, bytes, 0, bytes.length, claimed);
      claimed += bytes.length;
    });
    const header = encodeHeader(claimed, { finishedNs });
    writeSync(file, header, 0, header.length, 0);
  } finally {
    closeSync(file);
  }
  return directory;
}

function kernelRecord(startNs: bigint, correlation: number, name: number): Words {
  const low = Number(startNs & 0xffffffffn);
  const high = Number(startNs >> 32n);
  const end = startNs + 300n;
  const times = [low, high, Number(end & 0xffffffffn), Number(end >> 32n)];
  return record(recordType.kernel, [correlation, 0, 1, 7, ...times, name]);
}
