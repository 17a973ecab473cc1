/** Finds the package that this code runs from, in a clone, an installation, a bundle or an executable. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The names of the packages made from this repository (scripts/pack.mjs); a clone has the first one. */
const NAMES: readonly unknown[] = ["hydraconf", "deep-profile", "hydraconf-playground"];

declare global {
  interface ImportMeta {
    /**
     * Defined only in the single-file executable with Node.js (scripts/dist.mjs): returns a dependency stored beside
     * its bundles, or the data of its package.
     */
    readonly embedded?: (name: string) => unknown;
  }
}

/** A part embedded in the executable. */
export const embeddedPart = (name: string): unknown => import.meta.embedded?.(name);

export interface PackageInfo {
  /** The directory with package.json, conf/, schemas/ and native/. */
  readonly root: string;
  readonly version: string;
}

/**
 * The package this code runs from; undefined if a program's bundler has copied the code elsewhere. The same module runs from
 * `src/`, from `dist/` and from a bundle, at different depths, so the root is searched upwards.
 */
export function findPackage(): PackageInfo | undefined {
  const embedded = embeddedPart("package");
  if (embedded !== undefined) return embedded as PackageInfo;
  const file = ownFile();
  if (file === undefined) return undefined;
  for (let directory = dirname(file); ; directory = dirname(directory)) {
    const manifest = join(directory, "package.json");
    if (existsSync(manifest)) {
      const { name, version } = JSON.parse(readFileSync(manifest, "utf8"));
      if (NAMES.includes(name)) return { root: directory, version };
    }
    if (directory === dirname(directory)) return undefined;
  }
}

/** The file this code runs from, possibly a bundle; undefined in CommonJS, whose modules have no URL. */
export function ownFile(): string | undefined {
  const url: string | undefined = import.meta.url;
  return url === undefined ? undefined : fileURLToPath(url);
}
