import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll } from "vitest";
import { type RecordedTimeline, readRecording } from "../../src/profile/recording/index.ts";
import { recorderEnvironment } from "./fixtures.ts";
import type { Outcome } from "./programs.ts";

const made: string[] = [];
afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

/** An empty directory for recordings, removed after the test file. */
export function recordingDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "recording-"));
  made.push(directory);
  return directory;
}

export interface Recorded {
  readonly outcome: Outcome;
  readonly timeline: RecordedTimeline;
  readonly directory: string;
}

/** Runs a program under the recorder and reads what it recorded. */
export async function record(program: string, args: readonly string[] = []): Promise<Recorded> {
  const directory = recordingDirectory();
  const env = await recorderEnvironment(directory);
  const { exitCode, stdout, stderr } = await execa(program, args, { reject: false, env });
  const outcome = { code: exitCode, stdout, stderr };
  return { outcome, timeline: readRecording(directory), directory };
}
