/**
 * Reports that ncu compressed: since 2025.4 it can, into `.ncu-repz` (zstd), and newer ones do so where the name that
 * they are given has no extension.
 */
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../../values/errors.ts";
import { findExecutable } from "../../machine/executable.ts";
import { makeTemporaryDirectory } from "../../machine/temporary-directory.ts";

/** What every file of zstd begins with. */
export const ZSTD_MAGIC = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd);

export const COMPRESSED_EXTENSION = ".ncu-repz";
const EXTENSIONS = [".ncu-rep", COMPRESSED_EXTENSION];

export const isReportName = (name: string): boolean =>
  EXTENSIONS.some((extension) => name.endsWith(extension));

/** The report that ncu was told to write as `base`; null where there is none. */
export const findReport = (base: string): string | null =>
  EXTENSIONS.map((extension) => `${base}${extension}`).find((file) => existsSync(file)) ?? null;

/**
 * What is in a compressed report, as an open file that has no name: whoever closes it is rid of it.
 *
 * @throws ConfigError `profile.input` without `zstd` on the machine, or of a damaged file
 */
export function openUnpacked(path: string): number {
  const zstd = findExecutable("zstd", "/");
  if (zstd === null) throw unpackError(path, "it is compressed, and zstd is not installed");
  const folder = makeTemporaryDirectory("deep-profile-report-");
  const file = join(folder, "unpacked.ncu-rep");
  const descriptor = openSync(file, "w+");
  try {
    const { status, error, stderr } = spawnSync(zstd, ["-q", "-d", "-c", "--", path], {
      stdio: ["ignore", descriptor, "pipe"],
      encoding: "utf8",
    });
    if (status !== 0)
      throw unpackError(path, `zstd could not unpack it: ${error?.message ?? lastLine(stderr)}`);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const lastLine = (text: string): string => text.trim().split("\n").at(-1)?.trim() ?? "";

const unpackError = (path: string, why: string): ConfigError =>
  new ConfigError({
    code: "profile.input",
    message: `${path}: ${why}`,
    hint: "unpack it: zstd -d -o REPORT.ncu-rep REPORT.ncu-repz; or set HYDRACONF_NSIGHT to the directory of an ncu at least as new as the one that wrote it",
  });
