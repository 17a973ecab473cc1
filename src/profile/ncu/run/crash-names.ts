/** Names of signals, and of what Windows has in their place: ncu tells them like exit codes. */
const CRASHES: ReadonlyMap<number, string> = new Map([
  [4, "SIGILL"],
  [6, "SIGABRT"],
  [7, "SIGBUS"],
  [8, "SIGFPE"],
  [9, "SIGKILL"],
  [11, "SIGSEGV"],
  [15, "SIGTERM"],
  [0xc0000005, "an access violation"],
]);

/** ` (or of SIGSEGV)` for an exit code that a crash may have given; empty for others. */
export function crashOf(code: number): string {
  const name = CRASHES.get(code < 0 ? code >>> 0 : code);
  return name === undefined ? "" : ` (or of ${name})`;
}
