import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import {
  type RecordedTimeline,
  readRecordingFiles,
  recordingFiles,
} from "../../src/profiler/tools/recorder/read.ts";
import { recorderEnvironment } from "./fixtures.ts";
import type { Outcome } from "./programs.ts";

/** An empty directory for recordings. */
export const recordingDirectory = (): string => mkdtempSync(join(tmpdir(), "recording-"));

export interface Recorded {
  readonly outcome: Outcome;
  readonly timeline: RecordedTimeline;
  readonly directory: string;
}

/** Runs a program under the recorder and reads what it recorded. */
export async function record(
  program: string,
  args: readonly string[] = [],
  variables: Readonly<Record<string, string>> = {},
): Promise<Recorded> {
  const directory = recordingDirectory();
  const env = { ...(await recorderEnvironment(directory)), ...variables };
  const { exitCode, stdout, stderr } = await execa(program, args, { reject: false, env });
  const outcome = { code: exitCode, stdout, stderr };
  // All ranges: a busy thread of a fast machine records more than are usually kept.
  const timeline = readRecordingFiles(recordingFiles(directory), Number.POSITIVE_INFINITY);
  return { outcome, timeline, directory };
}
