/** Metrics that a job reports while it runs: lines of JSON in a file of its directory. */
import { appendFileSync, closeSync, fstatSync, openSync, readSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parsePythonJson, withTexts } from "../../foundation/text/python-json.ts";

/** Programs find its path in `$HYDRACONF_METRICS`. */
export const METRICS_FILE = "metrics.jsonl";

/** A line of the file. */
export type Metrics = Readonly<Record<string, unknown>>;

/** Undefined for a line that is no object. */
export function metricsIn(line: string): Metrics | undefined {
  try {
    const value = parsePythonJson(line);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Metrics)
      : undefined;
  } catch {
    return undefined;
  }
}

/** What a line of metrics says. */
interface Point {
  readonly step: number;
  /** The number at a key; undefined without one. @param path names with dots: `val.loss`, which may also be one name */
  numberAt(path: string): number | undefined;
  /** The finite numbers by their paths, that of `step` excepted. */
  finite(): readonly (readonly [path: string, value: number])[];
}

/** @param line the number of the object among those of the file, from 1: the step of one that has none */
export function pointOf(metrics: Metrics, line: number): Point {
  const step = metrics["step"];
  return {
    step: typeof step === "number" && Number.isFinite(step) ? step : line,
    numberAt(path) {
      let value: unknown = metrics[path];
      if (value === undefined) {
        value = metrics;
        for (const name of path.split(".")) value = isObject(value) ? value[name] : undefined;
      }
      return numberOf(value);
    },
    finite() {
      const numbers = new Map<string, number>();
      const objects: [path: string, object: Metrics][] = [["", metrics]];
      for (const [prefix, object] of objects)
        for (const [name, value] of Object.entries(object)) {
          const path = `${prefix}${name}`;
          if (typeof value === "number" && Number.isFinite(value)) {
            if (path !== "step" && !numbers.has(path)) numbers.set(path, value);
          } else if (isObject(value) && !Array.isArray(value)) objects.push([`${path}.`, value]);
        }
      return [...numbers];
    },
  };
}

const isObject = (value: unknown): value is Metrics => typeof value === "object" && value !== null;

function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  return value === "NaN" || value === "Infinity" || value === "-Infinity"
    ? Number(value)
    : undefined;
}

const MOST_BYTES = 64 * 1024;

/**
 * Reads a file that grows.
 *
 * @param onRestart called before the lines of another file, that of a later attempt
 * @returns the lines that have been completed since the last call; none if there is no file
 */
export function followMetrics(file: string, onRestart?: () => void): () => readonly Metrics[] {
  let offset = 0;
  let rest = "";
  let decoder = new TextDecoder();
  let inode: bigint | undefined;
  return () => {
    let descriptor: number;
    try {
      descriptor = openSync(file, "r");
    } catch {
      return [];
    }
    try {
      const { ino, size } = fstatSync(descriptor, { bigint: true });
      if (ino !== inode || size < offset) {
        // That of an earlier attempt was set aside, or begun again.
        if (inode !== undefined) onRestart?.();
        inode = ino;
        offset = 0;
        rest = "";
        decoder = new TextDecoder();
      }
      for (;;) {
        const bytes = Buffer.alloc(MOST_BYTES);
        const read = readSync(descriptor, bytes, 0, bytes.length, offset);
        if (read === 0) break;
        offset += read;
        rest += decoder.decode(bytes.subarray(0, read), { stream: true });
      }
    } finally {
      closeSync(descriptor);
    }
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    return lines.map(metricsIn).filter((metrics) => metrics !== undefined);
  };
}

/** Appends to a job's metrics; the first line replaces those of an earlier attempt. */
export function openMetrics(
  outputDir: string,
): (step: number, values: Readonly<Record<string, number>>) => void {
  const file = join(outputDir, METRICS_FILE);
  let isOpen = false;
  return (step, values) => {
    const line = `${JSON.stringify({ step, ...values }, withTexts)}\n`;
    if (isOpen) appendFileSync(file, line);
    else writeFileSync(file, line);
    isOpen = true;
  };
}
