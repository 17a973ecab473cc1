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
      "The program ended before its task did: the task awaits a promise that nothing can settle any more\n",
    );
    process.exitCode = 1;
  };
  process.once("beforeExit", tell);
  return () => void process.removeListener("beforeExit", tell);
}
