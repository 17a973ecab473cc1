import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** All that the tests put into the folder for temporary files goes with them. */
export function setup(): () => Promise<void> {
  // A short name: what Hydra writes about its directories is folded at 80 columns.
  const folder = mkdtempSync(join(parentFolder(), "hc-"));
  process.env["TMPDIR"] = folder;
  // Not at once: there are many files, and workers must be heard meanwhile, which end now.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** In memory, where that serves: tests make, flush and remove a hundred thousand files, for which they would wait longer than compute. */
const parentFolder = (): string =>
  process.env["TMPDIR"] === undefined && serves("/dev/shm") ? "/dev/shm" : tmpdir();

/** Bytes that must be free: several times as many as all tests leave. */
const ROOM = 4 * 2 ** 30;

/** Whether a folder in memory has room, and programs can be started there: containers often have 64 MB, and no programs. */
function serves(parent: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(parent);
    if (Math.min(bavail * bsize, process.availableMemory()) < ROOM) return false;
    const folder = mkdtempSync(join(parent, "hc-"));
    try {
      const program = join(folder, "program");
      writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
      return spawnSync(program).status === 0;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  } catch {
    return false;
  }
}
