import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface PackageInfo {
  /** Directory that holds package.json, conf/, schemas/, native/. */
  readonly root: string;
  readonly version: string;
}

/**
 * The package this code runs from. The same module runs from `src/`, from `dist/` and from a
 * bundle chunk, at different depths, so the root is searched for rather than counted.
 */
export function packageInfo(): PackageInfo {
  let directory = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const manifest = join(directory, "package.json");
    if (existsSync(manifest)) {
      const { name, version } = JSON.parse(readFileSync(manifest, "utf8"));
      if (name === "hydraconf") return { root: directory, version };
    }
    const parent = dirname(directory);
    if (parent === directory) throw new Error("hydraconf's package.json was not found");
    directory = parent;
  }
}
