import { randomBytes } from "node:crypto";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Writes a file so that a reader, or a run that dies, sees all of it or nothing: under a temporary
 * name beside it, then renamed. Makes the directories on the way.
 */
export async function writeFileAtomic(file: string, data: string | Uint8Array): Promise<void> {
  const directory = dirname(file);
  await mkdir(directory, { recursive: true });
  // Not built from the file's own name, which may be as long as the file system allows.
  const temporary = join(directory, `.${randomBytes(8).toString("hex")}.tmp`);
  try {
    await writeFile(temporary, data, { flag: "wx" });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
