import { ConfigError } from "../../values/errors.ts";
import {
  BOOT_ID_BYTES,
  BYTE_ORDER_MARK,
  FILE_HEADER_BYTES,
  fileHeader,
  LARGEST_UNIT_BYTES,
  MAGIC,
  MAJOR_VERSION,
} from "./format.ts";

/** What a recording says about its process. Times are nanoseconds of CLOCK_MONOTONIC. */
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
  /** Path of the executable; empty where the system does not tell. */
  readonly executable: string;
  /** End of the last chunk; grows while the process runs. */
  readonly claimedBytes: number;
  /** When the process said that it ends; null while it runs and after a crash. */
  readonly finishedNs: bigint | null;
  /** When the recorder had to give up, and the system's error number. */
  readonly stopped: { readonly atNs: bigint; readonly errno: number } | null;
  readonly droppedEvents: bigint;
  /** Records of the GPU's work that could not be written; since version 1.2, 0 before it. */
  readonly unwrittenWork: bigint;
  /** Forked children without a recording of their own, and why the last has none; since version 1.4, null before it. */
  readonly unrecordedChildren: { readonly count: number; readonly errno: number } | null;
  /** Of the machine's start that CLOCK_MONOTONIC counts from, in hexadecimal; null where it is not known. */
  readonly bootId: string | null;
}

/**
 * Reads a file header. Null: not written yet, the process has only just begun.
 *
 * @param bytes the file's beginning, as much as there is of its first unit
 * @throws ConfigError `recording.invalid` when it is no recording, or one of another version
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
    stopped: stoppedNs === 0n ? null : { atNs: stoppedNs, errno: u32(fileHeader.stopErrno) },
    droppedEvents: u64(fileHeader.droppedEvents),
    unwrittenWork: u64(fileHeader.unwrittenWork),
    unrecordedChildren:
      u32(fileHeader.unrecordedChildren) === 0
        ? null
        : { count: u32(fileHeader.unrecordedChildren), errno: u32(fileHeader.unrecordedErrno) },
    bootId: bootId(bytes.subarray(fileHeader.bootId, fileHeader.bootId + BOOT_ID_BYTES)),
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

function invalid(file: string, why: string): ConfigError {
  return new ConfigError({
    code: "recording.invalid",
    message: `${file} is not a readable recording: ${why}`,
  });
}
