/** `pipeline.ncu.top_n_kernels`: the kernels with the longest GPU time in a recording of the same program. */

import { firstFew } from "../../../../foundation/text/plural.ts";
import { functionNameIn } from "../../../../report/selection/kernel-pattern.ts";
import { escapeRegExp, topKernelNames } from "../../../analysis/kernel-selection.ts";
import { ranKernels, type Timeline } from "../../../model/timeline.ts";
import type { NcuCliConfig, NcuConfig } from "../../profiler-config.ts";

export interface TopKernels {
  /** Longest first; null: no limit. */
  readonly names: readonly string[] | null;
  readonly notes: readonly string[];
}

/** The recording of a collector, from one run or several. */
export interface KernelRecording {
  /** The collector's name in notes: `the recorder`. */
  readonly by: string;
  readonly timelines: readonly Timeline[];
}

export const hasKernels = ({ timelines }: KernelRecording): boolean =>
  timelines.some(({ processes }) => processes.some(ranKernels));

/**
 * Selects the kernels that count: the first recording with kernels decides. Without one there is no limit, because
 * measuring nothing would be worse.
 *
 * @param config without the key in runs of older versions
 * @param why why kernels were not recorded, for the note
 */
export function topKernels(
  { top_n_kernels }: Partial<Pick<NcuConfig, "top_n_kernels">>,
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
 * Makes ncu itself skip the other kernels, which saves their replays. Function names are less specific than full names:
 * the exact selection follows when the results are read. A filter of the user is kept.
 */
export function filterTop(cli: NcuCliConfig, names: readonly string[] | null): NcuCliConfig {
  // Mangled names in a recording do not give the function.
  if (names === null || cli.kernel_name !== null || names.some((name) => name.startsWith("_Z")))
    return cli;
  const functions = [...new Set(names.map(functionNameIn))].map(escapeRegExp);
  return {
    ...cli,
    kernel_name: `regex:^(${functions.join("|")})$`,
    kernel_name_base: "function",
  };
}
