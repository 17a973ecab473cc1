import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { writeFileAtomicSync } from "../../atomic-write.ts";
import { makeDirectory } from "../../make-directory.ts";
import { identityOf, isRunning, type ProcessIdentity, thisProcess } from "./process-identity.ts";

/** Who holds a claim: the content of its file. */
export interface Holder extends ProcessIdentity {
  /** Whether the process was handed the claim and has not taken it up yet. */
  readonly awaited?: true;
  /** What the holder does with it, for messages. */
  readonly use?: string;
}

/** A claim that this process has. */
export interface Claim {
  /**
   * Makes another process the holder, with no moment in between at which nobody is. What this process
   * had is then not its own any more.
   *
   * @param awaited whether the other process will take the claim up itself
   */
  handOver(pid: number, awaited?: boolean): void;
  /** Gives it up. */
  release(): void;
}

export type ClaimAttempt =
  | { readonly kind: "taken"; readonly claim: Claim }
  | { readonly kind: "held"; readonly holder: Holder; readonly alive: true | "elsewhere" };

/**
 * Claims something for this process: whoever can link the file has it. What a dead process left
 * behind counts for nothing, and a claim that was handed to this process is taken up.
 */
export function tryClaim(file: string, use?: string): ClaimAttempt {
  const own: Holder = { ...thisProcess(), ...(use === undefined ? {} : { use }) };
  makeDirectory(dirname(file));
  for (;;) {
    if (linked(file, JSON.stringify(own))) return { kind: "taken", claim: claimOf(file, use) };
    const text = read(file);
    if (text === undefined) continue;
    const holder = parsed(text);
    const alive = holder !== undefined && isRunning(holder);
    if (holder !== undefined && alive !== false) {
      if (holder.awaited !== true || holder.pid !== own.pid) return { kind: "held", holder, alive };
      writeFileAtomicSync(file, JSON.stringify(own));
      return { kind: "taken", claim: claimOf(file, use) };
    }
    removeStale(file, text);
  }
}

/** Who holds a claim right now; undefined where nobody does. */
export function holderOf(file: string): Holder | undefined {
  const text = read(file);
  const holder = text === undefined ? undefined : parsed(text);
  return holder !== undefined && isRunning(holder) !== false ? holder : undefined;
}

function claimOf(file: string, use: string | undefined): Claim {
  let isOurs = true;
  return {
    handOver(pid, awaited = false) {
      isOurs = false;
      const holder: Holder = {
        ...identityOf(pid),
        ...(awaited ? { awaited } : {}),
        ...(use === undefined ? {} : { use }),
      };
      writeFileAtomicSync(file, JSON.stringify(holder));
    },
    release() {
      if (isOurs) rmSync(file, { force: true });
      isOurs = false;
    },
  };
}

/** Linked into place with its content: nobody ever reads a claim that is half written. */
function linked(file: string, text: string): boolean {
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, text);
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Removes a claim that a dead process left behind, unless it has been replaced. Of several that find it, one
 * at a time may look again and remove: who comes late would otherwise remove the claim of who was faster.
 */
function removeStale(file: string, stale: string): void {
  const guard = `${file}.takeover`;
  if (!linked(guard, "")) {
    if (isAbandoned(guard)) rmSync(guard, { force: true });
    else pause();
    return;
  }
  try {
    if (read(file) === stale) rmSync(file, { force: true });
  } finally {
    rmSync(guard, { force: true });
  }
}

/** What a guard is there for takes microseconds: one this old belongs to a process that was killed meanwhile. */
const ABANDONED_MS = 5_000;

function isAbandoned(guard: string): boolean {
  const since = statSync(guard, { throwIfNoEntry: false })?.mtimeMs;
  return since !== undefined && Math.abs(Date.now() - since) > ABANDONED_MS;
}

/** A millisecond, in a function that cannot wait. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function parsed(text: string): Holder | undefined {
  try {
    return JSON.parse(text) as Holder;
  } catch {
    return undefined;
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;
