/** Reads a recording file, also while it grows. */
import { createGpuTimes, type GpuTimes } from "./clocks.ts";
import { createStreamDecoder, type StreamDecoder } from "./decoder.ts";
import {
  createNotes,
  type EventSink,
  type NoteCollector,
  type NvtxEvent,
  type RecordedEvent,
} from "./events.ts";
import { createExtensions, type Extensions } from "./extensions.ts";
import {
  CHUNK_HEADER_BYTES,
  CHUNK_MAGIC,
  chunkHeader,
  type FileHeader,
  LARGEST_CHUNK_BYTES,
} from "./format.ts";
import { openBytes, type RecordingBytes } from "./recording-bytes.ts";
import { readRecords } from "./records.ts";

/** Reads a recording file, repeatedly while it grows. */
export interface RecordingCursor {
  /**
   * Delivers the events recorded since the last call.
   *
   * @param budgetBytes stop soon after this many bytes; the rest comes with the next call
   * @returns the current header; null while there is none yet
   * @throws ToolError `recording.invalid`
   */
  readonly advance: (budgetBytes?: number) => FileHeader | null;
  /** Once, after everything was read: delivers events that the program reported later. */
  readonly finish: () => void;
  /** The program's descriptions so far; null before its first record. */
  readonly extensions: () => Extensions | null;
  /** Whether the process has reported its end, and all its events have been delivered. */
  readonly isComplete: () => boolean;
}

interface StreamPosition {
  readonly decoder: StreamDecoder;
  /** The latest known chunk of the stream. */
  readonly chunk: Chunk;
  consumed: number;
}

/** @param originNs the origin of event times; by default the start of the recording */
export function openRecording(
  path: string,
  sink: EventSink,
  notes: NoteCollector,
  originNs?: bigint,
): RecordingCursor {
  const streams = new Map<number, StreamPosition>();
  /** Chunks that were found but not begun, in file order. */
  const pending: Chunk[] = [];
  let nextOffset: number | null = null;
  let gpuTimes: GpuTimes | null = null;
  let extensions: Extensions | null = null;
  let complete = false;

  /** Reads the new records in the current chunk of `position`; returns their bytes. */
  const readRest = (file: RecordingBytes, header: FileHeader, position: StreamPosition): number => {
    const { chunk, decoder } = position;
    // Read the length before the bytes: the recorder publishes them in the opposite order.
    const used = usedBytes(file, header, chunk);
    if (used <= position.consumed) return 0;
    const start = chunk.offset + CHUNK_HEADER_BYTES + position.consumed;
    const expected = used - position.consumed;
    const data = file.read(chunk.offset, start, expected);
    const read = readRecords(data, header.littleEndian, decoder.decode);
    if (data.byteLength < expected) notes.count("chunks cut short");
    else if (read < expected) notes.count("chunks with damaged records");
    position.consumed = used;
    return read;
  };

  const enter = (header: FileHeader, chunk: Chunk): StreamPosition => {
    const latest = streams.get(chunk.stream);
    const isGap = chunk.sequence !== (latest === undefined ? 0 : latest.chunk.sequence + 1);
    if (isGap) notes.count("gaps in the recording of a thread");
    const origin = originNs ?? header.startNs;
    gpuTimes ??= createGpuTimes(origin);
    extensions ??= createExtensions((ns) => Number(ns - origin), sink, notes, header.littleEndian);
    const decoder =
      latest?.decoder ??
      createStreamDecoder(chunk.stream, origin, sink, notes, gpuTimes, extensions);
    decoder.setBase(chunk.baseNs);
    if (isGap) decoder.skip();
    const position = { decoder, chunk, consumed: 0 };
    streams.set(chunk.stream, position);
    return position;
  };

  const advance = (file: RecordingBytes, budgetBytes: number): FileHeader | null => {
    const header = file.header();
    if (header === null) return null;
    const size = file.size();
    const limit = Math.min(header.claimedBytes, size);
    const place = addWritingNotes(header, file, notes);
    if (header.claimedBytes > size && place.isWhole) notes.add("the file is cut short");
    const scan = scanChunks(file, header, nextOffset ?? header.headerBytes, limit, place.damage);
    nextOffset = scan.nextOffset;
    for (const chunk of scan.chunks) pending.push(chunk);

    let budget = budgetBytes;
    // First the chunks that were begun: once a stream has a later chunk, the earlier one is complete.
    for (const position of streams.values()) budget -= readRest(file, header, position);
    let begun = 0;
    for (const chunk of pending) {
      if (budget <= 0) break;
      budget -= readRest(file, header, enter(header, chunk));
      begun++;
    }
    pending.splice(0, begun);
    complete = header.finishedNs !== null && pending.length === 0;
    return header;
  };

  return {
    advance: (budgetBytes = Number.POSITIVE_INFINITY) => {
      const file = openBytes(path);
      try {
        return advance(file, budgetBytes);
      } finally {
        file.close();
      }
    },
    finish: () => extensions?.finish(),
    extensions: () => extensions,
    isComplete: () => complete,
  };
}

