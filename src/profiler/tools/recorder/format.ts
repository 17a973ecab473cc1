/**
 * Constants of the recorder's file format, version 1: `docs/recording-format.md`, and
 * `native/region_recorder/format.hpp` for the writer. A test keeps the two in step.
 */
import { ToolError } from "../../machine/tool-error.ts";
import type { RankIdentity } from "../../model/timeline.ts";

export const FILE_SUFFIX = ".nvtxrec";

export const MAGIC = Uint8Array.of(0x89, 0x4e, 0x56, 0x54, 0x58, 0x52, 0x45, 0x43);
export const MAJOR_VERSION = 1;
export const BYTE_ORDER_MARK = 0x01020304;
export const CHUNK_MAGIC = 0x4b4e4843;

/** Fixed part of the file header; the executable's path follows. */
export const FILE_HEADER_BYTES = 128;
export const BOOT_ID_BYTES = 16;
export const CHUNK_HEADER_BYTES = 32;

/** No writer makes larger chunks; a larger one indicates damage. */
export const LARGEST_CHUNK_BYTES = 1 << 20;
const LARGEST_UNIT_BYTES = 1 << 20;

export const fileHeader = {
  major: 8,
  minor: 10,
  byteOrder: 12,
  headerBytes: 16,
  unitBytes: 20,
  pid: 24,
  parentPid: 28,
  startNs: 32,
  startRealtimeNs: 40,
  claimedBytes: 48,
  finishedNs: 56,
  stoppedNs: 64,
  stopErrno: 72,
  executableBytes: 76,
  droppedEvents: 80,
  unwrittenWork: 88,
  bootId: 96,
  unrecordedChildren: 112,
  unrecordedErrno: 116,
  seenEndNs: 120,
} as const;

/** At the next multiple of 8 after the executable's path. */
export const rankHeader = { rankPlusOne: 0, size: 4, localRankPlusOne: 8, hostBytes: 12 } as const;
const RANK_HEADER_BYTES = 16;
/** The place of a rank header with the longest name of a host. */
const RANK_PLACE_BYTES = 80;

/** Where the writing header begins. */
export const writingHeaderAt = (executableBytes: number): number =>
  FILE_HEADER_BYTES + Math.ceil(executableBytes / 8) * 8 + RANK_PLACE_BYTES;
export const writingHeader = { writing: 0, pidNamespace: 4 } as const;
const WRITING_HEADER_BYTES = 8;

/**
 * How records get into the file: mapped, the process writes into the file itself; staged, through a file in memory that
 * outlives the process; buffered, from memory that does not.
 */
export type Writing = "mapped" | "staged" | "buffered";
export const WRITINGS: readonly Writing[] = ["mapped", "staged", "buffered"];

export const chunkHeader = {
  magic: 0,
  bytes: 4,
  stream: 8,
  sequence: 12,
  baseNs: 16,
  usedBytes: 24,
} as const;

/** Types of records; 64 to 127 are GPU records. */
export const recordType = {
  string: 1,
  domain: 2,
  thread: 3,
  time: 4,
  threadName: 5,
  categoryName: 6,
  processorTime: 7,
  schema: 8,
  enumeration: 9,
  counter: 10,
  scope: 11,
  timeDomain: 12,
  noInstructions: 13,
  push: 16,
  pop: 17,
  start: 18,
  end: 19,
  mark: 20,
  payload: 21,
  sample: 22,
  batchSample: 23,
  deferred: 24,
  clockPair: 25,
  conversion: 26,
  otherInjection: 27,
  launch: 64,
  kernel: 65,
  memoryCopy: 66,
  memorySet: 67,
  synchronization: 68,
  device: 69,
  clock: 70,
  gpu: 71,
  loss: 72,
  demangled: 73,
  programProfiler: 74,
  unwatchedCalls: 75,
  counterRange: 76,
  counterSession: 77,
  counterSessionEnd: 78,
  counterFailure: 79,
  counterTally: 80,
  sampling: 81,
} as const;

