/** Finds the code that called a function. */
import { fileURLToPath } from "node:url";

/** The place in the code that called a function. */
export interface Caller {
  /** The path of its file; empty if unknown. */
  readonly file: string;
  readonly line: number;
  readonly functionName: string;
}

const NOWHERE: Caller = { file: "", line: 0, functionName: "<module>" };

/**
 * The caller of a function that is on the stack.
 *
 * @param callee the called function
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
