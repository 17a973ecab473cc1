import yoctoSpinner from "yocto-spinner";

/** Shows what is going on during long steps. Silent unless a person watches a terminal. */
export interface Progress {
  /** Replaces the status line. */
  update(text: string): void;
  /** Removes the status line, e.g. before something else writes to the terminal. */
  stop(): void;
}

/** Shows nothing: for programs without a terminal. */
export const silentProgress: Progress = { update: () => {}, stop: () => {} };

/** A status line on standard error if that is a terminal, else nothing. */
export function terminalProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  if (!stream.isTTY) return silentProgress;
  const started = performance.now();
  // By default the spinner ends the process on a signal, before the results are reported.
  const spinner = yoctoSpinner({ stream, handleSignals: false });
  return {
    update: (text) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      spinner.text = `${text} (${seconds} s)`;
      if (!spinner.isSpinning) spinner.start();
    },
    stop: () => {
      spinner.stop();
    },
  };
}
