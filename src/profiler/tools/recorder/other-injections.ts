/**
 * Processes of a run in which NVTX loads another library than the recorder: a launcher, an image or a startup file has
 * replaced `NVTX_INJECTION64_PATH` for them. They record nothing, and would be missing without a word.
 */
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { createProcessTree, textOf } from "./process-tree.ts";

/** A process, and the library that NVTX has in place of the recorder there. */
export interface OtherInjection {
  readonly pid: number;
  readonly library: string;
}

export interface InjectionWatch {
  /** Ends the watch. */
  readonly stop: () => readonly OtherInjection[];
}

const VARIABLE = "NVTX_INJECTION64_PATH";
const INTERVAL_MS = 500;
/** Looking takes at most this share of one processor. */
const SHARE = 0.02;

/**
 * Looks now and then at a program and the processes that it has started, as Linux shows them in /proc. Only what they were
 * started with can be seen: not what a process sets for itself, nor one that ended between two looks, nor one of another
 * user or container. Elsewhere nothing is seen.
 *
 * @param library path of the recorder's library; others in its directory are the recorder, too
 */
export function watchInjections(pid: number, library: string): InjectionWatch {
  const found = new Map<string, OtherInjection>();
  const tree = createProcessTree(pid);
  const look = (): void => {
    for (const [pid, started] of tree.look()) {
      const other = otherLibraryOf(pid, library);
      if (other !== null) found.set(`${pid} ${started}`, { pid, library: other });
    }
  };
  let timer: NodeJS.Timeout | undefined;
  const again = (): void => {
    const begin = performance.now();
    look();
    if (tree.isOver()) return;
    const took = performance.now() - begin;
    timer = setTimeout(again, Math.max(INTERVAL_MS, took / SHARE)).unref();
  };
  if (!tree.isOver()) timer = setTimeout(again, INTERVAL_MS / 5).unref();
  return {
    stop() {
      clearTimeout(timer);
      look();
      return [...found.values()];
    },
  };
}

/** Null: none that is loaded, or the recorder. */
function otherLibraryOf(pid: number, library: string): string | null {
  const prefix = `${VARIABLE}=`;
  const wanted = textOf(join("/proc", String(pid), "environ"))
    ?.split("\0")
    .find((line) => line.startsWith(prefix))
    ?.slice(prefix.length);
  if (wanted === undefined || wanted === "" || dirname(wanted) === dirname(library)) return null;
  const file = realPath(wanted);
  // A process that makes no NVTX call has no ranges to miss.
  const isLoaded = textOf(join("/proc", String(pid), "maps"))
    ?.split("\n")
    .some((line) => line.endsWith(` ${file}`));
  return isLoaded === true && dirname(file) !== dirname(realPath(library)) ? wanted : null;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
