/** Where a program writes. Tests give their own; the entry points give the process's. */
export interface Console {
  /** Takes text as it stands, line breaks included. */
  readonly stdout: (text: string) => void;
  /** Likewise. */
  readonly stderr: (text: string) => void;
  /** Whether error texts, and what else goes to `stderr`, may be coloured. */
  readonly color?: boolean;
  /** Whether what goes to `stdout` may be coloured. */
  readonly stdoutColor?: boolean;
  /** `stderr` as a terminal on which lines can be written again; not there where they cannot. */
  readonly terminal?: Terminal;
  /** Takes secrets out of a text that is going to be stored. */
  readonly redact?: (text: string) => string;
  /** Of how many secrets `redact` knows: once it is another number, texts of before may hold one. */
  readonly secretsKnown?: () => number;
}

/** A terminal's size, as it is at the moment. */
export interface Terminal {
  readonly columns: number;
  readonly rows: number;
  /** Whether it is somebody else's at the moment: a shell has sent this process to the background. */
  readonly isOthers?: boolean;
}
