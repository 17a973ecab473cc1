import type { Console } from "./console.ts";

/**
 * Reports a task whose promise can never settle: Node then ends the program silently, with a code that
 * depends on how the promise was awaited.
 *
 * @returns ends the watch
 */
export function watchForLostTask(console: Console): () => void {
  const tell = (): void => {
    console.stderr(
      "The program ended before its task did: it awaits a promise that nothing is left to settle\n",
    );
    process.exitCode = 1;
  };
  process.once("beforeExit", tell);
  return () => void process.removeListener("beforeExit", tell);
}
