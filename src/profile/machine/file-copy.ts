import { createWriteStream } from "node:fs";
import { basename } from "node:path";
import { Writable } from "node:stream";
import { fileProblem } from "../../system/files.ts";

export interface FileCopy {
  readonly stream: Writable;
  /** The file's name and why it does not have all of it, in words; null where it has. Known when the stream has finished. */
  readonly problem: () => string | null;
}

/**
 * Copies into a file as long as that takes it. A full disk ends the copy and nothing else: the workload
 * must not notice, and who reads the terminal misses nothing.
 */
export function fileCopy(path: string): FileCopy {
  const file = createWriteStream(path);
  let problem: string | null = null;
  const fail = (error: Error | null | undefined): void => {
    if (error) problem ??= `${basename(path)}: ${fileProblem(error)}`;
  };
  file.on("error", fail);
  const stream = new Writable({
    write(chunk, _encoding, done) {
      if (problem !== null) {
        done();
        return;
      }
      file.write(chunk, (error) => {
        fail(error);
        done();
      });
    },
    final(done) {
      if (problem !== null) {
        done();
        return;
      }
      file.end((error?: Error | null) => {
        fail(error);
        done();
      });
    },
  });
  return { stream, problem: () => problem };
}
