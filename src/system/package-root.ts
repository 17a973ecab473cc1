import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The packages that are made of this repository (scripts/pack.mjs); a clone has the first name. */
const NAMES: readonly unknown[] = ["hydraconf", "deep-profile"];

declare global {
  interface ImportMeta {
    /**
     * In the executable that has Node.js and us in one file (scripts/dist.mjs): a dependency that it has beside its bundles, or what its
     * package is. Undefined anywhere else.
     */
    readonly embedded?: (name: string) => unknown;
  }
}

/** A part of the executable that this code is in. */
export const embeddedPart = (name: string): unknown => import.meta.embedded?.(name);

export interface PackageInfo {
  /** The directory with package.json, conf/, schemas/ and native/. */
  readonly root: string;
  readonly version: string;
}

/**
 * The package this code runs from; undefined if a program's bundler has copied the code elsewhere. The same module runs from
 * `src/`, from `dist/` and from a bundle, at different depths, so this searches upwards for the root.
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
