import type { CollectContext } from "../collection/collector.ts";
import { silentProgress } from "../collection/progress.ts";
import type { Workload } from "../workload/workload.ts";

const REFRESH_MS = 200;
/** Looking at the recordings of thousands of processes takes long: the pause is so many times what it took. */
const PAUSE_TIMES = 10;

/**
 * Keeps the status line up to date while a workload runs. A program that writes to the terminal
 * itself gets none.
 *
 * @returns what removes it
 */
export function showProgress(
  workload: Workload,
  { progress }: CollectContext,
  text: () => string,
): () => void {
  if (workload.stdout === "forward" || progress === silentProgress) return () => {};
  let timer: ReturnType<typeof setTimeout>;
  const show = () => {
    const started = performance.now();
    progress.update(text());
    const took = performance.now() - started;
    timer = setTimeout(show, Math.max(REFRESH_MS, took * PAUSE_TIMES));
  };
  show();
  return () => {
    clearTimeout(timer);
    progress.stop();
  };
}
