import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A fresh directory with these recordings in it. */
export function folderWith(...files: readonly Uint8Array[]): string {
  const directory = mkdtempSync(join(tmpdir(), "recording-"));
  for (const [i, bytes] of files.entries()) writeFileSync(join(directory, `${i}.nvtxrec`), bytes);
  return directory;
}

/** A folder of `tests/fixtures/recordings`. */
export const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../../fixtures/recordings/${name}`, import.meta.url));
