/** Reads the result of a job's program from a file, or from the last line of its output. */

import { closeSync, openSync, readSync, statSync } from "node:fs";
import { metricsIn } from "../app/job/metrics.ts";
import type { BrokenResult } from "../app/record/job-report.ts";
import { messageOf } from "../foundation/system/builtin-types.ts";
import { errorCode, fileProblem, readText } from "../foundation/system/files.ts";
import { parsePythonJson, withTexts } from "../foundation/text/python-json.ts";

/** A result, or why there is no valid one. */
export type JobValue =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "none" }
  | BrokenResult;

/** The result that a program wrote into `$HYDRACONF_RESULT`. */
export function resultInFile(file: string): JobValue {
  let text: string;
  try {
    text = readText(file);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return { kind: "none" };
    return {
      kind: "broken",
      message: `the result that the program wrote cannot be read: ${fileProblem(error)}`,
      hint: `look at ${file}; a result is a file with one JSON value`,
    };
  }
  if (text.trim() === "") return { kind: "none" };
  try {
    return { kind: "value", value: parsePythonJson(text) };
  } catch (error) {
    return {
      kind: "broken",
      message: `the result that the program wrote is no JSON: ${messageOf(error)}`,
      hint: `look at ${file}; a result is one JSON value, e.g. 0.5 or {"loss": 0.5}`,
    };
  }
}

/** The result in the last line of the output. */
export function resultInOutput(tail: string): JobValue {
  const last = tail.split("\n").findLast((line) => line.trim() !== "");
  if (last === undefined) return { kind: "none" };
  try {
    return { kind: "value", value: parsePythonJson(last) };
  } catch {
    return {
      kind: "broken",
      message: `the last line of the program's output is no JSON: ${last.trim().slice(0, MOST_SHOWN)}`,
      hint: "with --result stdout the last line is the job's result; otherwise leave the flag out",
    };
  }
}

const MOST_SHOWN = 80;

/** The last metrics that a program wrote to `$HYDRACONF_METRICS`: `step 3  loss 0.25`; undefined without any. */
export function latestMetrics(file: string): string | undefined {
  const lines = endOfFile(file).split("\n");
  // The last line may be incomplete.
  for (const line of lines.slice(0, -1).toReversed()) {
    const measures = metricsIn(line);
    if (measures !== undefined)
      return Object.entries(measures)
        .slice(0, MOST_MEASURES)
        .map(([name, value]) => `${name} ${shortNumber(value)}`)
        .join("  ");
  }
  return undefined;
}

const MOST_MEASURES = 6;
/** A line of metrics is shorter. */
const TAIL_BYTES = 8_192;

/** Reads only the end of the file, because it is called ten times a second for each running job. */
function endOfFile(file: string): string {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return "";
  try {
    const descriptor = openSync(file, "r");
    try {
      const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
      readSync(descriptor, bytes, 0, bytes.length, size - bytes.length);
      return bytes.toString("utf8");
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return "";
  }
}

const shortNumber = (value: unknown): string =>
  typeof value === "number"
    ? String(Number(value.toPrecision(4)))
    : typeof value === "string"
      ? value
      : JSON.stringify(value, withTexts);
