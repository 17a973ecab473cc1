import { accessSync, constants } from "node:fs";
import os from "node:os";
import { askProgram } from "../../machine/ask-program.ts";

/** What a call of ncu that profiles nothing printed. */
export interface NcuAnswer {
  readonly stdout: string;
  readonly stderr: string;
}

/** Long enough for a big report and a slow disk, short enough for a tool that waits for a driver. */
const TIMEOUT_MS = 120_000;
const MAX_ANSWER_BYTES = 64e6;

/** Asks ncu for something that it prints: its version, its sections, its metrics. Never throws. */
export async function askNcu(path: string, args: readonly string[]): Promise<NcuAnswer> {
  const { stdout, stderr, why } = await askProgram([path, ...args], {
    env: ncuEnvironment(),
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_ANSWER_BYTES,
  });
  return { stdout, stderr: stderr || why };
}

/**
 * What every call of ncu gets: numbers without groups and with a point, whatever the user's locale
 * is (a CSV of an unknown locale cannot be read); and no copy of its section files where it could
 * not write one, which would make it fail.
 */
export function ncuEnvironment(): Readonly<Record<string, string>> {
  return { LC_ALL: "C.UTF-8", ...sectionFiles() };
}

/** The same for a program that runs under ncu: its locale stays its own. */
export const sectionFiles = (): Readonly<Record<string, string>> =>
  homeIsWritable() ? {} : { NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT: "1" };

/** A user without a name and without HOME has no home, and asking for it throws. */
function homeIsWritable(): boolean {
  try {
    accessSync(os.homedir(), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
