import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** All that the tests put into the folder for temporary files goes with them. */
export function setup(): () => void {
  // A short name: what Hydra writes about its directories is folded at 80 columns.
  const folder = mkdtempSync(join(tmpdir(), "hc-"));
  process.env["TMPDIR"] = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
