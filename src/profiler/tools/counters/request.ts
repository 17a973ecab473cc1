/** The request for counters that the recorder reads in the program (native/region_recorder/gpu/counter_request.hpp). */
import { writeFileAtomic } from "../../../foundation/system/atomic-write.ts";
import type { SelectionPatterns } from "../../../report/selection/range-pattern.ts";

/** What one run of the program measures. */
export interface CounterRequest {
  /** The level of nesting whose ranges are measured, from 1; 0: the innermost range alone, without those in it. */
  readonly level: number;
  /** Which of `passes` runs this is, from 0. */
  readonly pass: number;
  readonly passes: number;
  /** Nanoseconds between two samples of whole devices, which are measured in place of ranges; absent: ranges are. */
  readonly intervalNs?: number;
  /** How many ranges a process measures at most, or samples of a device. */
  readonly mostRanges: number;
  readonly metrics: readonly string[];
  readonly selection: SelectionPatterns;
  /** Domains whose ranges are operations. */
  readonly operationDomains: readonly string[];
  /** Absolute path of the directory for what is measured. */
  readonly results: string;
  /** Absolute path of the directory with a configuration `<chip>.config`. */
  readonly images: string;
  /** Absolute path of the results of the pass before; null for the first. */
  readonly previous: string | null;
}

/**
 * What the recorder has room for (`CounterRequest` in native/region_recorder/gpu): with more it counts nothing. It reads a file of 1 MiB;
 * beside `bytes` of metrics, patterns and domains that has room for the longest paths that there are.
 */
export const REQUEST_LIMITS = { metrics: 512, patterns: 256, bytes: 1_000_000 } as const;

/** What texts of a request take in its file, in bytes. */
export const requestBytes = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + LONGEST_KEY + Buffer.byteLength(text), 0);

/** With the space before the value, and the zero behind it. */
const LONGEST_KEY = "operations \0".length;

export const writeCounterRequest = (file: string, request: CounterRequest): Promise<void> =>
  writeFileAtomic(
    file,
    entriesOf(request)
      .map((entry) => `${entry}\0`)
      .join(""),
  );

/** A zero ends each entry: no text of the program or of a command line has one. */
function entriesOf(request: CounterRequest): readonly string[] {
  const { selection, previous } = request;
  return [
    `level ${request.level}`,
    `pass ${request.pass}`,
    `passes ${request.passes}`,
    `ranges ${request.mostRanges}`,
    `interval ${request.intervalNs ?? 0}`,
    `results ${request.results}`,
    `images ${request.images}`,
    ...(previous === null ? [] : [`previous ${previous}`]),
    ...request.metrics.map((metric) => `metric ${metric}`),
    ...selection.include.map((pattern) => `include ${pattern}`),
    ...selection.exclude.map((pattern) => `exclude ${pattern}`),
    ...request.operationDomains.map((domain) => `operations ${domain}`),
  ];
}
