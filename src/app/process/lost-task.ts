import type { Console } from "./console.ts";

/**
 * Tells of a task whose promise nothing can settle any more: Node ends the program then, with a code
 * that depends on how it was awaited, and without a word.
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
