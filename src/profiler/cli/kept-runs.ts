/** Runs that a server has read: asked again, they are read again only if a file of theirs has changed. */
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { regionReportFile } from "../../report/model/report-files.ts";
import { TOOL_NAMES } from "../tools/tool-table.ts";

export interface KeptRuns<Loaded> {
  /**
   * @param key what else decides what is loaded
   * @returns null for a run that is too large to be read beside other work, or of which no file is found
   */
  readonly get: (
    run: string,
    cwd: string,
    key: string,
    load: () => Promise<Loaded>,
  ) => Promise<Loaded | null>;
}

/** Larger reports take seconds to read, in which a server would answer nobody, and much memory. */
const MOST_BYTES = 64e6;
const MOST_RUNS = 4;

export function createKeptRuns<Loaded>(): KeptRuns<Loaded> {
  const kept = new Map<string, { readonly files: string; readonly loaded: Loaded }>();
  return {
    async get(run, cwd, key, load) {
      const path = resolve(cwd, run);
      const found = filesOf(path);
      if (found === null) return null;
      const name = JSON.stringify([path, key]);
      const cached = kept.get(name);
      kept.delete(name);
      const loaded = cached?.files === found ? cached.loaded : await load();
      kept.set(name, { files: found, loaded });
      for (const oldest of kept.keys()) {
        if (kept.size <= MOST_RUNS) break;
        kept.delete(oldest);
      }
      return loaded;
    },
  };
}

/** What tells whether a file of a run has changed; null if there is none, or too much. */
function filesOf(path: string): string | null {
  const places = [path, ...TOOL_NAMES.map((name) => join(path, name))];
  const files = [path, join(path, "run.json"), ...places.flatMap(reportsIn)];
  let bytes = 0;
  const found = files.flatMap((file) => {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats?.isFile() !== true) return [];
    bytes += stats.size;
    return [[file, stats.ino, stats.size, stats.mtimeMs]];
  });
  return found.length === 0 || bytes > MOST_BYTES ? null : JSON.stringify(found);
}

const reportsIn = (folder: string): readonly string[] => [
  regionReportFile(folder),
  join(folder, "report.json"),
];
