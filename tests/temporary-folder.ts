import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** All that the tests put into the folder for temporary files goes with them. */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-tests-"));
  process.env["TMPDIR"] = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