/** The undelivered part of a stream. */
interface StreamQueue {
  readonly decoder: StreamDecoder;
  /** In order; each is released after it was read. */
  readonly chunks: Chunk[];
  nextChunk: number;
  events: RecordedEvent[];
  next: number;
}

/**
 * Delivers the thread events of a finished recording again, merged from all streams in order of time, with one chunk of
 * each stream in memory.
 *
 * @param originNs the origin of event times
 * @param described the descriptions of payloads, from the first reading
 * @throws ToolError `recording.invalid`
 */
export function replayRecording(
  path: string,
  originNs: bigint,
  described: Extensions | null,
  sink: (event: NvtxEvent) => void,
): void {
  const notes = createNotes();
  const file = openBytes(path);
  try {
    const header = file.header();
    if (header === null) return;
    const limit = Math.min(header.claimedBytes, file.size());
    const { chunks } = scanChunks(file, header, header.headerBytes, limit, notes);
    const gpuTimes = createGpuTimes(originNs);
    const sinceOrigin = (ns: bigint) => Number(ns - originNs);
    const extensions = alreadyRead(
      described ?? createExtensions(sinceOrigin, () => {}, notes, header.littleEndian),
    );
    const queues = new Map<number, StreamQueue>();
    let target: RecordedEvent[] = [];
    for (const chunk of chunks) {
      let queue = queues.get(chunk.stream);
      if (queue === undefined) {
        const keep = (event: RecordedEvent) => void target.push(event);
        const decoder = createStreamDecoder(
          chunk.stream,
          originNs,
          keep,
          notes,
          gpuTimes,
          extensions,
        );
        queue = { decoder, chunks: [], nextChunk: 0, events: [], next: 0 };
        queues.set(chunk.stream, queue);
      }
      queue.chunks.push(chunk);
    }
    /** Null at the end of the stream. */
    const peek = (queue: StreamQueue): RecordedEvent | null => {
      while (queue.next >= queue.events.length) {
        const chunk = queue.chunks[queue.nextChunk];
        if (chunk === undefined) return null;
        const previous = queue.chunks[queue.nextChunk - 1];
        queue.nextChunk++;
        queue.decoder.setBase(chunk.baseNs);
        if (chunk.sequence !== (previous === undefined ? 0 : previous.sequence + 1))
          queue.decoder.skip();
        target = [];
        const used = usedBytes(file, header, chunk);
        const data = file.read(chunk.offset, chunk.offset + CHUNK_HEADER_BYTES, used);
        readRecords(data, header.littleEndian, queue.decoder.decode);
        queue.events = target;
        queue.next = 0;
      }
      return queue.events[queue.next] ?? null;
    };
    mergeStreams([...queues.values()], peek, sink);
  } finally {
    file.close();
  }
}

/** Takes events from the stream whose next event is earliest, as long as that holds. */
function mergeStreams(
  queues: StreamQueue[],
  peek: (queue: StreamQueue) => RecordedEvent | null,
  sink: (event: NvtxEvent) => void,
): void {
  const timeOf = (event: RecordedEvent | null): number => {
    if (event === null) return Number.POSITIVE_INFINITY;
    return "timeNs" in event ? event.timeNs : Number.NEGATIVE_INFINITY;
  };
  let open = queues;
  while (open.length > 0) {
    let first: StreamQueue | null = null;
    let firstNs = Number.POSITIVE_INFINITY;
    let secondNs = Number.POSITIVE_INFINITY;
    for (const queue of open) {
      const timeNs = timeOf(peek(queue));
      if (first === null || timeNs < firstNs) {
        secondNs = first === null ? Number.POSITIVE_INFINITY : firstNs;
        first = queue;
        firstNs = timeNs;
      } else if (timeNs < secondNs) secondNs = timeNs;
    }
    for (let event = first && peek(first); event !== null; event = first && peek(first)) {
      if (timeOf(event) > secondNs) break;
      if (first !== null) first.next++;
      if (NVTX_KINDS.has(event.kind)) sink(event as NvtxEvent);
    }
    open = open.filter((queue) => peek(queue) !== null);
  }
}

