// Who holds a lock, in words that other processes and machines understand.
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";

/** This process: by its machine, its number, what that counts in, and since when it has it, as far as the system tells. */
export async function thisHolder() {
  const [since, namespace] = await Promise.all([sinceOf(process.pid), ownNamespace()]);
  return { host: hostname(), pid: process.pid, since, namespace };
}

/** What a lock file says; null for a text that is none. */
export function parseHolder(text) {
  try {
    const holder = JSON.parse(text);
    return typeof holder?.host === "string" && Number.isInteger(holder.pid) ? holder : null;
  } catch {
    return null;
  }
}

/** Whether a holder lives; `elsewhere`: on another machine or in another container, so that it cannot be asked. */
export async function isAlive({ host, pid, since, namespace }) {
  if (host !== hostname()) return "elsewhere";
  const own = await sinceOf(process.pid);
  if (since !== null && own !== null && since.boot !== own.boot) return false;
  if (namespace !== (await ownNamespace())) return "elsewhere";
  if (!exists(pid)) return false;
  const now = await sinceOf(pid);
  return since === null || now === null || now.ticks === since.ticks;
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
async function sinceOf(pid) {
  try {
    const [boot, stat] = await Promise.all([
      readFile("/proc/sys/kernel/random/boot_id", "utf8"),
      readFile(`/proc/${pid}/stat`, "utf8"),
    ]);
    // The second field is a name in brackets, which may hold anything.
    return { boot: boot.trim(), ticks: stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] };
  } catch {
    return null;
  }
}

/** A container of the same host name counts its processes anew. */
const ownNamespace = () => readlink("/proc/self/ns/pid").catch(() => null);
