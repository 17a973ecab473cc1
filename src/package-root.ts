import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface PackageInfo {
  /** Directory that holds package.json, conf/, schemas/, native/. */
  readonly root: string;
  readonly version: string;
}

/**
 * The package this code runs from; undefined where a program's bundler has taken the code out of it. The same module
 * runs from `src/`, from `dist/` and from a bundle chunk, at different depths, so the root is searched for rather than counted.
 */
export function findPackage(): PackageInfo | undefined {
  const file = ownFile();
  if (file === undefined) return undefined;
  for (let directory = dirname(file); ; directory = dirname(directory)) {
    const manifest = join(directory, "package.json");
    if (existsSync(manifest)) {
      const { name, version } = JSON.parse(readFileSync(manifest, "utf8"));
      if (name === "hydraconf") return { root: directory, version };
    }
    if (directory === dirname(directory)) return undefined;
  }
}

/** The file of this code: a bundle's, where one took it in; undefined in CommonJS, whose modules have no address. */
export function ownFile(): string | undefined {
  const url: string | undefined = import.meta.url;
  return url === undefined ? undefined : fileURLToPath(url);
}
