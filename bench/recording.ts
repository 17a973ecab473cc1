/**
 * Reading a recording of a million ranges, launches and kernels, beside the sum of the words of the
 * same file in the same run: `npm run bench recording`
 */
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readRecording } from "../src/profiler/tools/recorder/read.ts";
import { generatedRecording } from "../tests/profiler/tools/recorder/generated.ts";
import { cpuTimeOf, median } from "./measure.ts";
import { createScore, ms, type Score } from "./score.ts";

const EVENTS = 1_000_000;
/** CPU time, which counts the threads of the garbage collector, too. */
const MOST_MS = 3_000;
const MOST_MB = 700;
/** Reading may take this many times what the sum takes. */
const MOST_TIMES_PLAIN = 60;
/** Of ten times the events beside one time. */
const MOST_GROWTH = 13;

interface Measured {
  readonly plainMs: number;
  readonly readMs: number;
  /** Of the whole process at its highest: the timeline and Node itself. */
  readonly peakMb: number;
  readonly ranges: number;
  readonly launched: number;
}

function sumOfWords(directory: string): number {
  const bytes = readFileSync(join(directory, "1.nvtxrec"));
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  let sum = 0;
  for (let i = 0; i < words.length; i++) sum = (sum + (words[i] ?? 0)) | 0;
  return sum;
}

/** In a process of its own: the peak of memory is a process's, and the first time is what users get. */
function measureHere(directory: string): Measured {
  let ranges = 0;
  let launched = 0;
  const readMs = cpuTimeOf(() => {
    for (const process of readRecording(directory).processes) {
      ranges += process.ranges.filter(({ endNs }) => endNs !== null).length;
      launched += [...process.kernels].filter(
        ({ launchThreadId }) => launchThreadId !== null,
      ).length;
    }
  });
  const peakMb = process.resourceUsage().maxRSS / 1024;
  const plainMs = median(Array.from({ length: 5 }, () => cpuTimeOf(() => sumOfWords(directory))));
  return { plainMs, readMs, peakMb, ranges, launched };
}

const self = fileURLToPath(import.meta.url);

function measureApart(directory: string): Measured {
  const loader = fileURLToPath(new URL("../scripts/typescript-loader.mjs", import.meta.url));
  const args = ["--import", loader, self, directory];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as Measured;
}

function scoreRanges(score: Score, ranges: "push_pop" | "start_end"): void {
  const large = generatedRecording({ events: EVENTS, ranges });
  const small = generatedRecording({ events: EVENTS / 10, ranges });
  try {
    const rounds = Array.from({ length: 3 }, () => ({
      small: measureApart(small),
      large: measureApart(large),
    }));
    const readMs = median(rounds.map((round) => round.large.readMs));
    const plainMs = median(rounds.map((round) => round.large.plainMs));
    const growth = readMs / median(rounds.map((round) => round.small.readMs));
    const peakMb = Math.max(...rounds.map((round) => round.large.peakMb));
    score.holds(
      `${ranges}: nothing is lost`,
      rounds.every(({ large: { ranges, launched } }) => ranges === EVENTS && launched === EVENTS),
      "",
    );
    const detail = `sum of the words ${ms(plainMs)}`;
    score.atMost(`${ranges}: beside a plain sum`, readMs / plainMs, MOST_TIMES_PLAIN, "x", detail);
    score.atMost(`${ranges}: CPU time`, readMs, MOST_MS, "ms");
    score.atMost(`${ranges}: 10x the events`, growth, MOST_GROWTH, "x");
    score.atMost(`${ranges}: memory of the process`, peakMb, MOST_MB, "MB");
  } finally {
    for (const directory of [small, large]) rmSync(directory, { recursive: true, force: true });
  }
}

export async function benchRecording(print: (line: string) => void): Promise<boolean> {
  const score = createScore(print);
  print(`${EVENTS} ranges, as many launches and as many kernels in one file`);
  for (const ranges of ["push_pop", "start_end"] as const) scoreRanges(score, ranges);
  return score.reached();
}

if (process.argv[1] === self) {
  const directory = process.argv[2];
  if (directory !== undefined) console.log(JSON.stringify(measureHere(directory)));
  else process.exitCode = (await benchRecording(console.log)) ? 0 : 1;
}
