/** What ncu only mentions where a reader of the report must know of it: something is missing, or was left behind. */
import { firstFew } from "../../../text/plural.ts";

interface Mention {
  /** Looked for in ncu's warnings and errors, each by itself. */
  readonly pattern: RegExp;
  readonly note: (match: RegExpExecArray) => string;
}

const MENTIONS: readonly Mention[] = [
  {
    pattern: /Unable to access the following \d+ metrics?: (.+?)\.?(?: If profiling|$)/,
    note: ([, names = ""]) =>
      `this GPU, or this slice of one (MIG), does not expose these to ncu: ${firstFew(names.split(", "), MOST_NAMES)}`,
  },
  {
    pattern: /Failed to load Nsight Compute CUDA modules/,
    note: () =>
      "ncu and the driver do not match: launch metrics may be missing (n/a); use another ncu or driver",
  },
  {
    pattern: /No metrics to collect found in sections/,
    note: () =>
      "ncu found nothing to measure: this version has no such set, or its sections have no metrics for this GPU; ncu --list-sets and ncu --list-sections print what there is (pipeline.ncu.ncu_cli.set, sections)",
  },
  {
    pattern: /Only (\d+)\/(\d+) kernels could be matched across replay passes/,
    note: ([, matched, all]) =>
      `the program did not launch the same kernels in every pass: ${matched} of ${all} could be matched, the others are missing`,
  },
  {
    pattern: /Inconsistent number of profiled kernels/,
    note: () =>
      "the program did not launch the same kernels in every pass: ncu left out those that differ",
  },
  {
    pattern: /(?:Graph kernel nodes|Kernel nodes of a graph)/,
    note: () =>
      'ncu left out kernels of CUDA graphs that it cannot profile one by one: run without graphs, or measure each graph as a whole: "pipeline.ncu.ncu_cli.extra_args=[--graph-profiling,graph]"',
  },
  {
    pattern: /because of a stream capture|during a stream capture on the same context/,
    note: () => "ncu left out kernels launched during the capture of a CUDA graph",
  },
  {
    pattern: /disconnected before reaching the range end marker/,
    note: () => "a range was still open when the program ended: ncu did not measure it",
  },
  {
    pattern: /Failed to reset GPU clocks/,
    note: () =>
      "ncu could not reset the GPU's clocks: run ncu --clock-control reset or nvidia-smi --reset-gpu-clocks",
  },
];

/** @param lines of ncu, without their marks or with them */
export const notesOfWarnings = (lines: readonly string[]): readonly string[] =>
  MENTIONS.flatMap(({ pattern, note }) => {
    const match = lines.map((line) => pattern.exec(line)).find((found) => found !== null);
    return match == null ? [] : [note(match)];
  });

/** ncu 2025 and later name a file of their own in which the true cause mostly stands. */
export const detailFilesIn = (lines: readonly string[]): readonly string[] => [
  ...new Set(
    lines.flatMap((line) => /For more information, see (\/.+\.log)/.exec(line)?.[1] ?? []),
  ),
];

const MOST_NAMES = 3;
