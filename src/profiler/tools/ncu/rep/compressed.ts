/**
 * Compressed reports: since 2025.4 ncu can write `.ncu-repz` (zstd), and newer versions do so if the given name has no
 * extension.
 */
import { closeSync, existsSync, fstatSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../../../engine/values/errors.ts";
import { limitError } from "../../../../engine/values/limits.ts";
import { type Answer, askProgramSync } from "../../../../foundation/system/ask-program-sync.ts";
import { findExecutable } from "../../../../foundation/system/find-program.ts";
import { makeTemporaryDirectory } from "../../../machine/run-files.ts";

/** The beginning of every zstd file. */
export const ZSTD_MAGIC = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd);

export const COMPRESSED_EXTENSION = ".ncu-repz";
const EXTENSIONS = [".ncu-rep", COMPRESSED_EXTENSION];

/** The report that ncu wrote for the name `base`; null if there is none. */
export const findReport = (base: string): string | null =>
  EXTENSIONS.map((extension) => `${base}${extension}`).find((file) => existsSync(file)) ?? null;

/**
 * Unpacks a compressed report to an open file without a name: closing it removes it, and nothing is left if this
 * process is killed.
 *
 * @param magic the beginning of a report, of ASCII characters: other contents are not unpacked further
 * @param mostBytes the size limit
 * @throws ConfigError `profile.input` if `zstd` is not installed, and for a damaged file or other contents;
 * `limit.unpacked_bytes`
 */
export function openUnpacked(path: string, magic: Uint8Array, mostBytes: number): number {
  const zstd = findExecutable("zstd", "/");
  if (zstd === null) throw unpackError(path, "it is compressed, and zstd is not installed");
  const unpack = [zstd, "-q", "-d", "-c", "--", path] as const;
  if (!beginsWith(unpack, magic)) throw otherContent(path);
  const descriptor = openNameless();
  try {
    unpackInto(descriptor, unpack, { path, mostBytes });
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** A command that writes the contents of a file to its standard output. */
type Unpack = readonly [program: string, ...args: string[]];

/** Enough for a beginning, and for what zstd says of a damaged file. */
const BEGINNING_BYTES = 65_536;

/**
 * Whether the output begins with these bytes; the command is stopped soon after them. Its failures show when everything is
 * unpacked.
 */
function beginsWith(unpack: Unpack, magic: Uint8Array): boolean {
  const { exitCode, stdout } = askProgramSync({ argv: unpack, maxBytes: BEGINNING_BYTES });
  return (exitCode ?? 0) !== 0 || stdout.startsWith(Buffer.from(magic).toString());
}

/** The name is removed before anything is written. */
function openNameless(): number {
  const folder = makeTemporaryDirectory("deep-profile-report-");
  try {
    return openSync(join(folder, "unpacked.ncu-rep"), "w+");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The system ends the command when the file would become too large, which saves time and disk space. */
function unpackInto(
  descriptor: number,
  unpack: Unpack,
  { path, mostBytes }: { readonly path: string; readonly mostBytes: number },
): void {
  const blocks = Math.ceil(mostBytes / BLOCK);
  const limit = Number.isSafeInteger(blocks) ? String(blocks) : "unlimited";
  const answer = askProgramSync({
    argv: ["/bin/sh", "-c", LIMITED, "sh", limit, ...unpack],
    stdout: { descriptor },
  });
  if (!answer.failed && fstatSync(descriptor).size <= mostBytes) return;
  if (!answer.failed || isTooLarge(answer))
    throw limitError("unpackedBytes", mostBytes, { what: `${path} is compressed, and holds` });
  throw unpackError(path, `zstd could not unpack it: ${lastLine(answer.stderr) || answer.why}`);
}

/** The unit of `ulimit -f`. A command that is ended by the limit must not dump core. */
const BLOCK = 512;
const LIMITED = 'ulimit -c 0; ulimit -f "$1" 2>/dev/null; shift; exec "$@"';

/** Whether the limit's signal ended the command, or an error if a parent ignores that signal. */
const isTooLarge = ({ signal, stderr }: Answer): boolean =>
  signal === "SIGXFSZ" || /File too large/i.test(stderr);

const lastLine = (text: string): string => text.trim().split("\n").at(-1)?.trim() ?? "";

const otherContent = (path: string): ConfigError =>
  new ConfigError({
    code: "profile.input",
    message: `${path} is not a readable Nsight Compute report: what is compressed in it has the wrong signature`,
    hint: "give a report that ncu compressed; of anything else only the first bytes were unpacked",
  });

const unpackError = (path: string, why: string): ConfigError =>
  new ConfigError({
    code: "profile.input",
    message: `${path}: ${why}`,
    hint: "unpack it: zstd -d -o REPORT.ncu-rep REPORT.ncu-repz; or set HYDRACONF_NSIGHT to the directory of an ncu at least as new as the one that wrote it",
  });