export const recordFlag = {
  domain: 1,
  category: 2,
  color: 4,
  payload: 8,
  graph: 16,
  /** For push, pop, start and end. */
  blocks: 16,
  kernels: 32,
  /** For programProfiler. */
  precedence: 32,
  /** For push, pop, start and end, as `counts`. */
  processorTime: 32,
  failure: 64,
  counts: 64,
  truncated: 128,
  /** For push, pop, start, end and mark. */
  payloads: 128,
} as const;

/** Why records of GPU work are missing, if a record gives the reason. */
export const lossReason = {
  droppedByCupti: 1,
  unfinished: 2,
} as const;

/** NVTX's payload types. */
export const payloadType = {
  uint64: 1,
  int64: 2,
  double: 3,
  uint32: 4,
  int32: 5,
  float: 6,
} as const;

/** The domain id of ranges without a domain. */
export const DEFAULT_DOMAIN = 0;

/** The facts about a recording's process. Times are nanoseconds of CLOCK_MONOTONIC. */
export interface FileHeader {
  readonly littleEndian: boolean;
  /** Offset of the first chunk. */
  readonly headerBytes: number;
  /** Chunks begin and end at multiples of this. */
  readonly unitBytes: number;
  readonly pid: number;
  readonly parentPid: number;
  readonly startNs: bigint;
  /** The same moment on CLOCK_REALTIME. */
  readonly startRealtimeNs: bigint;
  /** Path of the executable; empty if the system does not give it. */
  readonly executable: string;
  /** End of the last chunk; grows while the process runs. */
  readonly claimedBytes: number;
  /** When the process reported its end; null while it runs and after a crash. */
  readonly finishedNs: bigint | null;
  /** When its parent saw its end; since version 1.5, null if not recorded. */
  readonly seenEndNs: bigint | null;
  /** When the recorder had to give up, and the system's error number. */
  readonly stopped: { readonly atNs: bigint; readonly errno: number } | null;
  readonly droppedEvents: bigint;
  /** Records of GPU work that could not be written; since version 1.2, 0 before. */
  readonly unwrittenWork: bigint;
  /** Forked children without their own recording, and why the last has none; since version 1.4, null before. */
  readonly unrecordedChildren: { readonly count: number; readonly errno: number } | null;
  /** Only for processes of a parallel program; added in version 1.5. */
  readonly rank: RankIdentity | null;
  /** Since version 1.7, `mapped` before. */
  readonly writing: Writing;
  /** The PID namespace (inode) of `pid`; null if unknown, and of mapped recordings. */
  readonly pidNamespace: number | null;
  /** Identifies, in hexadecimal, the boot of the machine that CLOCK_MONOTONIC counts from; null if unknown. */
  readonly bootId: string | null;
}

/**
 * Reads a file header. Null: not written yet, because the process has only just begun.
 *
 * @param bytes the beginning of the file, up to its first unit
 * @throws ToolError `recording.invalid` if it is not a recording, or one of another version
 */
export function parseFileHeader(bytes: Uint8Array, file: string): FileHeader | null {
  const magic = bytes.subarray(0, MAGIC.length);
  if (magic.every((byte) => byte === 0)) return null;
  if (!magic.every((byte, i) => byte === MAGIC[i])) {
    throw invalid(file, "it has the wrong signature");
  }
  if (bytes.length < FILE_HEADER_BYTES) return null;

  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const littleEndian = byteOrder(view, file);
  const u32 = (offset: number) => view.getUint32(offset, littleEndian);
  const u64 = (offset: number) => view.getBigUint64(offset, littleEndian);

  const major = view.getUint16(fileHeader.major, littleEndian);
  if (major !== MAJOR_VERSION) {
    const minor = view.getUint16(fileHeader.minor, littleEndian);
    throw invalid(
      file,
      `it has format version ${major}.${minor}; only ${MAJOR_VERSION}.x is supported`,
    );
  }
  const headerBytes = u32(fileHeader.headerBytes);
  const unitBytes = u32(fileHeader.unitBytes);
  if (headerBytes < FILE_HEADER_BYTES || headerBytes % 4 !== 0 || !isUnit(unitBytes)) {
    throw invalid(file, "the sizes in its header are inconsistent");
  }
  const finishedNs = u64(fileHeader.finishedNs);
  const stoppedNs = u64(fileHeader.stoppedNs);
  const seenEndNs = u64(fileHeader.seenEndNs);
  return {
    littleEndian,
    headerBytes,
    unitBytes,
    pid: u32(fileHeader.pid),
    parentPid: u32(fileHeader.parentPid),
    startNs: u64(fileHeader.startNs),
    startRealtimeNs: u64(fileHeader.startRealtimeNs),
    executable: executable(
      bytes,
      Math.min(headerBytes, bytes.length),
      u32(fileHeader.executableBytes),
    ),
    claimedBytes: Number(u64(fileHeader.claimedBytes)),
    finishedNs: finishedNs === 0n ? null : finishedNs,
    seenEndNs: seenEndNs === 0n ? null : seenEndNs,
    stopped: stoppedNs === 0n ? null : { atNs: stoppedNs, errno: u32(fileHeader.stopErrno) },
    droppedEvents: u64(fileHeader.droppedEvents),
    unwrittenWork: u64(fileHeader.unwrittenWork),
    unrecordedChildren:
      u32(fileHeader.unrecordedChildren) === 0
        ? null
        : { count: u32(fileHeader.unrecordedChildren), errno: u32(fileHeader.unrecordedErrno) },
    rank: rankAfter(view, u32(fileHeader.executableBytes), littleEndian),
    ...writingAfter(view, u32(fileHeader.executableBytes), littleEndian),
    bootId: bootId(bytes.subarray(fileHeader.bootId, fileHeader.bootId + BOOT_ID_BYTES)),
  };
}

