import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { appendFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { isSystemError } from "../../../system/files.ts";

/**
 * Tables of several passes as one file each, one table below the other.
 *
 * @returns what could not be written (the tables of the passes are there all the same)
 */
export async function joinTables(
  directory: string,
  prefixes: readonly string[],
): Promise<readonly string[]> {
  const notes: string[] = [];
  for (const name of ["raw.csv", "details.csv", "sections.txt"]) {
    const parts = prefixes
      .map((prefix) => join(directory, `${prefix}${name}`))
      .filter((file) => existsSync(file));
    try {
      if (parts.length > 0) await joinFiles(parts, join(directory, name));
    } catch (error) {
      if (!isSystemError(error)) throw error;
      notes.push(`${name} could not be written: ${error.message}`);
    }
  }
  return notes;
}

async function joinFiles(parts: readonly string[], target: string): Promise<void> {
  const partial = `${target}.part`;
  for (const [index, part] of parts.entries()) {
    if (index > 0) await appendFile(partial, "\n");
    await pipeline(
      createReadStream(part),
      createWriteStream(partial, { flags: index > 0 ? "a" : "w" }),
    );
  }
  await rename(partial, target);
}
