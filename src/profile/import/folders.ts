import { join } from "node:path";
import { makeDirectory } from "../../system/files.ts";

export interface Folders {
  /** Makes a folder of this name, or of the next one that is free. */
  take(name: string): string;
  /** Its absolute path. */
  pathOf(folder: string): string;
}

/** Folders of one output directory: one per file of a tool, since clocks of runs differ. */
export function createFolders(directory: string): Folders {
  const taken = new Set<string>();
  return {
    take(name) {
      let free = name;
      for (let number = 2; taken.has(free); number++) free = `${name}-${number}`;
      taken.add(free);
      makeDirectory(join(directory, free));
      return free;
    },
    pathOf: (folder) => join(directory, folder),
  };
}
