/** By CUPTI's CUpti_ActivityMemcpyKind, in the words of Nsight Systems. */
const directions: ReadonlyMap<number, string> = new Map([
  [1, "Host-to-Device"],
  [2, "Device-to-Host"],
  [3, "Host-to-Array"],
  [4, "Array-to-Host"],
  [5, "Array-to-Array"],
  [6, "Array-to-Device"],
  [7, "Device-to-Array"],
  [8, "Device-to-Device"],
  [9, "Host-to-Host"],
  [10, "Peer-to-Peer"],
]);

/** e.g. `[CUDA memcpy Host-to-Device]` */
export function memoryCopyName(kind: number): string {
  const direction = directions.get(kind);
  return direction === undefined ? "[CUDA memcpy]" : `[CUDA memcpy ${direction}]`;
}
