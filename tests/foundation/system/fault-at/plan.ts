/** The plan of faults that processes under `fault-at.cc` share: a file that they map. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, openSync, readSync, writeFileSync, writeSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** What is tried: errors that the system gives, whichever operation it is asked for. */
export const ERRORS = ["ENOSPC", "EIO", "EMFILE", "EINTR", "EROFS"] as const;
export type FaultError = (typeof ERRORS)[number];

/** By the number that `fault-at.cc` gives each operation, the errors that Linux may answer it with. */
const POSSIBLE: Readonly<Record<number, readonly FaultError[]>> = {
  1: ["EIO", "EMFILE", "EINTR"],
  2: ["ENOSPC", "EIO", "EMFILE", "EINTR", "EROFS"],
  3: ["EIO", "EINTR"],
  4: ["ENOSPC", "EIO", "EINTR"],
  5: ["ENOSPC", "EIO", "EINTR"],
  6: ["ENOSPC", "EIO", "EINTR", "EROFS"],
  7: ["EIO", "EINTR", "EROFS"],
  8: ["ENOSPC", "EIO", "EROFS"],
  9: ["ENOSPC", "EIO", "EROFS"],
  10: ["EIO", "EROFS"],
  11: ["ENOSPC", "EIO", "EROFS"],
  12: ["EIO"],
  13: ["EIO", "EMFILE"],
};

/** One fault: the operation with this number, from 1, of the processes with a role. */
export interface Fault {
  readonly role: number;
  readonly at: number;
  readonly error: FaultError;
}

/** Each operation of the processes with a role fails, until other faults are armed. */
export interface LastingFault {
  readonly role: number;
  readonly at: "all";
  readonly error: FaultError;
}

/** Launchers, and programs that run in their process. */
export const LAUNCHER = 0;
/** The worker of a job. */
export const worker = (number: number): number => 1 + number;
/** Programs that are not Node. */
export const OTHER = 15;

const ROLES = 16;
const HEAD = 256;
const TRACED = 4096;
const SIZE = HEAD + TRACED;

export interface FaultPlan {
  /** Counts from 0 again, with these faults. */
  arm(...faults: readonly (Fault | LastingFault)[]): void;
  /** The operations of a role since then, by their numbers in `fault-at.cc`. */
  operations(role: number): readonly number[];
  /** What has failed, for messages: `rename /path`; undefined where a fault was not reached. */
  failed(role: number): string | undefined;
}

/**
 * The environment of processes that follow a plan of their own.
 *
 * @param within what is part of the paths that count
 */
export function underPlan(within: string): Readonly<Record<string, string>> {
  const file = join(mkdtempSync(join(tmpdir(), "hydraconf-plan-")), "plan");
  writeFileSync(file, Buffer.alloc(ROLES * SIZE));
  return {
    LD_PRELOAD: library(),
    FAULT_WITHIN: within,
    FAULT_PLAN: file,
    // Operations that the kernel queues by itself are no calls of the C library.
    UV_USE_IO_URING: "0",
  };
}

/** The plan that processes with this environment follow. */
export function openPlan({
  FAULT_PLAN = "",
}: Readonly<Record<string, string | undefined>>): FaultPlan {
  const descriptor = openSync(FAULT_PLAN, "r+");
  const part = (role: number, start: number, size: number): Buffer => {
    const bytes = Buffer.alloc(size);
    readSync(descriptor, bytes, 0, size, role * SIZE + start);
    return bytes;
  };
  return {
    arm(...faults) {
      writeSync(descriptor, Buffer.alloc(ROLES * SIZE), 0, ROLES * SIZE, 0);
      for (const { at, error, role } of faults)
        writeSync(descriptor, armed(at, error), 0, 12, role * SIZE);
    },
    operations: (role) => {
      const count = part(role, 0, 4).readInt32LE();
      return [...part(role, HEAD, Math.min(count, TRACED))];
    },
    failed(role) {
      const head = part(role, 0, HEAD);
      if (head.readInt32LE(12) === 0) return undefined;
      return head.toString("utf8", 16, head.indexOf(0, 16));
    },
  };
}

function armed(at: number | "all", error: FaultError): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeInt32LE(at === "all" ? -1 : at, 4);
  bytes.writeInt32LE(constants.errno[error], 8);
  return bytes;
}

/** All faults of a role: each operation with each error that it may get. */
export const faultsOf = (role: number, operations: readonly number[]): readonly Fault[] =>
  operations.flatMap((operation, index) =>
    (POSSIBLE[operation] ?? []).map((error) => ({ role, at: index + 1, error })),
  );

const SOURCE = fileURLToPath(new URL("fault-at.cc", import.meta.url));
let built: string | undefined;

/** The library that lets operations fail, compiled once. */
function library(): string {
  if (built !== undefined) return built;
  const file = join(mkdtempSync(join(tmpdir(), "hydraconf-fault-at-")), "fault-at.so");
  const flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"];
  execFileSync("c++", [...flags, "-o", file, SOURCE, "-ldl"]);
  built = file;
  return file;
}
