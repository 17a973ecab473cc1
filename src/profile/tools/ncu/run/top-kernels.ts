/** `pipeline.ncu.top_n_kernels`: the kernels that took longest in a recording of the same program. */

import { functionNameIn } from "../../../../report/selection/kernel-pattern.ts";
import { firstFew } from "../../../../text/plural.ts";
import { escapeRegExp, topKernelNames } from "../../../analysis/kernel-selection.ts";
import { ranKernels, type Timeline } from "../../../model/timeline.ts";
import type { NcuCliConfig, NcuConfig } from "../../config.ts";

export interface TopKernels {
  /** Longest first; null: no limit. */
  readonly names: readonly string[] | null;
  readonly notes: readonly string[];
}

/** What a collector recorded of the program, in one run or in several. */
export interface KernelRecording {
  /** For notes: `the recorder`. */
  readonly by: string;
  readonly timelines: readonly Timeline[];
}

export const hasKernels = ({ timelines }: KernelRecording): boolean =>
  timelines.some(({ processes }) => processes.some(ranKernels));

/**
 * Which kernels count: the first recording that has any decides. Without one nothing is limited, since
 * a choice that matches nothing is no reason to measure nothing.
 *
 * @param why what keeps kernels from being recorded, for the note
 */
export function topKernels(
  { top_n_kernels }: Pick<NcuConfig, "top_n_kernels">,
  recordings: readonly KernelRecording[],
  why = "",
): TopKernels {
  const count = top_n_kernels ?? null;
  if (count === null) return { names: null, notes: [] };
  const recording = recordings.find(hasKernels);
  if (recording === undefined) {
    const who = recordings.map(({ by }) => by).join(" and ");
    const note = `pipeline.ncu.top_n_kernels=${count} has no effect, and every kernel is profiled: ${who === "" ? "there is no recording" : `${who} recorded no GPU kernels`}${why === "" ? "" : ` (${why})`}`;
    return { names: null, notes: [note] };
  }
  const names = topKernelNames(recording.timelines, count);
  const all = names.length < count ? "all kernels" : "the kernels with the most GPU time";
  const note = `pipeline.ncu.top_n_kernels=${count}: profiling ${all} recorded by ${recording.by}: ${firstFew(names, MAX_SHOWN, "; ")}`;
  return { names, notes: [note] };
}

const MAX_SHOWN = 10;

/**
 * Lets ncu itself pass over the other kernels, which saves their replays. Functions are looser than
 * whole names: what is left is chosen when the results are read. A filter of the user's stays.
 */
export function filterTop(cli: NcuCliConfig, names: readonly string[] | null): NcuCliConfig {
  // Recordings without demangled names do not tell functions.
  if (names === null || cli.kernel_name !== null || names.some((name) => name.startsWith("_Z")))
    return cli;
  const functions = [...new Set(names.map(functionNameIn))].map(escapeRegExp);
  return {
    ...cli,
    kernel_name: `regex:^(${functions.join("|")})$`,
    kernel_name_base: "function",
  };
}
