import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/**
 * One build at a time per directory: tests and sweeps start several at once. The lock file holds
 * the builder's process id; a dead builder's lock is taken over.
 */
export async function withLock(path, say, action) {
  const own = `${path}.${process.pid}`;
  await writeFile(own, String(process.pid));
  try {
    for (let waited = false; !(await takeLock(own, path)); waited = true) {
      if (!waited) say("another process is building the native part; waiting for it");
      await delay(200);
    }
    try {
      return await action();
    } finally {
      await rm(path, { force: true });
    }
  } finally {
    await rm(own, { force: true });
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
  if (holder === null || isAlive(Number(holder))) return false;
  // Move it aside before removing it, and look again: somebody else may have taken it over.
  const aside = `${own}.stale`;
  await rename(path, aside).catch(() => {});
  const moved = await readFile(aside, "utf8").catch(() => holder);
  if (moved !== holder) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
  return false;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, as somebody else's.
    return error.code === "EPERM";
  }
}
