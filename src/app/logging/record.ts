import type { Caller } from "../process/caller.ts";

/** One thing that was logged. */
export interface LogRecord {
  readonly logger: string;
  readonly levelName: string;
  readonly level: number;
  readonly message: string;
  readonly time: Date;
  /** What was thrown, where a record tells of an error: shown below the message with its stack. */
  readonly error?: unknown;
  /** The line of code that logged, worked out only where a format shows it. */
  readonly caller?: () => Caller;
}
