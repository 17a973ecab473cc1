import { fileURLToPath } from "node:url";

/** A line of code that called something. */
export interface Caller {
  /** The path of its file; empty where there is none. */
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
