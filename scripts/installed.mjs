import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Whether node_modules holds what package-lock.json asks for on this machine. npm keeps a lockfile of
 * its own in node_modules of what it has put there, whichever command did so; it is written last, so
 * that an installation that was stopped has none, or the one before.
 */
export function isInstalled(root) {
  const wanted = packagesOf(join(root, "package-lock.json"));
  const found = packagesOf(join(root, "node_modules", ".package-lock.json"));
  if (wanted === null || found === null) return false;
  const isThere = (path) => existsSync(join(root, path, "package.json"));
  return (
    Object.entries(wanted).every(([path, entry]) => {
      if (path === "") return true;
      const own = found[path];
      if (own === undefined) return isOptional(entry) && !isForThisMachine(entry);
      return own.version === entry.version && own.integrity === entry.integrity && isThere(path);
    }) && Object.keys(found).every((path) => path in wanted)
  );
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages ?? null;
  } catch {
    return null;
  }
}

const isOptional = ({ optional, devOptional }) => optional === true || devOptional === true;

/**
 * Optional packages, such as a compiler's binaries, are for one kind of machine each; those for any
 * are there for the sake of others, which may not be for this one.
 */
const isForThisMachine = ({ os, cpu, libc }) =>
  (os !== undefined || cpu !== undefined) &&
  allows(os, process.platform) &&
  allows(cpu, process.arch) &&
  (libc === undefined || allows(libc, libcOfNode()));

/** A list of what is allowed, or with `!` of what is not. */
function allows(list, value) {
  if (list === undefined) return true;
  const refused = list.filter((item) => item.startsWith("!")).map((item) => item.slice(1));
  return refused.length > 0 ? !refused.includes(value) : list.includes(value);
}

let knownLibc;

/** Asked once: a report of the process takes a while. */
function libcOfNode() {
  if (process.platform !== "linux") return "";
  process.report.excludeNetwork = true;
  knownLibc ??=
    process.report.getReport().header.glibcVersionRuntime === undefined ? "musl" : "glibc";
  return knownLibc;
}
