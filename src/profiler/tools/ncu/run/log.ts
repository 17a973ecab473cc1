/** Reads the output of ncu: its log, line by line, and its errors and warnings within the output of a program. */
import { closeSync, openSync, readSync } from "node:fs";

// Reads ncu's progress: the lines of its log that begin with `==PROF==` and others.

export interface NcuLog {
  /** Kernels or ranges measured to the end. */
  readonly finished: number;
  /** The kernel or range being measured, under ncu's name (long names are cut); null between them. */
  readonly current: string | null;
  /** The progress of the current measurement. */
  readonly percent: number;
  /** `==WARNING==` and `==ERROR==` lines without the mark, each text once. */
  readonly warnings: readonly string[];
  readonly errors: readonly string[];
  /** Names of the kernels that ran, which ncu lists if none passed its filters. */
  readonly kernels: readonly string[];
}

export interface NcuLogReader {
  /** Takes the next piece of the log, cut at any position. */
  readonly push: (text: string) => void;
  readonly state: () => NcuLog;
}

const PROFILING = /^==PROF== Profiling "(.*)" - \d+: ?(.*)$/s;
const OLD_PROFILING = /^==PROF== Profiling "(.*)": ?(.*)$/s;
/** The heading of the list of kernels, and one of its lines: `1. gemm`. */
const KERNELS = "Available Kernels:";
const KERNEL = /^\d+\. (.+)$/s;

/** ncu writes a progress line in pieces, and other lines may come in between. */
export function createLogReader(): NcuLogReader {
  let rest = "";
  let finished = 0;
  let current: string | null = null;
  let percent = 0;
  const warnings = new Set<string>();
  const errors = new Set<string>();
  const kernels = new Set<string>();
  let listsKernels = false;

  const progress = (text: string, complete: boolean) => {
    for (const [, step] of text.matchAll(/(?<!\d)(\d+)%/g))
      percent = Math.max(percent, Number(step));
    if (!/ - \d+ pass(es)?\s*$/.test(text) && !(complete && percent === 100)) return;
    if (percent === 100) finished++;
    current = null;
    percent = 0;
  };
  const line = (text: string, complete: boolean) => {
    const profiling = PROFILING.exec(text) ?? OLD_PROFILING.exec(text);
    if (profiling !== null) {
      current = profiling[1] ?? "";
      percent = 0;
      progress(profiling[2] ?? "", complete);
    } else if (/^\.{4}/.test(text)) progress(text, complete);
    else if (complete) message(text);
  };
  const message = (text: string) => {
    const [, mark, words = ""] = /^==(WARNING|ERROR)== (.*)$/s.exec(text) ?? [];
    if (mark === "WARNING") warnings.add(words);
    if (mark === "ERROR") errors.add(words);
    const kernel = listsKernels ? KERNEL.exec(text)?.[1] : undefined;
    if (kernel !== undefined) kernels.add(kernel);
    listsKernels = kernel !== undefined || text === KERNELS;
  };

  return {
    push: (text) => {
      const lines = (rest + text).split(/\r?\n/);
      rest = lines.pop() ?? "";
      for (const whole of lines) line(whole, true);
    },
    state: () => {
      // An unfinished line is evaluated now, and again with its rest.
      const kept = { finished, current, percent };
      line(rest, false);
      const shown = { finished, current, percent };
      ({ finished, current, percent } = kept);
      return { ...shown, warnings: [...warnings], errors: [...errors], kernels: [...kernels] };
    },
  };
}

/**
 * From ncu's mark to the end of the line or the next mark; output of the program without a line break may precede it. A
 * line that is longer than any message of ncu is cut.
 */
const OWN_LINE = /==(?:ERROR|WARNING)== (?:(?!==(?:ERROR|WARNING)== ).){0,8192}/g;

const CHUNK_BYTES = 1 << 20;
/** Much longer than any message; a program may print without line breaks. */
const LONGEST_LINE = 64 << 10;
/** ncu repeats messages for each kernel: the first ones are sufficient. */
const MOST_LINES = 10_000;

/** Errors and warnings of ncu in a text, one per line. */
export const diagnosticsIn = (text: string): readonly string[] => text.match(OWN_LINE) ?? [];

/**
 * Errors and warnings of ncu in a file with the output of a program; reads it piece by piece, whatever its size. Empty
 * if the file does not exist.
 */
export function diagnosticsOf(file: string): readonly string[] {
  const lines: string[] = [];
  let rest = "";
  for (const piece of piecesOf(file)) {
    const text = rest + piece;
    const end = text.lastIndexOf("\n") + 1;
    lines.push(...diagnosticsIn(text.slice(0, end)));
    rest = text.slice(Math.max(end, text.length - LONGEST_LINE));
    if (lines.length > MOST_LINES) return lines.slice(0, MOST_LINES);
  }
  return [...lines, ...diagnosticsIn(rest)];
}

function* piecesOf(file: string): Generator<string> {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch {
    return;
  }
  try {
    const decoder = new TextDecoder();
    const bytes = new Uint8Array(CHUNK_BYTES);
    for (;;) {
      const length = readSync(descriptor, bytes);
      if (length === 0) return;
      yield decoder.decode(bytes.subarray(0, length), { stream: true });
    }
  } finally {
    closeSync(descriptor);
  }
}
