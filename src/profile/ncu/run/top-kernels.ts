/** `pipeline.ncu.top_n_kernels`: the kernels that took longest in a recording of the same program. */
import { functionNameIn, topKernelNames } from "../../kernel-selection/index.ts";
import type { Timeline } from "../../timeline.ts";
import type { NcuCliConfig, NcuConfig } from "./ncu-config.ts";

export interface TopKernels {
  /** Longest first; null: no limit. */
  readonly names: readonly string[] | null;
  readonly notes: readonly string[];
}

/** Which kernels count. A recording without GPU kernels limits nothing, and says so. */
export function topKernels(
  { top_n_kernels }: Pick<NcuConfig, "top_n_kernels">,
  recorded: Timeline | null,
): TopKernels {
  const count = top_n_kernels ?? null;
  if (count === null) return { names: null, notes: [] };
  const names = recorded === null ? [] : topKernelNames([recorded], count);
  if (names.length > 0) return { names, notes: [] };
  const note =
    "pipeline.ncu.top_n_kernels is not heeded: the recording beside ncu holds no GPU kernels";
  return { names: null, notes: [note] };
}

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

const escapeRegExp = (text: string): string => text.replaceAll(/[\\^$.|?*+()[\]{}]/g, "\\$&");
