import { readSync } from "node:fs";
import type { FileHeader } from "./file-header.ts";
import { CHUNK_HEADER_BYTES, CHUNK_MAGIC, chunkHeader, LARGEST_CHUNK_BYTES } from "./format.ts";
import type { NoteCollector } from "./notes.ts";

/** A part of the file that one stream fills. */
export interface Chunk {
  readonly offset: number;
  readonly bytes: number;
  readonly stream: number;
  readonly sequence: number;
  readonly baseNs: bigint;
}

export interface ChunkScan {
  readonly chunks: readonly Chunk[];
  /** Where the next scan goes on. */
  readonly nextOffset: number;
}

/**
 * Finds the chunks between `from` and `limit`. Where there is no chunk although one must stand
 * there, the file is damaged: the scan goes on at the next unit.
 *
 * @param limit end of what may be read: chunks claimed, and within the file
 */
export function scanChunks(
  descriptor: number,
  header: FileHeader,
  from: number,
  limit: number,
  notes: NoteCollector,
): ChunkScan {
  const chunks: Chunk[] = [];
  let offset = from;
  while (offset + CHUNK_HEADER_BYTES <= limit) {
    const chunk = readChunk(descriptor, header, offset);
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

function readChunk(descriptor: number, header: FileHeader, offset: number): Chunk | null {
  const view = readView(descriptor, offset, CHUNK_HEADER_BYTES);
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

/** How many bytes of records the chunk holds by now; never more than it can hold. */
export function usedBytes(descriptor: number, header: FileHeader, chunk: Chunk): number {
  const view = readView(descriptor, chunk.offset + chunkHeader.usedBytes, 4);
  if (view.byteLength < 4) return 0;
  return Math.min(view.getUint32(0, header.littleEndian), chunk.bytes - CHUNK_HEADER_BYTES);
}

/** The bytes at `offset`, as many as the file has. */
export function readView(descriptor: number, offset: number, bytes: number): DataView {
  const buffer = new Uint8Array(bytes);
  let length = 0;
  while (length < bytes) {
    const read = readSync(descriptor, buffer, length, bytes - length, offset + length);
    if (read === 0) break;
    length += read;
  }
  return new DataView(buffer.buffer, 0, length);
}
