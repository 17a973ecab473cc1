/**
 * What reports of very many ranges take: `npm run bench bounded`. Recordings of 20 million ranges under one label, and of a
 * million distinct labels, numbered ones and others, and an export of nsys, each imported in a process of its own.
 */
import { spawnSync } from "node:child_process";
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  CHUNK_HEADER_BYTES,
  CHUNK_MAGIC,
  chunkHeader,
  recordFlag,
  recordType,
} from "../src/profiler/tools/recorder/format.ts";
import { encodeHeader, START_NS, UNIT } from "../tests/profiler/tools/recorder/writer.ts";
import { writeNsysExport } from "./generated-nsys-export.ts";

export interface ManyRanges {
  readonly ranges: number;
  /** The label of each range, by its number. */
  readonly labelOf: (range: number) => string;
  /** Whether all of them lie inside one range around. */
  readonly isNested?: boolean;
  /** Whether each ends after the next one has begun (`nvtxRangeStart`). */
  readonly isOverlapping?: boolean;
}

const CHUNK_WORDS = (64 * 1024) / 4;
const CHUNK_HEADER_WORDS = CHUNK_HEADER_BYTES / 4;
const RANGE_NS = 1_000;

/** Writes the recording of one thread that opens and closes ranges one after another, with its processor time. @returns its directory */
export function recordManyRanges({
  ranges,
  labelOf,
  isNested = false,
  isOverlapping = false,
}: ManyRanges): string {
  const directory = mkdtempSync(join(tmpdir(), "many-ranges-"));
  const file = openSync(join(directory, "events-100-1.nvtxrec"), "w");
  const chunk = new Uint32Array(CHUNK_WORDS);
  const view = new DataView(chunk.buffer);
  const ids = new Map<string, number>();
  let claimed = UNIT;
  let sequence = 0;
  let at = CHUNK_HEADER_WORDS;
  let base = START_NS;
  let now = START_NS;
  const flush = (): void => {
    view.setUint32(chunkHeader.magic, CHUNK_MAGIC, true);
    view.setUint32(chunkHeader.bytes, chunk.byteLength, true);
    view.setUint32(chunkHeader.stream, 0, true);
    view.setUint32(chunkHeader.sequence, sequence++, true);
    view.setBigUint64(chunkHeader.baseNs, base, true);
    view.setUint32(chunkHeader.usedBytes, (at - CHUNK_HEADER_WORDS) * 4, true);
    writeSync(file, chunk, 0, chunk.byteLength, claimed);
    claimed += chunk.byteLength;
    chunk.fill(0);
    at = CHUNK_HEADER_WORDS;
    base = now;
  };
  const put = (type: number, flags: number, words: readonly number[]): void => {
    if (at + words.length + 1 > CHUNK_WORDS) {
      // The time of a record counts from its chunk.
      flush();
      if (type !== recordType.string) words = [0, ...words.slice(1)];
    }
    chunk[at++] = type | (flags << 8) | ((words.length + 1) << 16);
    for (const word of words) chunk[at++] = word;
  };
  let cpu = 0;
  const time = (): number => Number(now - base);
  const timed = recordFlag.processorTime;
  const nameOf = (label: string): number => {
    const known = ids.get(label);
    if (known !== undefined) return known;
    const id = ids.size + 1;
    ids.set(label, id);
    const bytes = Buffer.from(label);
    const padded = Buffer.alloc(Math.ceil(bytes.length / 4) * 4);
    bytes.copy(padded);
    const words = Array.from({ length: padded.length / 4 }, (_, i) => padded.readUInt32LE(i * 4));
    put(recordType.string, 0, [id, bytes.length, ...words]);
    return id;
  };
  try {
    put(recordType.thread, 0, [0, 100]);
    if (isNested) put(recordType.push, timed, [time(), nameOf("all"), cpu]);
    for (let range = 0; range < ranges; range++) {
      const name = nameOf(labelOf(range));
      if (isOverlapping) put(recordType.start, timed, [time(), range + 1, 0, name, cpu % 2 ** 31]);
      else put(recordType.push, timed, [time(), name, cpu % 2 ** 31]);
      // A spread of times without a pattern, the same in each run.
      const took = 200 + (Math.imul(range, 0x9e3779b1) >>> 23);
      now += BigInt(took);
      cpu += took - 100;
      if (cpu >= 2 ** 31) {
        cpu -= 2 ** 31;
      }
      if (!isOverlapping) put(recordType.pop, timed, [time(), cpu]);
      else if (range > 0) put(recordType.end, timed, [time(), range, 0, cpu]);
      now += BigInt(RANGE_NS - took);
    }
    if (isNested) put(recordType.pop, timed, [time(), cpu]);
    flush();
    writeSync(file, encodeHeader(claimed, { finishedNs: now + 1n }), 0, UNIT, 0);
  } finally {
    closeSync(file);
  }
  return directory;
}

