import yoctoSpinner from "yocto-spinner";

/** Says what is going on while it takes time. Silent unless a person watches a terminal. */
export interface Progress {
  /** Replaces the status line. */
  update(text: string): void;
  /** Removes the status line, e.g. before something else writes to the terminal. */
  stop(): void;
}

/** Shows nothing: for programs that are no terminal's. */
export const silentProgress: Progress = { update: () => {}, stop: () => {} };

/** A status line on standard error where that is a terminal; nothing elsewhere. */
export function terminalProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  if (!stream.isTTY) return silentProgress;
  const started = performance.now();
  // Left alone it would end the process at a signal, before what was recorded is reported.
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
