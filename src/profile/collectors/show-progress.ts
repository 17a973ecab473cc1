import { setInterval } from "node:timers";
import type { Workload } from "../workload/workload.ts";
import type { CollectContext } from "./collector.ts";

const REFRESH_MS = 200;

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
  if (workload.stdout === "forward") return () => {};
  const show = () => progress.update(text());
  show();
  const timer = setInterval(show, REFRESH_MS);
  return () => {
    clearInterval(timer);
    progress.stop();
  };
}
