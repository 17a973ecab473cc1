/** Claims: lock files that say which process holds something, and that a dead process does not keep. */
import { createHash, randomUUID } from "node:crypto";
import { chmodSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import {
  type AtomicOptions,
  aboutFile,
  draftBeside,
  isForOthers,
  removeIfAllowed,
  writeFileAtomicSync,
} from "./atomic-write.ts";
import { errorCode, makeDirectory } from "./files.ts";
import { identityOf, isRunning, type ProcessIdentity, thisProcess } from "./process-identity.ts";
import { amount, fits, type Shape, text } from "./shape.ts";

/** The holder of a claim: the content of the claim's file. */
export interface Holder extends ProcessIdentity {
  /** Whether the claim was handed over to the process, which has not accepted it yet. */
  readonly awaited?: true;
  /** The purpose of the claim, for messages. */
  readonly use?: string;
}

/** The claim file of a directory while one process fills it: a run directory, or one for reports. */
export const DIRECTORY_CLAIM = ".running";

/** A claim that this process holds. */
export interface Claim {
  /**
   * Makes another process the holder, without a moment in which nobody is. Afterwards `release` of this claim does
   * nothing.
   * @param options.awaited whether the other process is going to accept the claim itself
   */
  handOver(pid: number, options?: { readonly awaited?: boolean }): void;
  /**
   * Whether its file is as this process wrote it. If that was damaged or removed, another process may take it for the claim of a
   * dead one.
   */
  isWhole(): boolean;
  /**
   * Releases the claim, unless another process has it. If its file cannot be removed, the claim ends with this process; the work done under it is
   * valid.
   */
  release(): void;
}

export type ClaimAttempt =
  | { readonly kind: "taken"; readonly claim: Claim }
  | { readonly kind: "held"; readonly holder: Holder; readonly alive: true | "elsewhere" };

/**
 * Tries to claim something for this process: the process whose link succeeds holds it. A claim of a dead process is
 * replaced, and one that was handed to this process is accepted.
 *
 * No clock is needed: a process is dead if its number is free or belongs to another process, which boot and start time
 * show.
 *
 * @param options.use what it is claimed for, for messages
 * @param options.mode the file's rights, whatever the umask is; by default as the umask says
 */
export function tryClaim(
  file: string,
  { mode, use }: { readonly use?: string; readonly mode?: number } = {},
): ClaimAttempt {
  const content = contentOf({ ...thisProcess(), ...(use !== undefined && { use }) });
  const options = mode === undefined ? {} : { mode };
  const claimed = () => claimOf(file, content, use, options);
  makeDirectory(dirname(file));
  for (let attempts = 0; ; attempts++) {
    if (linked(file, content, options)) return { kind: "taken", claim: claimed() };
    const text = read(file);
    if (text === undefined) continue;
    const holder = parsed(text);
    const alive = holder !== undefined && isRunning(holder);
    if (holder !== undefined && alive !== false) {
      const isHandedToUs = holder.awaited === true && alive === true && holder.pid === process.pid;
      if (!isHandedToUs) return { kind: "held", holder, alive };
      writeFileAtomicSync(file, content, options);
      return { kind: "taken", claim: claimed() };
    }
    // Without hard links, a claim can be read while it is half written.
    if (holder === undefined && attempts < HALF_WRITTEN_ATTEMPTS) pause();
    else {
      const rival = succeed(file, text, content, options);
      if (rival === undefined) return { kind: "taken", claim: claimed() };
      if (rival === "none" || attempts < RIVAL_ATTEMPTS) pause();
      else return { kind: "held", holder: rival, alive: true };
    }
  }
}

/** The living process that holds a claim; undefined without one. */
export function holderOf(file: string): Holder | undefined {
  const text = read(file);
  const holder = text === undefined ? undefined : parsed(text);
  return holder !== undefined && isRunning(holder) !== false ? holder : undefined;
}

function claimOf(
  file: string,
  content: string,
  use: string | undefined,
  options: AtomicOptions,
): Claim {
  let isOurs = true;
  return {
    handOver(pid, { awaited = false } = {}) {
      isOurs = false;
      const holder: Holder = {
        ...identityOf(pid),
        ...(awaited && { awaited }),
        ...(use !== undefined && { use }),
      };
      writeFileAtomicSync(file, contentOf(holder), options);
    },
    isWhole: () => read(file) === content,
    release() {
      if (isOurs && !isOfAnother(file, content)) removeIfAllowed(file);
      isOurs = false;
    },
  };
}

/** A claim that cannot be read is nobody's. */
function isOfAnother(file: string, content: string): boolean {
  try {
    const text = read(file);
    return text !== undefined && text !== content && parsed(text) !== undefined;
  } catch {
    return false;
  }
}

/** Every claim has unique content, so that a dead claim differs from a later one of the same process. */
const contentOf = (holder: Holder): string => JSON.stringify({ ...holder, id: randomUUID() });

/** Creates a claim by a hard link to a complete draft, so that it is never read half written. */
function linked(file: string, text: string, { mode }: AtomicOptions): boolean {
  const draft = draftBeside(file);
  try {
    writeFileSync(draft, text, mode === undefined ? {} : { mode });
    if (mode !== undefined && isForOthers(mode)) chmodSync(draft, mode);
    linkSync(draft, file);
    return true;
  } catch (error) {
    const code = errorCode(error);
    // A network file system may lose the answer and repeat the request: our link then exists already.
    if (code === "EEXIST") return statSync(draft, { throwIfNoEntry: false })?.nlink === 2;
    if (code !== undefined && HAS_NO_LINKS.has(code) && read(draft) === text)
      return createdAnew(file, text, mode);
    throw aboutFile(error, file, draft);
  } finally {
    removeIfAllowed(draft);
  }
}

/** Error codes of file systems without hard links: FAT, some mounts. */
const HAS_NO_LINKS = new Set(["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "EINVAL"]);

function createdAnew(file: string, text: string, mode: number | undefined): boolean {
  try {
    writeFileSync(file, text, { flag: "wx", ...(mode !== undefined && { mode }) });
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

/**
 * Replaces the claim of a dead process. The right to do so is itself a claim, in a file named after the content of the
 * dead one: so there is one successor, and if it dies before it is done, one successor of that. A late process finds
 * that the claim has changed, and does not replace it.
 *
 * @returns undefined on success; otherwise the current holder, if there is one
 */
function succeed(
  file: string,
  dead: string,
  content: string,
  options: AtomicOptions,
): Holder | "none" | undefined {
  const locks: string[] = [];
  let predecessor = dead;
  for (;;) {
    const lock = `${file}.after-${createHash("sha256").update(predecessor).digest("hex").slice(0, 16)}`;
    locks.push(lock);
    if (linked(lock, content, options)) break;
    const successor = read(lock);
    if (successor === undefined) return "none";
    const holder = parsed(successor);
    if (holder !== undefined && isRunning(holder) !== false) return holder;
    predecessor = successor;
  }
  try {
    if (read(file) !== dead) return "none";
    writeFileAtomicSync(file, content, options);
    return undefined;
  } finally {
    for (const lock of locks) rmSync(lock, { force: true });
  }
}

/** Attempts, a millisecond apart, after which an unreadable claim counts as left half written. */
const HALF_WRITTEN_ATTEMPTS = 100;
/** Attempts after which a successor that is not done must be suspended, and counts as the holder. */
const RIVAL_ATTEMPTS = 1_000;

/** Blocks for a millisecond, in synchronous code. */
export function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    // ENOTDIR: a file stands in place of a parent directory.
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** If anything else of a claim is damaged, it still looks held, which is the safe side. */
const HOLDER: Shape<Pick<Holder, "host" | "pid">> = { host: text, pid: amount };

function parsed(text: string): Holder | undefined {
  try {
    const holder: unknown = JSON.parse(text);
    return fits(holder, HOLDER) ? (holder as Holder) : undefined;
  } catch {
    return undefined;
  }
}
