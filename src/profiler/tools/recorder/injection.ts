/**
 * Whether the recorder's library can be loaded into a program, decided by the program's ELF header before it runs. A
 * library for another C library or architecture would at best not load, and at worst crash the program.
 */

import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isErrorNamed } from "../../../foundation/system/builtin-types.ts";
import { findExecutable } from "../../../foundation/system/find-program.ts";

/** The library to load into a program; a note if it runs without ranges, or if ranges have a requirement. */
export type Injection =
  | { readonly library: string; readonly note: string | null }
  | { readonly library: null; readonly note: string };

/** @param library the recorder for the C library of this system */
export function injectionFor(
  argv: readonly string[],
  cwd: string,
  library: string,
  host: Host = thisHost(),
): Injection {
  const [program = ""] = argv;
  const loaded = { library, note: null };
  const path = findExecutable(program, cwd);
  // A program that cannot be found or read causes an error when it is run.
  const executable = path === null ? null : executableOf(path, cwd);
  if (executable === null || process.platform !== "linux") return loaded;
  const { elf } = executable;
  const name = basename(executable.path);
  const without = (why: string): Injection => ({
    library: null,
    note: `${name} ${why}: it runs without the recorder, and no ranges are recorded`,
  });
  if (elf.machine !== host.machine || elf.is64 !== host.is64)
    return without(`is a program for ${machineName(elf)}, not for ${machineName(host)}`);
  if (executable.gainsRights)
    return without("is a setuid or setgid program, into which no library of a user is loaded");
  if (elf.interpreter === null)
    // The version of its C library is unknown, and the recorder's library brings its own.
    return looksForLibrary(executable.path)
      ? without("is statically linked, so that no library of another C library may be loaded")
      : loaded;
  if (isMusl(elf.interpreter) === host.isMusl) return loaded;
  if (host.isMusl) return without("uses another C library (glibc) than the recorder (musl)");
  const forMusl = join(dirname(library), "region_recorder_musl.so");
  return existsSync(forMusl)
    ? { library: forMusl, note: null }
    : without(
        "uses another C library (musl) than the recorder (glibc; with musl-gcc on PATH, 'npm run build:native' builds one for musl)",
      );
}

/**
 * Whether a program loads the library itself. A static one may also start others that do, which inherit the variables.
 */
const looksForLibrary = (path: string): boolean =>
  readFileSync(path, "latin1").includes("NVTX_INJECTION64_PATH");

const isMusl = (interpreter: string): boolean => basename(interpreter).startsWith("ld-musl-");

/** The platform of this system: that of Node itself, for which the recorder was built. */
export interface Host {
  readonly machine: number;
  readonly is64: boolean;
  readonly isMusl: boolean;
}

function thisHost(): Host {
  const hostElf = readElf(process.execPath);
  return {
    machine: hostElf?.machine ?? (process.arch === "arm64" ? MACHINES.aarch64 : MACHINES.x86_64),
    is64: hostElf?.is64 ?? true,
    isMusl: isMusl(hostElf?.interpreter ?? ""),
  };
}

/** `e_machine` of ELF headers. */
const MACHINES = { x86: 3, arm: 40, x86_64: 62, aarch64: 183, riscv: 243, ppc64: 21, s390: 22 };

function machineName({ machine, is64 }: Pick<Elf, "machine" | "is64">): string {
  const name = Object.entries(MACHINES).find(([, number]) => number === machine)?.[0];
  return `${name ?? `machine ${machine}`} (${is64 ? 64 : 32} bits)`;
}

interface Executable {
  readonly path: string;
  readonly elf: Elf;
  /** Whether it runs with the rights of another user or group than this process. */
  readonly gainsRights: boolean;
}

const MAX_INTERPRETERS = 4;

/** The executable that the system loads: for a script, its interpreter. Null if it is not an ELF file. */
function executableOf(path: string, cwd: string): Executable | null {
  let executable = path;
  for (let level = 0; level <= MAX_INTERPRETERS; level++) {
    const elf = readElf(executable);
    if (elf !== null) return { path: executable, elf, gainsRights: gainsRights(executable) };
    const next = interpreterOf(executable, cwd);
    if (next === null) return null;
    executable = next;
  }
  return null;
}

