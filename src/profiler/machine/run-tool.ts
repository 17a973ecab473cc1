/** Tools that read recordings: `nsys export`, `nsys stats`, `ncu --import`. */

import { statSync } from "node:fs";
import { clearInterval, setInterval } from "node:timers";
import {
  askProgram,
  type Question,
  type StreamedAnswer,
} from "../../foundation/system/ask-program.ts";

/** How to wait for a slow tool. */
export interface ToolControl {
  /** Ends the tool and its children. */
  readonly stop: AbortSignal;
  /** Called at intervals while the tool runs. */
  readonly say: (line: string) => void;
  /** The interval in milliseconds; default one minute. */
  readonly everyMs?: number;
}

export interface ToolWork {
  /** In words, e.g. `exporting run.nsys-rep with nsys`. */
  readonly doing: string;
  /** The file that the tool writes, whose growth shows its progress. */
  readonly output?: string;
}

const MINUTE_MS = 60_000;

/** How long a tool may take to end after a signal, in milliseconds. */
const GRACE_MS = 2_000;

const MAX_BYTES = 100e6;

/**
 * Asks a tool in a process group of its own: this process handles Ctrl-C, and `stop` decides what ends. A report of
 * gigabytes takes it an unpredictable time, so there is no time limit, but the user sees its progress.
 */
export async function askTool(
  question: Pick<Question, "argv" | "env" | "stdout">,
  work: ToolWork,
  control: ToolControl,
): Promise<StreamedAnswer> {
  const progress = reportProgress(work, control);
  const limits = { abort: control.stop, graceMs: GRACE_MS, maxBytes: MAX_BYTES };
  try {
    return await askProgram({ ...question, ...limits, group: true });
  } finally {
    progress.dispose();
  }
}

function reportProgress({ doing, output }: ToolWork, { say, everyMs = MINUTE_MS }: ToolControl) {
  const started = performance.now();
  const timer = setInterval(() => {
    const minutes = Math.round((performance.now() - started) / MINUTE_MS);
    const written = output === undefined ? null : sizeOf(output);
    const size = written === null ? "" : `, ${Math.round(written / 1e6)} MB written`;
    say(`still ${doing}: ${minutes} min${size}`);
  }, everyMs);
  return { dispose: () => clearInterval(timer) };
}

const sizeOf = (file: string): number | null =>
  statSync(file, { throwIfNoEntry: false })?.size ?? null;
