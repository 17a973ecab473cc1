/** What the program of a job tells the process that started it (`hydraconf run`): a file, named in its environment. */
import { writeFileAtomicSync } from "../../foundation/system/atomic-write.ts";
import { errorCode, fileProblem, readText } from "../../foundation/system/files.ts";
import { parsePythonJson } from "../../foundation/text/python-json.ts";
import type { JobResult } from "../job/job.ts";
import { storedValue } from "./job-state.ts";

/** The variable with the path of the file. */
export const REPORT_VARIABLE = "HYDRACONF_JOB_REPORT";
/** The variable with the directory of the job: a program that the job's program starts inherits both, and is another job. */
export const OUTPUT_VARIABLE = "HYDRACONF_OUTPUT_DIR";

/** A program that did not reach the end of its task has no report. */
export interface JobReport {
  /** What the task returned, as JSON. */
  readonly result?: unknown;
  /** What the task raised. */
  readonly error?: { readonly message: string; readonly file?: string; readonly line?: number };
  /** Why the task ended with another exit code than 0, in its own words. */
  readonly reason?: string;
  /** Why what the program told cannot be read. */
  readonly broken?: BrokenResult;
}

/** A result that cannot be read. */
export interface BrokenResult {
  readonly kind: "broken";
  readonly message: string;
  readonly hint: string;
}

/** Tells the process that started this one how its only job ended; does nothing if nobody asked for that job. */
export function reportJob(
  { error, outputDir, reason, returnValue }: JobResult,
  env: Readonly<Record<string, string | undefined>>,
): void {
  const file = env[REPORT_VARIABLE];
  if (file === undefined || env[OUTPUT_VARIABLE] !== outputDir || error !== undefined) return;
  const report: JobReport = {
    result: storedValue(returnValue),
    ...(reason !== undefined && { reason }),
  };
  writeFileAtomicSync(file, JSON.stringify(report));
}

/** @returns undefined if there is no file */
export function readJobReport(file: string): JobReport | undefined {
  try {
    const { error, reason, result } = writtenIn(parsePythonJson(readText(file)));
    return {
      result,
      ...(typeof reason === "string" && { reason }),
      ...(typeof error === "object" && error !== null && { error: errorFrom(error as Written) }),
    };
  } catch (problem) {
    if (errorCode(problem) === "ENOENT") return undefined;
    const broken: BrokenResult = {
      kind: "broken",
      message: `the result that the task returned cannot be read: ${fileProblem(problem)}`,
      hint: "return only what the job is compared by, e.g. its loss, and write the rest to a file in its directory",
    };
    return { broken };
  }
}

type Written = Readonly<Record<string, unknown>>;

/** @throws TypeError */
function writtenIn(value: unknown): Written {
  if (typeof value === "object" && value !== null) return value as Written;
  throw new TypeError("it is no object");
}

function errorFrom({ file, line, message }: Written) {
  return {
    message: String(message),
    ...(typeof file === "string" && { file }),
    ...(typeof line === "number" && { line }),
  };
}
