import { fileURLToPath } from "node:url";

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

export interface Caller {
  readonly file: string;
  readonly line: number;
  readonly functionName: string;
}

const NOWHERE: Caller = { file: "", line: 0, functionName: "<module>" };

/**
 * Who called a function that is on the stack right now.
 *
 * @param callee the function whose caller is asked for
 */
export function callerOf(callee: (...args: never[]) => unknown): Caller {
  const prepare = Error.prepareStackTrace;
  try {
    Error.prepareStackTrace = (_, sites) => sites;
    const holder: { stack?: unknown } = {};
    Error.captureStackTrace(holder, callee);
    const [site] = holder.stack as NodeJS.CallSite[];
    if (site === undefined) return NOWHERE;
    const name = site.getFileName() ?? "";
    return {
      file: name.startsWith("file:") ? fileURLToPath(name) : name,
      line: site.getLineNumber() ?? 0,
      functionName: site.getFunctionName() ?? NOWHERE.functionName,
    };
  } finally {
    Error.prepareStackTrace = prepare;
  }
}
