/** Files that are made of the same facts: a table of what is written, and when. */

import { join } from "node:path";
import { bufferedPieces, writeFileAtomic } from "./atomic-write.ts";

/** A file: its name, whether these facts give it, and its text, made piece by piece as it is written. */
export type FileRow<Facts, Name extends string = string> = readonly [
  name: Name,
  when: (facts: Facts) => boolean,
  pieces: (facts: Facts) => Iterable<string>,
];

export const always = (): boolean => true;

/**
 * Writes the files of a table in its order.
 *
 * @param onProblem called for a file that cannot be made or written, after which the others are. Default: it is thrown,
 * and ends the writing.
 * @returns the paths of what was written, below `directory`
 */
export async function writeFiles<Facts>(
  directory: string,
  table: readonly FileRow<Facts>[],
  facts: Facts,
  onProblem?: (name: string, error: unknown) => void,
): Promise<readonly string[]> {
  const written: string[] = [];
  for (const [name, when, pieces] of table) {
    if (!when(facts)) continue;
    const file = join(directory, name);
    try {
      await writeFileAtomic(file, bufferedPieces(pieces(facts)));
      written.push(file);
    } catch (error) {
      if (onProblem === undefined) throw error;
      onProblem(name, error);
    }
  }
  return written;
}
