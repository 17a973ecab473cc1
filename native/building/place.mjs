// Where the native part is built, and what the last build left there.
import { accessSync, constants, existsSync } from "node:fs";
import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/**
 * Where the build happens: `out` if given, else the package itself, else (an installed package that
 * this user may not write to) a directory of the user's cache, one per version.
 */
export function buildPlace(root, { out }) {
  return placeIn(out !== undefined ? resolve(out) : isWritable(root) ? root : cacheDir(root));
}

export function placeIn(dir) {
  const binDir = join(dir, "build", "Release");
  return {
    dir,
    binDir,
    infoFile: join(binDir, "build-info.json"),
    lastInfoFile: join(dir, "build", "last-build-info.json"),
  };
}

/** What the last build was made of, be it complete or not: null where there was none. */
export const readLastInfo = async ({ infoFile, lastInfoFile }) =>
  (await readInfo(infoFile)) ?? (await readInfo(lastInfoFile));

/** Until a build is complete there is none: an interrupted one must not look ready. */
export async function setInfoAside({ infoFile, lastInfoFile }) {
  try {
    await rename(infoFile, lastInfoFile);
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
}

function isWritable(directory) {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function cacheDir(root) {
  const base = process.env.XDG_CACHE_HOME || homeCache();
  if (base === null) return root;
  const { version } = createRequire(join(root, "package.json"))("./package.json");
  return join(base, "hydraconf", version);
}

/** Null for a user without a home: programs in containers can have neither HOME nor a user's name. */
function homeCache() {
  try {
    return isAbsolute(homedir()) ? join(homedir(), ".cache") : null;
  } catch {
    return null;
  }
}

export async function readInfo(path) {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch {
    // Absent, unreadable or cut off all mean the same: build it.
    return null;
  }
}

export async function outputsExist(binDir, info) {
  return info.outputs.every((name) => existsSync(join(binDir, name)));
}

/** Programs and loadable libraries, not the archives they were linked from. */
export async function outputNames(binDir) {
  const entries = await readdir(binDir, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /^[^.]+(\.so)?$/.test(entry.name))
    .map((entry) => entry.name)
    .sort();
}

export async function writeAtomically(path, text) {
  const temporary = `${path}.tmp${process.pid}`;
  await writeFile(temporary, text);
  await rename(temporary, path);
}
