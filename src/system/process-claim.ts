import { createHash, randomUUID } from "node:crypto";
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { aboutFile, draftBeside, removeIfAllowed, writeFileAtomicSync } from "./atomic-write.ts";
import { errorCode, makeDirectory } from "./files.ts";
import { identityOf, isRunning, type ProcessIdentity, thisProcess } from "./process-identity.ts";

/** Who holds a claim: the content of its file. */
export interface Holder extends ProcessIdentity {
  /** Whether the process was handed the claim and has not taken it up yet. */
  readonly awaited?: true;
  /** What the holder does with it, for messages. */
  readonly use?: string;
}

/** What a directory that one process fills holds meanwhile: a run's, and one that reports are made into. */
export const DIRECTORY_CLAIM = ".running";

/** A claim that this process has. */
export interface Claim {
  /**
   * Makes another process the holder, with no moment in between without a holder. What this process
   * had is then not its own any more.
   *
   * @param options.awaited whether the other process will take the claim up itself
   */
  handOver(pid: number, options?: { readonly awaited?: boolean }): void;
  /** Gives it up. Where its file cannot be removed it ends with this process: what was done under it is done all the same. */
  release(): void;
}

export type ClaimAttempt =
  | { readonly kind: "taken"; readonly claim: Claim }
  | { readonly kind: "held"; readonly holder: Holder; readonly alive: true | "elsewhere" };

/**
 * Claims something for this process: the process whose link succeeds has it. What a dead process left
 * behind counts for nothing, and a claim that was handed to this process is taken up.
 *
 * No clock is asked: a process is dead if its number is free or another's, by boot and start time.
 */
export function tryClaim(file: string, use?: string): ClaimAttempt {
  const own = contentOf({ ...thisProcess(), ...(use !== undefined && { use }) });
  makeDirectory(dirname(file));
  for (let looks = 0; ; looks++) {
    if (linked(file, own)) return { kind: "taken", claim: claimOf(file, use) };
    const text = read(file);
    if (text === undefined) continue;
    const holder = parsed(text);
    const alive = holder !== undefined && isRunning(holder);
    if (holder !== undefined && alive !== false) {
      const isHandedToUs = holder.awaited === true && alive === true && holder.pid === process.pid;
      if (!isHandedToUs) return { kind: "held", holder, alive };
      writeFileAtomicSync(file, own);
      return { kind: "taken", claim: claimOf(file, use) };
    }
    // Where files cannot be linked, a claim is half written for a moment.
    if (holder === undefined && looks < HALF_WRITTEN_LOOKS) pause();
    else {
      const rival = succeed(file, text, own);
      if (rival === undefined) return { kind: "taken", claim: claimOf(file, use) };
      if (rival === "none" || looks < RIVAL_LOOKS) pause();
      else return { kind: "held", holder: rival, alive: true };
    }
  }
}

/** The process that holds a claim right now; undefined without one. */
export function holderOf(file: string): Holder | undefined {
  const text = read(file);
  const holder = text === undefined ? undefined : parsed(text);
  return holder !== undefined && isRunning(holder) !== false ? holder : undefined;
}

function claimOf(file: string, use: string | undefined): Claim {
  let isOurs = true;
  return {
    handOver(pid, { awaited = false } = {}) {
      isOurs = false;
      const holder: Holder = {
        ...identityOf(pid),
        ...(awaited && { awaited }),
        ...(use !== undefined && { use }),
      };
      writeFileAtomicSync(file, contentOf(holder));
    },
    release() {
      if (isOurs) removeIfAllowed(file);
      isOurs = false;
    },
  };
}

/** No two claims have one content: a dead one is told from a later one of the same process. */
const contentOf = (holder: Holder): string => JSON.stringify({ ...holder, id: randomUUID() });

/** Linked into place with its content: a claim is never read half written. */
function linked(file: string, text: string): boolean {
  const draft = draftBeside(file);
  try {
    writeFileSync(draft, text);
    linkSync(draft, file);
    return true;
  } catch (error) {
    const code = errorCode(error);
    // Over a network, an answer may be lost and the question be asked again.
    if (code === "EEXIST") return statSync(draft, { throwIfNoEntry: false })?.nlink === 2;
    if (code !== undefined && HAS_NO_LINKS.has(code) && read(draft) === text)
      return createdAnew(file, text);
    throw aboutFile(error, file, draft);
  } finally {
    removeIfAllowed(draft);
  }
}

/** What file systems say that know no hard links: FAT, some that are mounted from elsewhere. */
const HAS_NO_LINKS = new Set(["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "EINVAL"]);

function createdAnew(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: "wx" });
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

/**
 * Puts a claim in the place of one that a dead process left behind. Who may do so is itself claimed, by a
 * file that is named after the dead claim: so there is one successor, and one of a successor that died
 * before it was done. A late process finds another claim than the dead one, and does not succeed it.
 *
 * @returns undefined where it did; else the holder at this moment, if there is one
 */
function succeed(file: string, dead: string, own: string): Holder | "none" | undefined {
  const rights: string[] = [];
  let predecessor = dead;
  for (;;) {
    const right = `${file}.after-${createHash("sha256").update(predecessor).digest("hex").slice(0, 16)}`;
    rights.push(right);
    if (linked(right, own)) break;
    const successor = read(right);
    if (successor === undefined) return "none";
    const holder = parsed(successor);
    if (holder !== undefined && isRunning(holder) !== false) return holder;
    predecessor = successor;
  }
  try {
    if (read(file) !== dead) return "none";
    writeFileAtomicSync(file, own);
    return undefined;
  } finally {
    for (const right of rights) rmSync(right, { force: true });
  }
}

/** Looks, a millisecond apart, after which what cannot be read was left so. */
const HALF_WRITTEN_LOOKS = 100;
/** Looks after which a successor who is not done is stopped, and holds the claim for all we know. */
const RIVAL_LOOKS = 1_000;

/** A millisecond, in a function that cannot wait. */
export function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    // Below a file there is none either.
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Birth and namespace may be missing: earlier versions did not write all of it. */
const isHolder = (value: unknown): value is Holder =>
  typeof value === "object" &&
  value !== null &&
  "host" in value &&
  typeof value.host === "string" &&
  "pid" in value &&
  typeof value.pid === "number";

function parsed(text: string): Holder | undefined {
  try {
    const holder: unknown = JSON.parse(text);
    return isHolder(holder) ? holder : undefined;
  } catch {
    return undefined;
  }
}
