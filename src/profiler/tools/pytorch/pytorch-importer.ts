/** Imports traces of the PyTorch profiler. */
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { constants, createGunzip, gunzipSync } from "node:zlib";
import { isSystemError } from "../../../foundation/system/files.ts";
import { plural } from "../../../foundation/text/plural.ts";
import type { Importer, ImportSource } from "../importer.ts";
import { beginsWith, inputError, readBeginning, unreadableError } from "../source-file.ts";

/** JSON files of `torch.profiler`, also compressed with gzip. */
export const torchTraceImporter: Importer = {
  matches: (source) => isTorchTrace(beginningOf(source)),
  read: async (source) => {
    const { readTorchTrace } = await import("./read-trace.ts");
    const { timeline, machine, problem, events } = await readTorchTrace(chunksOf(source)).catch(
      (error: unknown) => {
        throw isSystemError(error) ? unreadableError(source.name, error) : error;
      },
    );
    if (problem !== null && events === 0) throw inputError(source.name, problem);
    const notes = [...timeline.notes];
    if (problem !== null)
      notes.push(
        `${source.name} is truncated or damaged: ${problem}; the first ${plural(events, "event")} were read`,
      );
    else if (timeline.processes.length === 0)
      notes.push("the PyTorch profiler saw no operator and no CUDA activity");
    return {
      kind: "timeline",
      timeline: { ...timeline, notes },
      toolVersion: null,
      machine,
      ...(problem !== null && { isIncomplete: true }),
    };
  },
};

const GZIP = Uint8Array.of(0x1f, 0x8b);
const CHUNK_BYTES = 1 << 20;

function chunksOf(source: ImportSource): AsyncIterable<Uint8Array> {
  const file = createReadStream(source.path, { highWaterMark: CHUNK_BYTES });
  if (!beginsWith(source, GZIP)) return file;
  // An error of the file is that of the stream which is read.
  return pipeline(file, createGunzip({ chunkSize: CHUNK_BYTES }), () => {});
}

/** Compressed bytes that are enough for the beginning of a trace. */
const BEGINNING_BYTES = 1 << 16;
const MOST_UNPACKED = 1 << 26;

function beginningOf(source: ImportSource): string {
  if (source.isDirectory) return "";
  if (!beginsWith(source, GZIP))
    return startsJson(source.head) ? Buffer.from(readBeginning(source)).toString("latin1") : "";
  try {
    return gunzipSync(readBeginning(source).subarray(0, BEGINNING_BYTES), {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: MOST_UNPACKED,
    }).toString("latin1");
  } catch {
    return "";
  }
}

const startsJson = (head: Uint8Array): boolean =>
  /^\s*[{[]/.test(Buffer.from(head).toString("latin1"));

/** What the profiler writes beside its events, and categories that only it has. */
const OF_PYTORCH =
  /"(?:schemaVersion|deviceProperties|baseTimeNanoseconds|distributedInfo)"\s*:|"cat"\s*:\s*"(?:cpu_op|user_annotation|python_function|ac2g|Operator)"/;

/** What a build without Kineto writes: a list of events of the host. */
const WITHOUT_KINETO = /^\s*\[\s*\{[^{}]*"pid"\s*:\s*"CPU functions"/;

const isTorchTrace = (text: string): boolean =>
  WITHOUT_KINETO.test(text) || (/"traceEvents"\s*:\s*\[/.test(text) && OF_PYTORCH.test(text));
