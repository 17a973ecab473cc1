import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";

const made: string[] = [];
afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

/** A fresh directory with these recordings in it. */
export function folderWith(...files: readonly Uint8Array[]): string {
  const directory = mkdtempSync(join(tmpdir(), "recording-"));
  made.push(directory);
  for (const [i, bytes] of files.entries()) writeFileSync(join(directory, `${i}.nvtxrec`), bytes);
  return directory;
}

/** A folder of `tests/fixtures/recordings`. */
export const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../fixtures/recordings/${name}`, import.meta.url));
