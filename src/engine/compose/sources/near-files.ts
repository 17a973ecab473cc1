/** What hints ask of the disk about files that are missing, or are not where they were looked for. */
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isConfigError } from "../../values/errors.ts";
import { requireDependency } from "../../values/package-info.ts";

/** Usual places of config trees in projects: a folder of its own, or a folder of a Python package. */
const TREES = ["*/*.yaml", "{*,src/*}/{conf,config,configs}/*.yaml"];

/** Directories with YAML files, the nearest first; unreadable ones are skipped. */
export function configDirectories(parent: string): readonly string[] {
  const depth = (path: string) => path.split("/").length;
  return [...new Set(treeFiles(parent).map((file) => dirname(file)))].sort(
    (a, b) => depth(a) - depth(b) || (a < b ? -1 : 1),
  );
}

/** Empty in a program that bundles us without our dependencies: the error about the directory is still shown. */
function treeFiles(cwd: string): readonly string[] {
  try {
    const { globSync } = requireDependency("fast-glob") as typeof import("fast-glob");
    return globSync(TREES, { cwd, ignore: ["**/node_modules/**"], suppressErrors: true });
  } catch (error) {
    if (isConfigError(error)) return [];
    throw error;
  }
}

export function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The first of some paths at which there is anything. */
export const firstPresent = (paths: readonly string[]): string | undefined =>
  paths.find((path) => existsSync(path));
