import { readdirSync } from "node:fs";
import { join } from "node:path";

/** All files below a directory whose names end with `suffix`, sorted. */
export function listFiles(directory: string, suffix: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(suffix))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
