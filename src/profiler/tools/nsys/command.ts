/** Derives the command lines of nsys from `pipeline.nsys`. Options are written as one word, `--name=value`. */

import { ConfigError } from "../../../engine/values/errors.ts";
import type { Workload } from "../../machine/process.ts";
import type { NsysSettings } from "../profiler-config.ts";

export interface ProfileCommand {
  readonly argv: readonly string[];
  /** Variables for nsys and the program under it. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether the recording is limited to ranges, so that it may be empty. */
  readonly isGated: boolean;
  /** Notes about requests that could not be met. */
  readonly notes: readonly string[];
}

/** Name of the report without its extension. */
export const REPORT_NAME = "run";

export const traces = ({ trace }: Pick<NsysSettings, "trace">): readonly string[] =>
  trace.split(",");

/** `cuda-hw` and `cuda-sw` of nsys 2025 trace CUDA with the GPU or in software. */
export const tracesCuda = (settings: Pick<NsysSettings, "trace">): boolean =>
  traces(settings).some((traced) => /^cuda(?:-hw|-sw)?$/.test(traced));

/** Improvements that only some versions of nsys know. */
const OPTIONAL: ReadonlySet<string> = new Set(["cpuctxsw", "cuda-graph-trace"]);

/** A recent nsys of another machine, for plans where this one has none. */
export const NSYS_ELSEWHERE = { path: "nsys", options: OPTIONAL };

/**
 * The command that records a workload.
 *
 * @param report absolute path of the report without extension
 * @param options the options that the installed nsys knows
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
    // Without CPU sampling, context switches cost time and permissions, and no report shows them.
    cpuctxsw: settings.sample === "none" && !givesOption(settings, "--cpuctxsw") ? "none" : null,
    // By default nsys traces a CUDA graph as a whole, without its kernels.
    "cuda-graph-trace": tracesCuda(settings) ? settings.cuda_graph_trace : null,
    ...capture.flags,
    output: report.replaceAll("%", "%%"),
    "force-overwrite": "true",
  };
  const written = Object.entries(flags).filter(
    ([name, value]) => value !== null && (!OPTIONAL.has(name) || nsys.options.has(name)),
  );
  return {
    argv: [
      nsys.path,
      "profile",
      ...written.map(([name, value]) => `--${name}=${value}`),
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
    // Without it nsys matches only registered strings, and hardly any program registers its labels.
    env: { NSYS_NVTX_PROFILER_REGISTER_ONLY: "0" },
    isGated: true,
  };
}

/** Exports a report to SQLite, replacing an old file, which may belong to another recording. */
export const exportCommand = (nsys: string, report: string, sqlite: string): readonly string[] => [
  nsys,
  "export",
  "--type=sqlite",
  "--force-overwrite=true",
  `--output=${sqlite}`,
  report,
];

/** The summaries of `nsys stats` that are kept in addition to our own reports. */
const SUMMARIES: readonly string[] = [
  "nvtx_sum",
  "nvtx_kern_sum",
  "nvtx_gpu_proj_sum",
  "cuda_api_sum",
  "cuda_gpu_kern_sum",
  "cuda_gpu_mem_time_sum",
];

/** Writes `BASE_NAME.csv` for each summary, from the SQLite file, so that the report is not read again. */
export const statsCommand = (nsys: string, sqlite: string, base: string): readonly string[] => [
  nsys,
  "stats",
  ...SUMMARIES.map((name) => `--report=${name}`),
  "--format=csv",
  `--output=${base}`,
  "--force-overwrite=true",
  sqlite,
];

// `pipeline.nsys.extra_args`: options that it must not contain.

interface OwnOption {
  readonly short?: string;
  /** The alternative. */
  readonly instead: string;
}

/** Options that our command line already has, by long name: nsys accepts each option once. */
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
 * Refuses options that nsys would refuse after the setup of the run, or that would remove the report.
 *
 * @throws ConfigError `profile.nsys_option`
 */
export function checkExtraOptions({ extra_args }: Pick<NsysSettings, "extra_args">): void {
  const key = "pipeline.nsys.extra_args";
  for (const argument of extra_args) {
    const entry = ownOption(argument);
    if (entry === undefined) continue;
    const [name, { instead }] = entry;
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

/** Matches abbreviations of names, too, as nsys does; nsys itself refuses an ambiguous one. */
function ownOption(argument: string): readonly [string, OwnOption] | undefined {
  const written = writtenName(argument);
  const isLong = /^--[a-z]/.test(written);
  return [...OWN_OPTIONS].find(([name, { short }]) =>
    isLong ? name.startsWith(written) : short === written,
  );
}