/** The interpreter in `#!`, as the kernel reads it; for `env`, the program that it starts. */
function interpreterOf(path: string, cwd: string): string | null {
  const line = /^#![ \t]*([^\r\n]*)/.exec(firstBytes(path, 512)?.toString("latin1") ?? "")?.[1];
  if (line === undefined) return null;
  const [interpreter = "", ...words] = line.trim().split(/[ \t]+/);
  if (basename(interpreter) !== "env") return findExecutable(interpreter, cwd);
  const program = words.find((word) => !word.startsWith("-") && !word.includes("="));
  return program === undefined ? null : findExecutable(program, cwd);
}

const SET_USER = 0o4000;
const SET_GROUP = 0o2000;
const BY_GROUP = 0o010;

function gainsRights(path: string): boolean {
  const { mode, uid, gid } = statSync(path);
  const ofUser = (mode & SET_USER) !== 0 && uid !== process.geteuid?.();
  // Without execute permission for the group, the bit has another meaning.
  const ofGroup =
    (mode & SET_GROUP) !== 0 && (mode & BY_GROUP) !== 0 && gid !== process.getegid?.();
  return process.geteuid?.() !== 0 && (ofUser || ofGroup);
}

/** The header fields that decide whether the library can be loaded. */
interface Elf {
  readonly machine: number;
  readonly is64: boolean;
  /** The dynamic loader; null for a statically linked program. */
  readonly interpreter: string | null;
}

const PT_INTERP = 3;
/** In practice headers are at the beginning; a program with others is assumed to belong to this system. */
const READ_BYTES = 64 * 1024;

function readElf(path: string): Elf | null {
  const bytes = firstBytes(path, READ_BYTES);
  if (bytes === null || bytes.length < 52 || bytes.readUInt32BE(0) !== 0x7f454c46) return null;
  const is64 = bytes[4] === 2;
  const little = bytes[5] !== 2;
  const u16 = (offset: number) =>
    little ? bytes.readUInt16LE(offset) : bytes.readUInt16BE(offset);
  const word = (offset: number) => {
    if (!is64) return little ? bytes.readUInt32LE(offset) : bytes.readUInt32BE(offset);
    return Number(little ? bytes.readBigUInt64LE(offset) : bytes.readBigUInt64BE(offset));
  };
  try {
    const start = word(is64 ? 32 : 28);
    const size = u16(is64 ? 54 : 42);
    const count = u16(is64 ? 56 : 44);
    let interpreter: string | null = null;
    for (let header = start; header < start + size * count; header += size) {
      const type = little ? bytes.readUInt32LE(header) : bytes.readUInt32BE(header);
      if (type !== PT_INTERP) continue;
      const offset = word(header + (is64 ? 8 : 4));
      const length = word(header + (is64 ? 32 : 16));
      interpreter = bytes.toString("latin1", offset, offset + length).replace(/\0.*$/s, "");
    }
    return { machine: u16(18), is64, interpreter };
  } catch (error) {
    if (isErrorNamed("RangeError", error)) return null;
    throw error;
  }
}

/** Null if it may not be read: programs with mode 711, such as some of root's, can still run. */
function firstBytes(path: string, count: number): Buffer | null {
  let descriptor: number;
  try {
    descriptor = openSync(path, "r");
  } catch {
    return null;
  }
  try {
    const buffer = Buffer.alloc(count);
    return buffer.subarray(0, readSync(descriptor, buffer, 0, count, 0));
  } catch {
    return null;
  } finally {
    closeSync(descriptor);
  }
}

/** Programs that start others where the library and its directory are absent, unless they are mounted. */
const CONTAINERS: ReadonlySet<string> = new Set([
  ...["docker", "podman", "nerdctl", "apptainer", "singularity"],
  ...["enroot", "shifter", "ch-run", "bwrap", "systemd-nspawn", "kubectl"],
]);

/** Why a run in a container has no ranges; null if it is not one. */
export function containerNote(argv: readonly string[], library: string): string | null {
  const program = argv.map((word) => basename(word)).find((word) => CONTAINERS.has(word));
  if (program === undefined) return null;
  return `${program} runs its program where the recorder's library may not be: make ${dirname(library)} and the run directory visible there under the same paths, and pass NVTX_INJECTION64_PATH and HYDRACONF_RECORDER_DIR on`;
}
