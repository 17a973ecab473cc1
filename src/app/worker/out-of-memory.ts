/** Whether Node says in what it printed last that the heap of a process was full: it aborts then. */
export const isHeapFull = (lines: readonly string[]): boolean =>
  lines.some((line) => line.includes("heap out of memory"));

export const MORE_HEAP = "NODE_OPTIONS=--max-old-space-size=MB gives each job more";
