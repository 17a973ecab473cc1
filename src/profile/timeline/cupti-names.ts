/** Names for CUPTI's numbers, the same whichever tool recorded them, because `compare` matches by name. */
import type { SynchronizationInstance } from "./timeline.ts";

/** By `CUpti_ActivityMemcpyKind`, in the words of `nsys stats`. */
const COPY_KINDS = [
  "Unknown",
  "Host-to-Device",
  "Device-to-Host",
  "Host-to-Array",
  "Array-to-Host",
  "Array-to-Array",
  "Array-to-Device",
  "Device-to-Array",
  "Device-to-Device",
  "Host-to-Host",
  "Peer-to-Peer",
  "Unified Host-to-Device",
  "Unified Device-to-Host",
  "Unified Device-to-Device",
];

/** e.g. `[CUDA memcpy Host-to-Device]` */
export const memoryCopyName = (kind: number): string =>
  `[CUDA memcpy ${COPY_KINDS[kind] ?? `kind ${kind}`}]`;

/** By `CUpti_ActivitySynchronizationType`. Types that are not listed do not block the host. */
export const WAIT_KINDS: ReadonlyMap<number, SynchronizationInstance["kind"]> = new Map([
  [1, "event"],
  [3, "stream"],
  [4, "context"],
]);
