/** The bytes of a recording, some of which may be in a file beside it. */
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { isCodedError } from "../../../engine/values/errors.ts";
import { isSystemError } from "../../../foundation/system/files.ts";
import { isRunning } from "../../../foundation/system/process-identity.ts";
import {
  CHUNK_MAGIC,
  chunkHeader,
  FILE_HEADER_BYTES,
  FILE_SUFFIX,
  type FileHeader,
  fileHeader,
  LARGEST_CHUNK_BYTES,
  parseFileHeader,
  WRITINGS,
  writingHeader,
  writingHeaderAt,
} from "./format.ts";

/**
 * The bytes of a recording. Where the recorder does not map the file itself, the latest ones are in a stage: a file in
 * memory with the same offsets, which belongs to the kernel, so that a crash of the process loses nothing. Its chunks
 * move to the recording as they become full, and it vanishes at an orderly end.
 */
export interface RecordingBytes {
  /** @returns the latest header; null: not written yet @throws ToolError `recording.invalid` */
  readonly header: () => FileHeader | null;
  readonly size: () => number;
  /** @returns the bytes at `offset`, of the chunk that begins at `chunk`; as many as there are */
  readonly read: (chunk: number, offset: number, bytes: number) => DataView;
  /** Whether the process has a stage on this machine. */
  readonly isStaged: boolean;
  readonly close: () => void;
}

/** Where the recorder puts stages. */
const STAGE_DIRECTORY = "/dev/shm";
/** The fields that identify a recording: signature, version, sizes, process and start. */
const IDENTITY_BYTES = fileHeader.claimedBytes;
/** Longer than everything before the first chunk that a header can have: a path of the system's maximum, rank and writing. */
const LONGEST_HEADER_BYTES = FILE_HEADER_BYTES + 4096 + 96;

/** @throws the system's error if the recording cannot be opened */
export function openBytes(path: string): RecordingBytes {
  const file = openSync(path, "r");
  let stage: Stage | null;
  try {
    stage = openStage(file);
  } catch (error) {
    closeSync(file);
    throw error;
  }
  return {
    header: () => {
      // The stage's is written first, and in one that has not been finished the recording's is behind.
      const latest = stage === null ? null : headerOf(stage.descriptor, path);
      const header = headerOf(file, path);
      if (latest === null || header === null) return header;
      return { ...latest, seenEndNs: latest.seenEndNs ?? header.seenEndNs };
    },
    size: () =>
      Math.max(fstatSync(file).size, stage === null ? 0 : fstatSync(stage.descriptor).size),
    read: (chunk, offset, bytes) => {
      if (stage !== null) {
        const view = readView(stage.descriptor, offset, bytes);
        // Asked afterwards: its beginning is the first that vanishes when it has moved to the recording.
        if (hasChunk(stage, chunk)) return view;
      }
      return readView(file, offset, bytes);
    },
    isStaged: stage !== null,
    close: () => {
      closeSync(file);
      if (stage !== null) closeSync(stage.descriptor);
    },
  };
}

/** @throws ToolError `recording.invalid` */
function headerOf(descriptor: number, path: string): FileHeader | null {
  const view = readView(descriptor, 0, LONGEST_HEADER_BYTES);
  return parseFileHeader(new Uint8Array(view.buffer, 0, view.byteLength), path);
}

interface Stage {
  readonly descriptor: number;
  readonly path: string;
  readonly littleEndian: boolean;
}

const hasChunk = ({ descriptor, littleEndian }: Stage, chunk: number): boolean => {
  const view = readView(descriptor, chunk, 4);
  return view.byteLength === 4 && view.getUint32(0, littleEndian) === CHUNK_MAGIC;
};

