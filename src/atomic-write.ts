import { randomUUID } from "node:crypto";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Writes a file so that a reader, or a run that dies, sees all of it or nothing: under a temporary
 * name beside it, then renamed. Makes the directories on the way. Pieces are written as they come,
 * for what is too large for one string.
 */
export async function writeFileAtomic(
  file: string,
  data: string | Uint8Array | Iterable<string>,
): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const temporary = temporaryBeside(file);
  try {
    await writeFile(temporary, data, { flag: "wx" });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** As `writeFileAtomic`, at once: for what must be there before the next step of a job. */
export function writeFileAtomicSync(file: string, data: string | Uint8Array): void {
  const temporary = temporaryBeside(file);
  const write = () => writeFileSync(temporary, data, { flag: "wx" });
  try {
    try {
      write();
    } catch (error) {
      // The usual case, a directory that is there, costs no look at it.
      if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
      mkdirSync(dirname(file), { recursive: true });
      write();
    }
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Not built from the file's own name, which may be as long as the file system allows. */
const temporaryBeside = (file: string): string => join(dirname(file), `.${randomUUID()}.tmp`);
