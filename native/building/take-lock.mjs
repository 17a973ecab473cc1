// Making oneself the holder of a lock, also where a dead process is.
import { createHash } from "node:crypto";
import fs from "node:fs/promises";

/** Where a process writes down who it is before it links that to `path`: what a lock file says chooses no name. */
export const ownFile = (path, content) =>
  `${path}.${createHash("sha256").update(content).digest("hex").slice(0, 32)}`;

/** Linked to by the one process that may replace the lock of a dead one, and by its successor in turn should it die at that. */
const successionTo = (path, content) => `${ownFile(path, content)}.next`;

/**
 * Makes `ownFile(path, content)`, whose content no other file has, the lock at `path` unless somebody alive has it. The lock of a
 * dead process is replaced in one step, by the only one that may. Moved aside to see whose it is, it could have
 * become another's, and while it is away a third process would take it.
 *
 * @param isDead whether who wrote `text` into `file` is dead; asked of a file once a call
 * @param files does all that is done with files
 * @returns whether it is the lock now; if not, the content of who has it or is about to, null where that is gone already
 */
export async function tryToTake(path, content, isDead, files = fs) {
  const dead = [];
  for (let place = path; ; place = successionTo(path, dead.at(-1))) {
    if (await linked(ownFile(path, content), place, files)) break;
    const other = await contentOf(place, files);
    // Of a link that was made NFS may say that it was there already: the answer to the first request was lost.
    if (other === content) break;
    if (other === null || !(await isDead(place, other))) return { isHeld: false, rival: other };
    dead.push(other);
  }
  const isHeld = dead.length === 0 || (await succeeded(path, dead, files));
  return { isHeld, rival: null };
}

/** A link appears with its content or not at all: nobody ever sees a lock without its owner. */
async function linked(own, place, files) {
  try {
    await files.link(own, place);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    return false;
  }
}

/** False where the lock is not the dead one's any more: what leads to a successor of it means nothing then. */
async function succeeded(path, dead, files) {
  const succession = successionTo(path, dead.at(-1));
  try {
    if ((await contentOf(path, files)) !== dead[0]) return false;
    await files.rename(succession, path);
  } finally {
    await files.rm(succession, { force: true });
  }
  // Nobody else would: the next processes have names of their own.
  for (const text of dead)
    for (const left of [ownFile(path, text), successionTo(path, text)])
      await files.rm(left, { force: true });
  return true;
}

/** Null for a file that is not there. */
async function contentOf(file, files) {
  try {
    return await files.readFile(file, "utf8");
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return null;
  }
}
