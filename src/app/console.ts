/** Where a program writes. Tests give their own; the entry points give the process's. */
export interface Console {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Whether error texts, and what else goes to `stderr`, may be coloured. */
  readonly color?: boolean;
  /** Whether what goes to `stdout` may be coloured. */
  readonly stdoutColor?: boolean;
  /** Takes secrets out of a text that is going to be stored. */
  readonly redact?: (text: string) => string;
}
