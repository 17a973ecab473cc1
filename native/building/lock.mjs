import { randomUUID } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { link, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { isAlive, parseHolder, thisHolder } from "./holder.mjs";

const LOOK_MS = 200;
/** How often a holder renews the time of its lock. */
const BEAT_MS = 5_000;
/** After so many looks at a time that stays it is dead: two minutes, longer than a client of NFS believes what it knows. */
const SILENT_LOOKS = 600;

/**
 * One at a time does what changes a directory: tests, sweeps and users start several at once, on one machine or on
 * several that share it. The lock file names the process that holds it; a dead one's lock is taken over. Whether
 * a process of another machine is dead, only its silence tells.
 *
 * @param onWait is told once, where another process holds the lock, the machine that it is on; null for this one
 * @param options.signal ends the waiting
 * @param options.silentLooks a fifth of a second apart, after which a process of another machine is dead
 */
export async function withLock(path, onWait, action, { signal, silentLooks = SILENT_LOOKS } = {}) {
  // By more than the process: it may build twice at once, and in containers of one name processes have one number.
  const self = { ...(await thisHolder()), id: randomUUID() };
  const own = `${path}.${self.id}`;
  const content = JSON.stringify(self);
  let isHeld = false;
  const release = () => {
    // A process that was stopped for long (Ctrl-Z) looked dead: the lock is another's then.
    if (isHeld && contentOf(path) === content) rmSync(path, { force: true });
    rmSync(own, { force: true });
  };
  // Also where `action` ends the process.
  process.once("exit", release);
  let heart;
  try {
    await writeFile(own, content);
    const isSilent = silenceOf(path, silentLooks);
    for (let isTold = false; !(await linked(own, path)); ) {
      const rival = await rivalAt(own, path, isSilent);
      if (rival !== null && !isTold) {
        onWait(rival.host === self.host ? null : rival.host);
        isTold = true;
      }
      signal?.throwIfAborted();
      await delay(LOOK_MS);
    }
    isHeld = true;
    heart = beat(path);
    return await action();
  } finally {
    await heart?.terminate();
    process.off("exit", release);
    release();
  }
}

function contentOf(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** A link appears with its content or not at all: nobody ever sees a lock without its owner. */
async function linked(own, path) {
  try {
    await link(own, path);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    return false;
  }
}

/** Who holds the lock, if somebody does: a dead one's is removed. */
async function rivalAt(own, path, isSilent) {
  const text = await readFile(path, "utf8").catch(() => null);
  if (text === null) return null;
  const holder = parseHolder(text);
  const alive = holder === null ? "elsewhere" : await isAlive(holder);
  if (alive === true || (alive === "elsewhere" && !(await isSilent(text))))
    return { host: holder?.host ?? "unknown" };
  await removeDead(own, path, text);
  // Nobody else would: the next processes have names of their own.
  if (/^[\w-]+$/.test(holder?.id)) await rm(`${path}.${holder.id}`, { force: true });
  return null;
}

/** Moves it aside before removing it, and looks again: somebody else may have taken it over. */
async function removeDead(own, path, dead) {
  const aside = `${own}.stale`;
  await rename(path, aside).catch(() => {});
  const moved = await readFile(aside, "utf8").catch(() => dead);
  if (moved !== dead) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
}

/** Whether a lock has not been renewed for so many looks: clocks of machines need not agree, and who sleeps sees no silence. */
function silenceOf(path, silentLooks) {
  let known = null;
  let looks = 0;
  return async (text) => {
    const time = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => null,
    );
    const seen = `${time} ${text}`;
    looks = seen === known ? looks + 1 : 0;
    known = seen;
    return looks >= silentLooks;
  };
}

/** In a thread: what this process does under a lock may be to wait for a program. */
function beat(path) {
  const heart = new Worker(new URL("beat.mjs", import.meta.url), {
    workerData: { path, everyMs: BEAT_MS },
    // Not this process's own options: a loader or a debugger has no business there.
    execArgv: [],
  });
  // Without it the lock looks dead to other machines after a while; that is no reason to fail.
  heart.on("error", () => {});
  heart.unref();
  return heart;
}
