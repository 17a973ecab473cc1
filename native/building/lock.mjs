import { randomUUID } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { stat, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { isAlive, parseHolder, thisHolder } from "./holder.mjs";
import { ownFile, tryToTake } from "./take-lock.mjs";

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
  const content = JSON.stringify(self);
  const own = ownFile(path, content);
  const release = () => {
    // A process that was stopped for long (Ctrl-Z) looked dead: the lock is another's then.
    if (contentOf(path) === content) rmSync(path, { force: true });
    rmSync(own, { force: true });
  };
  // Also where `action` ends the process.
  process.once("exit", release);
  let heart;
  try {
    await writeFile(own, content);
    const isDead = deadBy(silentLooks);
    for (let isTold = false; ; ) {
      const { isHeld, rival } = await tryToTake(path, content, isDead);
      if (isHeld) break;
      if (rival !== null && !isTold) {
        const host = parseHolder(rival)?.host ?? "unknown";
        onWait(host === self.host ? null : host);
        isTold = true;
      }
      signal?.throwIfAborted();
      await delay(LOOK_MS);
    }
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

/** Whether a process is dead: a question to the machine, or one to be asked again and again of who is elsewhere. */
function deadBy(silentLooks) {
  const isSilent = silenceFor(silentLooks);
  return async (file, text) => {
    const holder = parseHolder(text);
    const alive = holder === null ? "elsewhere" : await isAlive(holder);
    return alive === "elsewhere" ? isSilent(file, text) : !alive;
  };
}

/** Whether a file has not been renewed for so many looks: clocks of machines need not agree, and who sleeps sees no silence. */
function silenceFor(silentLooks) {
  const known = new Map();
  return async (file, text) => {
    const time = await stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => null,
    );
    const seen = `${time} ${text}`;
    const before = known.get(file);
    const looks = before?.seen === seen ? before.looks + 1 : 0;
    known.set(file, { seen, looks });
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
