import { readFileSync } from "node:fs";

/**
 * How many processes the kernel has killed since this machine began because memory, or the share of a container, was used up.
 * Undefined where it does not say so: that is a matter of Linux.
 */
export function memoryKills(file = "/proc/vmstat"): number | undefined {
  try {
    const count = /^oom_kill (\d+)$/m.exec(readFileSync(file, "utf8"))?.[1];
    return count === undefined ? undefined : Number(count);
  } catch {
    return undefined;
  }
}
