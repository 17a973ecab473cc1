// The file that node-gyp builds from.
import { existsSync } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * At the root of a clone. The packed package has it in `dist`: npm compiles what has one at its root when
 * it installs from a lockfile, which does not repeat `"gypfile": false`.
 */
export function gypFile(root) {
  const own = join(root, "binding.gyp");
  return existsSync(own) ? own : join(root, "dist", "binding.gyp");
}

/** node-gyp takes no other name and place: elsewhere than in a clone it is there only while it is needed. */
export async function withGypFile(root, dir, build) {
  const needed = join(dir, "binding.gyp");
  const own = gypFile(root);
  if (own === needed) return build();
  await cp(own, needed, { preserveTimestamps: true });
  try {
    return await build();
  } finally {
    await rm(needed, { force: true });
  }
}
