/**
 * Numbers of the recorder's file format, version 1: `docs/recording-format.md`, and
 * `native/region_recorder/format.hpp` for the side that writes. A test keeps the two in step.
 */

export const FILE_SUFFIX = ".nvtxrec";

export const MAGIC = Uint8Array.of(0x89, 0x4e, 0x56, 0x54, 0x58, 0x52, 0x45, 0x43);
export const MAJOR_VERSION = 1;
export const BYTE_ORDER_MARK = 0x01020304;
export const CHUNK_MAGIC = 0x4b4e4843;

/** Fixed part of the file header; the executable's path follows. */
export const FILE_HEADER_BYTES = 128;
export const BOOT_ID_BYTES = 16;
export const CHUNK_HEADER_BYTES = 32;

/** No writer makes larger chunks; a larger one is damage. */
export const LARGEST_CHUNK_BYTES = 1 << 20;
export const LARGEST_UNIT_BYTES = 1 << 20;

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
} as const;

export const chunkHeader = {
  magic: 0,
  bytes: 4,
  stream: 8,
  sequence: 12,
  baseNs: 16,
  usedBytes: 24,
} as const;

/** Types of records; 64 to 127 are what the GPU did. */
export const recordType = {
  string: 1,
  domain: 2,
  thread: 3,
  time: 4,
  threadName: 5,
  categoryName: 6,
  push: 16,
  pop: 17,
  start: 18,
  end: 19,
  mark: 20,
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
} as const;

export const recordFlag = {
  domain: 1,
  category: 2,
  color: 4,
  payload: 8,
  graph: 16,
  kernels: 32,
  failure: 64,
  truncated: 128,
} as const;

/** Why records of the GPU's work are missing, where a record says so. */
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

/** Domain id of ranges that name no domain. */
export const DEFAULT_DOMAIN = 0;
