/**
 * Types of Node's as public declarations name them, so that these can be read without `@types/node`. They are Node's own where a program has
 * those; tests/foundation/system/platform-types.test.ts checks it.
 */

/** The name of a signal: `NodeJS.Signals`. */
export type Signal =
  | "SIGABRT"
  | "SIGALRM"
  | "SIGBUS"
  | "SIGCHLD"
  | "SIGCONT"
  | "SIGFPE"
  | "SIGHUP"
  | "SIGILL"
  | "SIGINT"
  | "SIGIO"
  | "SIGIOT"
  | "SIGKILL"
  | "SIGPIPE"
  | "SIGPOLL"
  | "SIGPROF"
  | "SIGPWR"
  | "SIGQUIT"
  | "SIGSEGV"
  | "SIGSTKFLT"
  | "SIGSTOP"
  | "SIGSYS"
  | "SIGTERM"
  | "SIGTRAP"
  | "SIGTSTP"
  | "SIGTTIN"
  | "SIGTTOU"
  | "SIGUNUSED"
  | "SIGURG"
  | "SIGUSR1"
  | "SIGUSR2"
  | "SIGVTALRM"
  | "SIGWINCH"
  | "SIGXCPU"
  | "SIGXFSZ"
  | "SIGBREAK"
  | "SIGLOST"
  | "SIGINFO";

/** What asks a call to stop: the platform's `AbortSignal`; where no types declare it, what we use of it. */
export type StopSignal = typeof globalThis extends {
  AbortSignal: { prototype: infer Platform };
}
  ? Platform
  : {
      readonly aborted: boolean;
      readonly reason: unknown;
      /** Calls the listener when the signal is aborted. */
      addEventListener(type: "abort", listener: () => void): void;
      /** Takes the listener off again. */
      removeEventListener(type: "abort", listener: () => void): void;
    };

/** A stream that may be a terminal: `process.stderr`, or another `NodeJS.WriteStream`. */
export interface TextStream {
  readonly isTTY?: boolean;
  /** Writes text unchanged. */
  write(text: string): unknown;
}

/** What is read of a `Buffer`: its bytes as text. */
export interface TextBytes extends Uint8Array {
  toString(encoding?: "utf8" | "latin1", start?: number, end?: number): string;
}
