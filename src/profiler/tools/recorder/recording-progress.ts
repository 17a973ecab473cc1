/** The progress of a recording while its program runs. */
import {
  checkOptions,
  listOf,
  type OptionChecks,
  optional,
  text,
} from "../../../engine/values/check-options.ts";
import { isCodedError } from "../../../engine/values/errors.ts";
import { isSystemError } from "../../../foundation/system/files.ts";
import { getOrCreate } from "../../../foundation/system/get-or-create.ts";
import { createNotes, type RangeId, type RecordedEvent } from "./events.ts";
import { recordingFiles } from "./read.ts";
import { openRecording, type RecordingCursor } from "./recording-cursor.ts";

/** Per file and call: watching a program must not slow it down (some 20 ms of reading). */
const BUDGET_BYTES = 512 * 1024;

/** The progress of a running recording. */
export interface RecordingProgress {
  readonly processes: number;
  /** Ranges opened so far. */
  readonly ranges: number;
  /** Name of the range opened last among those still open. */
  readonly openRegion: string | null;
}

/** What to count in a growing recording. */
export interface WatchOptions {
  /** Domains to ignore, e.g. those of single operations. */
  readonly ignoreDomains?: readonly string[];
}

const OPTIONS: OptionChecks<WatchOptions> = {
  ignoreDomains: optional(listOf("strings", text, '["my_program.ops"]')),
};

/**
 * Watches the recordings of a directory while they grow. Each call of the result reads only new events, and not all of
 * them if there are very many: the count then lags behind. Files that cannot be read (yet) are skipped: readRecording()
 * reports them.
 */
export function watchRecording(
  directory: string,
  options: WatchOptions = {},
): () => RecordingProgress {
  checkOptions("watchRecording", options, OPTIONS);
  const ignored = new Set(options.ignoreDomains);
  const cursors = new Map<string, RecordingCursor>();
  const tracker = createTracker(ignored);
  return () => {
    for (const path of ifReadable(() => recordingFiles(directory)) ?? []) {
      const cursor = cursors.get(path) ?? openRecording(path, tracker.sink(), createNotes(), 0n);
      cursors.set(path, cursor);
      // A run can have thousands of processes: those that ended are not read again.
      if (!cursor.isComplete()) ifReadable(() => cursor.advance(BUDGET_BYTES));
    }
    return { processes: cursors.size, ...tracker.state() };
  };
}

interface OpenRange {
  readonly name: string;
  readonly timeNs: number;
}

interface FileTracker {
  /** Per stream and domain, innermost last. */
  readonly stacks: Map<string, OpenRange[]>;
  readonly started: Map<RangeId, OpenRange>;
}

/** Counts ranges and tracks the open ones, without keeping closed ones. */
function createTracker(ignored: ReadonlySet<string>) {
  const files: FileTracker[] = [];
  let ranges = 0;

  const handle = ({ stacks, started }: FileTracker, event: RecordedEvent): void => {
    if (event.kind === "end") {
      started.delete(event.rangeId);
    } else if (event.kind === "push" || event.kind === "pop") {
      if (ignored.has(event.domain)) return;
      const key = `${event.stream} ${event.domain}`;
      if (event.kind === "pop") {
        stacks.get(key)?.pop();
        return;
      }
      ranges++;
      getOrCreate(stacks, key, () => []).push(event);
    } else if (event.kind === "start" && !ignored.has(event.domain)) {
      ranges++;
      started.set(event.rangeId, event);
    }
  };

  const latestOpen = (): OpenRange | null => {
    let latest: OpenRange | null = null;
    for (const { stacks, started } of files) {
      const tops = [...stacks.values()].map((stack) => stack.at(-1));
      for (const range of [...tops, ...started.values()]) {
        if (range !== undefined && (latest === null || range.timeNs >= latest.timeNs)) {
          latest = range;
        }
      }
    }
    return latest;
  };

  return {
    /** A sink for the events of a further file. */
    sink: () => {
      const file: FileTracker = { stacks: new Map(), started: new Map() };
      files.push(file);
      return (event: RecordedEvent) => handle(file, event);
    },
    state: () => ({ ranges, openRegion: latestOpen()?.name ?? null }),
  };
}

function ifReadable<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isCodedError(error) || isSystemError(error)) return null;
    throw error;
  }
}