const MILLION = 1_000_000;

interface Trial {
  readonly name: string;
  /** Writes what is imported. @returns its directory */
  readonly write: () => string;
  readonly mostMb: number;
  readonly mostSeconds: number;
}

/** Without digits, which would fold. */
const inLetters = (number: number): string =>
  [...String(number)].map((digit) => "abcdefghij"[Number(digit)]).join("");

export const TRIALS: readonly Trial[] = [
  {
    name: "20 M ranges, one label",
    write: () => recordManyRanges({ ranges: 20 * MILLION, labelOf: () => "step" }),
    mostMb: 700,
    mostSeconds: 60,
  },
  {
    name: "1 M numbered labels",
    write: () => recordManyRanges({ ranges: MILLION, labelOf: (range) => `op_id = ${range}` }),
    mostMb: 1200,
    mostSeconds: 90,
  },
  {
    name: "1 M other labels",
    write: () =>
      recordManyRanges({ ranges: MILLION, labelOf: (range) => `label ${inLetters(range)}` }),
    mostMb: 1200,
    mostSeconds: 90,
  },
  {
    name: "5 M overlapping ranges",
    write: () =>
      recordManyRanges({ ranges: 5 * MILLION, labelOf: () => "copy", isOverlapping: true }),
    mostMb: 700,
    mostSeconds: 60,
  },
  {
    name: "nsys, 1 M ranges, 1 M kernels",
    write: () => exportManyRanges(MILLION),
    mostMb: 700,
    mostSeconds: 60,
  },
];

/** An export of nsys: numbered labels, and a kernel in each. */
function exportManyRanges(ranges: number): string {
  const directory = mkdtempSync(join(tmpdir(), "many-ranges-"));
  const size = { kernels: ranges, regions: ranges, names: 50 };
  writeNsysExport(join(directory, "run.sqlite"), size);
  return directory;
}

export interface Imported {
  readonly seconds: number;
  readonly peakMb: number;
  readonly mb: number;
  readonly files: number;
}

/** Imports a recording in a process of its own; the peak is that of all its memory. */
export function importApart(directory: string): Imported {
  const output = join(directory, "reports");
  const own = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  const tell =
    'data:text/javascript,process.on("exit",()=>console.error("peak",process.resourceUsage().maxRSS))';
  const started = performance.now();
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--import", own("../scripts/typescript-loader.mjs"), "--import", tell].concat(
      own("../src/bin/deep-profile.ts"),
      "import",
      directory,
      "--output",
      output,
    ),
    { encoding: "utf8", env: { ...process.env, DEEP_PROFILE_APART: "1" } },
  );
  const seconds = (performance.now() - started) / 1000;
  const peak = /^peak (\d+)$/m.exec(stderr)?.[1];
  if (status !== 0 || peak === undefined) throw new Error(`the import failed: ${stderr}`);
  const files = readdirSync(output, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const bytes = files.reduce(
    (sum, file) => sum + statSync(join(file.parentPath, file.name)).size,
    0,
  );
  return { seconds, peakMb: Number(peak) / 1024, mb: bytes / 1e6, files: files.length };
}

export async function benchBounded(print: (line: string) => void): Promise<boolean> {
  let reached = true;
  for (const { name, write, mostMb, mostSeconds } of TRIALS) {
    const directory = write();
    try {
      const { seconds, peakMb, mb, files } = importApart(directory);
      const holds = seconds <= mostSeconds && peakMb <= mostMb && mb <= 100;
      reached &&= holds;
      print(
        `${name.padEnd(30)}${seconds.toFixed(0)} s, ${peakMb.toFixed(0)} MB of memory, ${mb.toFixed(1)} MB in ${files} files (at most ${mostSeconds} s, ${mostMb} MB, 100 MB)${holds ? "" : ": MISSED"}`,
      );
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  return reached;
}
