import { rmSync } from "node:fs";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/**
 * One at a time does what changes a directory: tests, sweeps and users start several at once. The lock file names
 * the process that holds it; a dead one's lock is taken over.
 *
 * @param onWait is told once, where another process holds the lock
 * @param signal ends the waiting
 */
export async function withLock(path, onWait, action, signal) {
  const own = `${path}.${process.pid}`;
  let isHeld = false;
  const release = () => {
    if (isHeld) rmSync(path, { force: true });
    rmSync(own, { force: true });
  };
  // Also where `action` ends the process.
  process.once("exit", release);
  try {
    await writeFile(own, await nameOf(process.pid));
    for (let waited = false; !(await takeLock(own, path)); waited = true) {
      if (!waited) onWait();
      signal?.throwIfAborted();
      await delay(200);
    }
    isHeld = true;
    return await action();
  } finally {
    process.off("exit", release);
    release();
  }
}

/** A link appears with its content or not at all: nobody ever sees a lock without its owner. */
async function takeLock(own, path) {
  try {
    await link(own, path);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
  const holder = await readFile(path, "utf8").catch(() => null);
  if (holder === null || (await isAlive(holder))) return false;
  // Move it aside before removing it, and look again: somebody else may have taken it over.
  const aside = `${own}.stale`;
  await rename(path, aside).catch(() => {});
  const moved = await readFile(aside, "utf8").catch(() => holder);
  if (moved !== holder) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
  return false;
}

/** A process by its id and, where the system tells, since when it runs: ids are used again. */
async function nameOf(pid) {
  const since = await startOf(pid);
  return since === null ? String(pid) : `${pid} ${since}`;
}

async function isAlive(holder) {
  const [pid = "", ...since] = holder.trim().split(" ");
  if (!exists(Number(pid))) return false;
  const now = await startOf(pid);
  return since.length === 0 || now === null || since.join(" ") === now;
}

function exists(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, as somebody else's.
    return error.code === "EPERM";
  }
}

/** The boot, and the ticks from it until the process began (proc(5), field 22 of `stat`); null where there is no `/proc`. */
async function startOf(pid) {
  try {
    const [boot, stat] = await Promise.all([
      readFile("/proc/sys/kernel/random/boot_id", "utf8"),
      readFile(`/proc/${pid}/stat`, "utf8"),
    ]);
    // The second field is a name in brackets, which may hold anything.
    return `${boot.trim()} ${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]}`;
  } catch {
    return null;
  }
}