const NVTX_KINDS: ReadonlySet<RecordedEvent["kind"]> = new Set<NvtxEvent["kind"]>([
  "thread",
  "push",
  "pop",
  "start",
  "end",
]);

/** Without descriptions, samples and clocks, which the first reading processed. */
const alreadyRead = (extensions: Extensions): Extensions => ({
  ...extensions,
  define: () => {},
  sample: () => {},
  batchSample: () => {},
  deferred: () => {},
  clock: () => {},
});

/**
 * Notes what is missing of a recording that was written through the kernel, and whose process did not finish it.
 *
 * @returns whether all chunks should be there, and where to note those that are not
 */
function addWritingNotes(
  { writing, finishedNs }: FileHeader,
  { isStaged }: RecordingBytes,
  notes: NoteCollector,
): { readonly isWhole: boolean; readonly damage: NoteCollector } {
  if (writing === "mapped" || finishedNs !== null || (writing === "staged" && isStaged))
    return { isWhole: true, damage: notes };
  notes.add(
    writing === "staged"
      ? "the last events of each thread are missing: they were left in /dev/shm of the machine it ran on"
      : "the last events of each thread may be missing: there was no room in /dev/shm to keep them",
  );
  return { isWhole: false, damage: createNotes() };
}

/** A part of the file that belongs to one stream. */
interface Chunk {
  readonly offset: number;
  readonly bytes: number;
  readonly stream: number;
  readonly sequence: number;
  readonly baseNs: bigint;
}

interface ChunkScan {
  readonly chunks: readonly Chunk[];
  /** Where the next scan continues. */
  readonly nextOffset: number;
}

/**
 * Finds the chunks between `from` and `limit`. If there is no chunk where one is expected, the file is damaged: the
 * scan continues at the next unit.
 *
 * @param limit end of the readable part: chunks claimed, and within the file
 */
function scanChunks(
  file: RecordingBytes,
  header: FileHeader,
  from: number,
  limit: number,
  notes: NoteCollector,
): ChunkScan {
  const chunks: Chunk[] = [];
  let offset = from;
  while (offset + CHUNK_HEADER_BYTES <= limit) {
    const chunk = readChunk(file, header, offset);
    if (chunk === null) {
      notes.count("damaged places skipped");
      offset += header.unitBytes;
    } else {
      chunks.push(chunk);
      offset += chunk.bytes;
    }
  }
  return { chunks, nextOffset: offset };
}

function readChunk(file: RecordingBytes, header: FileHeader, offset: number): Chunk | null {
  const view = file.read(offset, offset, CHUNK_HEADER_BYTES);
  if (view.byteLength < CHUNK_HEADER_BYTES) return null;
  const u32 = (field: number) => view.getUint32(field, header.littleEndian);
  const bytes = u32(chunkHeader.bytes);
  const plausible =
    u32(chunkHeader.magic) === CHUNK_MAGIC &&
    bytes >= CHUNK_HEADER_BYTES &&
    bytes <= LARGEST_CHUNK_BYTES &&
    bytes % header.unitBytes === 0;
  if (!plausible) return null;
  return {
    offset,
    bytes,
    stream: u32(chunkHeader.stream),
    sequence: u32(chunkHeader.sequence),
    baseNs: view.getBigUint64(chunkHeader.baseNs, header.littleEndian),
  };
}

/** The current number of record bytes in the chunk; never more than it can hold. */
function usedBytes(file: RecordingBytes, header: FileHeader, chunk: Chunk): number {
  const view = file.read(chunk.offset, chunk.offset + chunkHeader.usedBytes, 4);
  if (view.byteLength < 4) return 0;
  return Math.min(view.getUint32(0, header.littleEndian), chunk.bytes - CHUNK_HEADER_BYTES);
}