function rankAfter(
  view: DataView,
  executableBytes: number,
  littleEndian: boolean,
): RankIdentity | null {
  const headerStart = FILE_HEADER_BYTES + Math.ceil(executableBytes / 8) * 8;
  if (headerStart + RANK_HEADER_BYTES > view.byteLength) return null;
  const u32 = (offset: number) => view.getUint32(headerStart + offset, littleEndian);
  const [rank, size, local] = [
    u32(rankHeader.rankPlusOne) - 1,
    u32(rankHeader.size),
    u32(rankHeader.localRankPlusOne) - 1,
  ];
  const host = headerStart + RANK_HEADER_BYTES;
  const hostBytes = u32(rankHeader.hostBytes);
  if (rank < 0 || rank >= size || host + hostBytes > view.byteLength) return null;
  const bytes = new Uint8Array(view.buffer, view.byteOffset + host, hostBytes);
  return {
    rank,
    size,
    localRank: local < 0 ? null : local,
    host: new TextDecoder().decode(bytes),
  };
}

function writingAfter(
  view: DataView,
  executableBytes: number,
  littleEndian: boolean,
): Pick<FileHeader, "writing" | "pidNamespace"> {
  const headerStart = writingHeaderAt(executableBytes);
  if (headerStart + WRITING_HEADER_BYTES > view.byteLength)
    return { writing: "mapped", pidNamespace: null };
  const u32 = (offset: number) => view.getUint32(headerStart + offset, littleEndian);
  const namespace = u32(writingHeader.pidNamespace);
  return {
    writing: WRITINGS[u32(writingHeader.writing)] ?? "mapped",
    pidNamespace: namespace === 0 ? null : namespace,
  };
}

function byteOrder(view: DataView, file: string): boolean {
  if (view.getUint32(fileHeader.byteOrder, true) === BYTE_ORDER_MARK) return true;
  if (view.getUint32(fileHeader.byteOrder, false) === BYTE_ORDER_MARK) return false;
  throw invalid(file, "its byte order mark is damaged");
}

function isUnit(bytes: number): boolean {
  return bytes >= 4096 && bytes <= LARGEST_UNIT_BYTES && (bytes & (bytes - 1)) === 0;
}

const bootId = (bytes: Uint8Array): string | null =>
  bytes.every((byte) => byte === 0) ? null : Buffer.from(bytes).toString("hex");

function executable(bytes: Uint8Array, limit: number, length: number): string {
  const end = Math.min(FILE_HEADER_BYTES + length, limit);
  return new TextDecoder().decode(bytes.subarray(FILE_HEADER_BYTES, end));
}

function invalid(file: string, why: string): ToolError {
  return new ToolError({
    tool: "recorder",
    code: "recording.invalid",
    message: `${file} is not a readable recording: ${why}`,
  });
}
