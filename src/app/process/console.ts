/** Where a program writes. Tests pass their own, the entry points that of the process. */
export interface Console {
  /** Writes text unchanged; it includes its line breaks. */
  readonly stdout: (text: string) => void;
  /** Likewise. */
  readonly stderr: (text: string) => void;
  /** Whether text on `stderr` may be coloured. */
  readonly color?: boolean;
  /** Whether text on `stdout` may be coloured. */
  readonly stdoutColor?: boolean;
  /** `stderr` as a terminal whose lines can be redrawn; absent if they cannot. */
  readonly terminal?: Terminal;
  /** Removes secrets from a text that will be stored. */
  readonly redact?: (text: string) => string;
  /** How many secrets `redact` knows. When this has grown, texts redacted earlier may still contain one. */
  readonly secretsKnown?: () => number;
}

/** The current state of a terminal. */
export interface Terminal {
  readonly columns: number;
  readonly rows: number;
  /** Whether this process is in the background, so that the terminal belongs to another one. */
  readonly isOthers?: boolean;
}
