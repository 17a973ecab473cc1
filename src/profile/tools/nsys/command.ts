/** From `pipeline.nsys` to the command lines of nsys. Options are written as one word, `--name=value`. */

import { ConfigError } from "../../../values/errors.ts";
import type { Workload } from "../../machine/process.ts";
import type { NsysSettings } from "../config.ts";

export interface ProfileCommand {
  readonly argv: readonly string[];
  /** For nsys and the program under it. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether the recording is limited to ranges, so that it may be empty. */
  readonly isGated: boolean;
  /** Where what was asked for could not be had. */
  readonly notes: readonly string[];
}

/** Name of the report without its extension. */
export const REPORT_NAME = "run";

export const traces = ({ trace }: Pick<NsysSettings, "trace">): readonly string[] =>
  trace.split(",");

/** `cuda-hw` and `cuda-sw` of nsys 2025 say how CUDA is traced: by the GPU, or by software. */
export const tracesCuda = (settings: Pick<NsysSettings, "trace">): boolean =>
  traces(settings).some((traced) => /^cuda(?:-hw|-sw)?$/.test(traced));

/**
 * The command that records a workload.
 *
 * @param report absolute path of the report without extension
 * @param options those that the installed nsys knows
 */
export function profileCommand(
  nsys: { readonly path: string; readonly options: ReadonlySet<string> },
  settings: NsysSettings,
  report: string,
  workload: Pick<Workload, "argv">,
): ProfileCommand {
  const capture = captureRange(settings);
  const flags: Readonly<Record<string, string | null>> = {
    trace: settings.trace,
    sample: settings.sample,
    // Without samples, context switches cost time and permissions, and no report shows them.
    cpuctxsw: settings.sample === "none" && !givesOption(settings, "--cpuctxsw") ? "none" : null,
    // By default nsys traces a CUDA graph as a whole, and its kernels are nowhere.
    "cuda-graph-trace": tracesCuda(settings) ? settings.cuda_graph_trace : null,
    ...capture.flags,
    output: report.replaceAll("%", "%%"),
    "force-overwrite": "true",
  };
  /** Options that only some versions know, and that only make things better. */
  const optional = new Set(["cpuctxsw", "cuda-graph-trace"]);
  const given = Object.entries(flags).filter(
    ([name, value]) => value !== null && (!optional.has(name) || nsys.options.has(name)),
  );
  return {
    argv: [
      nsys.path,
      "profile",
      ...given.map(([name, value]) => `--${name}=${value}`),
      ...settings.extra_args,
      ...workload.argv,
    ],
    env: capture.env,
    isGated: capture.isGated,
    notes: capture.notes,
  };
}

interface CaptureRange extends Pick<ProfileCommand, "env" | "isGated" | "notes"> {
  readonly flags: Readonly<Record<string, string | null>>;
}

function captureRange(settings: NsysSettings): CaptureRange {
  const whole: CaptureRange = { flags: {}, env: {}, isGated: false, notes: [] };
  const { gating_nvtx, capture_range, nvtx_capture } = settings;
  if (!gating_nvtx || capture_range === "none") return whole;
  // nsys's own default ends the program with the range.
  const end = { "capture-range-end": settings.capture_range_end ?? "stop" };
  if (capture_range === "cudaProfilerApi")
    return { ...whole, flags: { "capture-range": capture_range, ...end }, isGated: true };
  if (nvtx_capture === null || nvtx_capture.trim() === "")
    return {
      ...whole,
      notes: [
        "pipeline.nsys.capture_range=nvtx needs a range in pipeline.nsys.nvtx_capture, which is empty: recording the whole run",
      ],
    };
  return {
    ...whole,
    flags: { "capture-range": "nvtx", "nvtx-capture": nvtx_capture, ...end },
    // Without it nsys compares registered strings only, and hardly any program registers its labels.
    env: { NSYS_NVTX_PROFILER_REGISTER_ONLY: "0" },
    isGated: true,
  };
}

/** Makes an SQLite file of a report, anew: an old one may be of another recording. */
export const exportCommand = (nsys: string, report: string, sqlite: string): readonly string[] => [
  nsys,
  "export",
  "--type=sqlite",
  "--force-overwrite=true",
  `--output=${sqlite}`,
  report,
];

/** The summaries of `nsys stats` that are kept beside our own reports. */
const SUMMARIES: readonly string[] = [
  "nvtx_sum",
  "nvtx_kern_sum",
  "nvtx_gpu_proj_sum",
  "cuda_api_sum",
  "cuda_gpu_kern_sum",
  "cuda_gpu_mem_time_sum",
];

/** Writes `BASE_NAME.csv` for each summary; of the SQLite file, so that the report is not read again. */
export const statsCommand = (nsys: string, sqlite: string, base: string): readonly string[] => [
  nsys,
  "stats",
  ...SUMMARIES.map((name) => `--report=${name}`),
  "--format=csv",
  `--output=${base}`,
  "--force-overwrite=true",
  sqlite,
];

// `pipeline.nsys.extra_args`: what must not be passed to nsys there.

interface OwnOption {
  readonly short?: string;
  /** What to do instead. */
  readonly instead: string;
}

/** What the command line has already, by its long name: nsys takes every option once. */
const OWN_OPTIONS: ReadonlyMap<string, OwnOption> = new Map([
  [
    "--output",
    {
      short: "-o",
      instead: "the report is written to the run directory; change that with hydra.run.dir",
    },
  ],
  [
    "--force-overwrite",
    {
      short: "-f",
      instead: "it is always given; set hydra.run.dir to choose the report's directory",
    },
  ],
  ["--trace", { short: "-t", instead: "use pipeline.nsys.trace" }],
  ["--sample", { short: "-s", instead: "use pipeline.nsys.sample" }],
  ["--cuda-graph-trace", { instead: "use pipeline.nsys.cuda_graph_trace" }],
  ["--capture-range", { short: "-c", instead: "use pipeline.nsys.capture_range" }],
  ["--capture-range-end", { instead: "use pipeline.nsys.capture_range_end" }],
  ["--nvtx-capture", { short: "-p", instead: "use pipeline.nsys.nvtx_capture" }],
]);

/**
 * Refuses before anything runs what nsys would refuse after the run was set up, or what would take the report away.
 *
 * @throws ConfigError `profile.nsys_option`
 */
export function checkExtraOptions({ extra_args }: Pick<NsysSettings, "extra_args">): void {
  const key = "pipeline.nsys.extra_args";
  for (const argument of extra_args) {
    const own = ownOption(argument);
    if (own === undefined) continue;
    const [name, { instead }] = own;
    throw new ConfigError({
      code: "profile.nsys_option",
      key,
      message: `${key}: ${name} cannot be given`,
      hint: instead,
    });
  }
}

/** Whether the extra arguments give this option. */
const givesOption = ({ extra_args }: Pick<NsysSettings, "extra_args">, name: string): boolean =>
  extra_args.some((argument) => writtenName(argument) === name);

/** `--name` of `--name=value`, `-o` of `-ofile`. */
const writtenName = (argument: string): string =>
  /^-[a-zA-Z]/.test(argument) ? argument.slice(0, 2) : (argument.split("=")[0] ?? argument);

/** nsys takes beginnings of names, too: one that is also another option's is ambiguous, and refused by it. */
function ownOption(argument: string): readonly [string, OwnOption] | undefined {
  const written = writtenName(argument);
  const isLong = /^--[a-z]/.test(written);
  return [...OWN_OPTIONS].find(([name, { short }]) =>
    isLong ? name.startsWith(written) : short === written,
  );
}
