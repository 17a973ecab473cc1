import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** All that the tests put into the folder for temporary files goes with them. */
export function setup(): () => Promise<void> {
  // A short name: what Hydra writes about its directories is folded at 80 columns.
  const folder = mkdtempSync(join(tmpdir(), "hc-"));
  process.env["TMPDIR"] = folder;
  // Not at once: there are many files, and workers must be heard meanwhile, which end now.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
}