/** The stage of a recording; null without one. Of another user's file with the right name nothing is believed. */
function openStage(file: number): Stage | null {
  const identity = readView(file, 0, IDENTITY_BYTES);
  if (identity.byteLength < IDENTITY_BYTES) return null;
  const littleEndian = identity.getUint8(fileHeader.byteOrder) === 4;
  const pid = identity.getUint32(fileHeader.pid, littleEndian);
  const start = identity.getBigUint64(fileHeader.startNs, littleEndian);
  const path = join(STAGE_DIRECTORY, `events-${pid}-${start}${FILE_SUFFIX}`);
  const descriptor = openedOrNull(path);
  if (descriptor === null) return null;
  const status = fstatSync(descriptor);
  const stats = fstatSync(file);
  const isOwn =
    status.isFile() &&
    status.uid === stats.uid &&
    // A recording in that directory is no stage of itself.
    (status.dev !== stats.dev || status.ino !== stats.ino) &&
    Buffer.from(readView(descriptor, 0, IDENTITY_BYTES).buffer).equals(
      Buffer.from(identity.buffer),
    );
  if (isOwn) return { descriptor, path, littleEndian };
  closeSync(descriptor);
  return null;
}

function openedOrNull(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return null;
  }
}

/**
 * Moves the stage of a process that has ended to its recording. Where that fails (a full disk) the stage stays, and
 * the recording is read with it.
 *
 * @param hasEnded whether that is known; otherwise the system is asked
 */
export function settleStage(path: string, hasEnded = false): void {
  try {
    const file = openSync(path, "r");
    try {
      const stage = openStage(file);
      if (stage === null) return;
      try {
        const header = headerOf(stage.descriptor, path);
        if (header !== null && (hasEnded || isOver(header))) moveStage(stage, header, path);
      } finally {
        closeSync(stage.descriptor);
      }
    } finally {
      closeSync(file);
    }
  } catch (error) {
    // The reader of the recording reports what is wrong with it.
    if (!isSystemError(error) && !isCodedError(error)) throw error;
  }
}

const isOver = ({ pid, pidNamespace }: FileHeader): boolean =>
  pidNamespace !== null &&
  isRunning({ host: hostname(), pid, birth: null, pid_namespace: `pid:[${pidNamespace}]` }) ===
    false;

function moveStage(stage: Stage, header: FileHeader, path: string): void {
  const file = openSync(path, "r+");
  try {
    const end = Math.min(header.claimedBytes, fstatSync(stage.descriptor).size);
    for (let offset = header.headerBytes; offset < end; ) {
      const bytes = chunkBytes(stage, offset, header.unitBytes);
      if (bytes !== null) writeView(file, readView(stage.descriptor, offset, bytes), offset);
      offset += bytes ?? header.unitBytes;
    }
    if (fstatSync(file).size < header.claimedBytes) ftruncateSync(file, header.claimedBytes);
    writeView(file, wholeHeader(stage, header), 0);
  } finally {
    closeSync(file);
  }
  unlinkSync(stage.path);
}

/** The stage's header, for a recording that has everything: as if the process had written into the file itself. */
function wholeHeader(stage: Stage, { headerBytes, writing }: FileHeader): DataView {
  const view = readView(stage.descriptor, 0, headerBytes);
  const headerStart = writingHeaderAt(
    view.getUint32(fileHeader.executableBytes, stage.littleEndian),
  );
  if (writing === "staged")
    view.setUint32(
      headerStart + writingHeader.writing,
      WRITINGS.indexOf("mapped"),
      stage.littleEndian,
    );
  return view;
}

/** The size of the chunk at `offset`; null if the stage has none there. */
function chunkBytes(stage: Stage, offset: number, unit: number): number | null {
  if (!hasChunk(stage, offset)) return null;
  const view = readView(stage.descriptor, offset + chunkHeader.bytes, 4);
  const bytes = view.byteLength < 4 ? 0 : view.getUint32(0, stage.littleEndian);
  return bytes === 0 || bytes > LARGEST_CHUNK_BYTES || bytes % unit !== 0 ? null : bytes;
}

function writeView(descriptor: number, view: DataView, offset: number): void {
  const bytes = new Uint8Array(view.buffer, 0, view.byteLength);
  for (let written = 0; written < bytes.length; )
    written += writeSync(descriptor, bytes, written, bytes.length - written, offset + written);
}

/** The bytes at `offset`, as many as the file has. */
function readView(descriptor: number, offset: number, bytes: number): DataView {
  const buffer = new Uint8Array(bytes);
  let length = 0;
  while (length < bytes) {
    const read = readSync(descriptor, buffer, length, bytes - length, offset + length);
    if (read === 0) break;
    length += read;
  }
  return new DataView(buffer.buffer, 0, length);
}
