/** What can go wrong under ncu, told by what it prints; the first of the table that fits is told. */

import type { NcuLog } from "./log-reader.ts";
import { ownLinesIn } from "./own-lines.ts";

interface FailureClass {
  readonly id:
    | "permission"
    | "no_driver"
    | "busy"
    | "unsupported_api"
    | "options"
    | "report_exists"
    | "result_failed"
    | "application"
    | "no_match"
    | "timeout";
  /** Looked for in ncu's own lines. */
  readonly pattern: RegExp;
  readonly message: (match: RegExpExecArray) => string;
  readonly remedy: string;
}

export interface RecognisedFailure {
  readonly id: FailureClass["id"];
  readonly message: string;
  readonly remedy: string;
}

const FAILURE_CLASSES: readonly FailureClass[] = [
  {
    id: "permission",
    pattern: /ERR_NVGPUCTRPERM/,
    message: () => "ERR_NVGPUCTRPERM: this user may not read the GPU's performance counters",
    remedy:
      "run as root; or let all users read them: put 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' into a file of /etc/modprobe.d and reboot; in a container, start it with --cap-add=SYS_ADMIN",
  },
  {
    id: "no_driver",
    pattern:
      /failed to connect to the CUDA driver|Driver could not be loaded|libcuda\.so.*not found/i,
    message: () => "ncu found no CUDA driver",
    remedy:
      "install NVIDIA's driver (nvidia-smi must list the GPU); in a container, start it with --gpus all; without a GPU use device=cpu pipeline.ncu.enable=false",
  },
  {
    id: "busy",
    pattern: /driver resource was unavailable/i,
    message: () => "another tool holds the GPU's performance counters",
    remedy:
      "end other profilers and monitors of this GPU (DCGM: dcgmi profile --pause; nsys; another ncu), then run again",
  },
  {
    id: "unsupported_api",
    pattern:
      /Unsupported API during capture|Skipping invalid capture range|RecordStatusUnsupported\w*/i,
    message: () =>
      "the range calls CUDA functions that range replay cannot capture (e.g. graphs, cudaMallocAsync, cudaLaunchKernelExC)",
    remedy:
      "pipeline.ncu.ncu_cli.replay_mode=app-range, which captures nothing and runs the program once per pass",
  },
  {
    id: "report_exists",
    pattern: /==ERROR== (File .* already exists\b.*)/,
    message: (match) => `ncu does not overwrite a report: ${match[1]}`,
    remedy: "pipeline.ncu.ncu_cli.force_overwrite=true, or another hydra.run.dir",
  },
  {
    id: "options",
    pattern:
      /==ERROR== (.*(?:the argument for option|unrecogni[sz]ed option|is not supported (?:with|during|in)|Invalid configuration for|did not match any section|cannot be specified more than once|Failed to find metric).*)/,
    message: (match) => `ncu refused its options: ${match[1]}`,
    remedy: "ncu/cmd.txt holds the command line; correct pipeline.ncu.ncu_cli",
  },
  {
    id: "result_failed",
    pattern: /Failed to (?:profile "(.*)" in process \d+|prepare range for profiling)/,
    message: ([whole, name]) =>
      name === undefined
        ? `ncu gave up: ${whole}`
        : `ncu could not measure "${name}" and gave up there`,
    remedy:
      "leave it out (pipeline.ncu.ncu_cli.kernel_name or nvtx.include), ask for fewer metrics, or try another pipeline.ncu.ncu_cli.replay_mode",
  },
  {
    id: "application",
    pattern: /The application returned an error code \((\d+)\)/,
    message: (match) => `the program ended with exit code ${match[1]} under ncu`,
    remedy:
      "run it without ncu first (pipeline.ncu.enable=false); where that exit code is usual: pipeline.ncu.ncu_cli.extra_args=[--check-exit-code,'no']",
  },
  {
    id: "no_match",
    pattern: /No (\w+) were profiled/,
    message: (match) => `ncu profiled no ${match[1]}`,
    remedy:
      "the filters let nothing pass, or no kernel ran in those regions: look at nvtx.include, kernel_name and launch_skip below pipeline.ncu.ncu_cli",
  },
];

/**
 * A run that our own limit ended: ncu does not know of it.
 *
 * @param current what was measured then, as ncu names it; null between two
 */
export const timeoutFailure = (minutes: number, current: string | null): RecognisedFailure => ({
  id: "timeout",
  message: `stopped after ${minutes} min (pipeline.ncu.timeout_min)${current === null ? "" : ` while it measured "${current}"`}`,
  remedy:
    "kernels that wait for each other hang when they run one at a time: measure their region as a whole (pipeline.ncu.ncu_cli.replay_mode=app-range, or range); or ask for fewer metrics or launches, or raise pipeline.ncu.timeout_min",
});

/** ncu's own suspicion that a kernel waits for one that ncu holds back. */
const HANG_WARNING = /taking more time than expected/;

/** What to say of a run that seems to hang; null while it does not. */
export function hangNote({ warnings, current }: Pick<NcuLog, "warnings" | "current">) {
  if (!warnings.some((warning) => HANG_WARNING.test(warning))) return null;
  const what = current === null ? "a launch" : `"${current}"`;
  return `ncu warned that ${what} takes more time than expected: kernels that wait for each other hang when they run one at a time; replay_mode=app-range or range measures them together, pipeline.ncu.timeout_min ends a run that hangs`;
}

/**
 * Everything that is recognised, most telling first.
 *
 * @param said the log, and standard error, which the program writes to as well
 */
export function recogniseFailures(said: string): readonly RecognisedFailure[] {
  const text = ownLinesIn(said).join("\n");
  return FAILURE_CLASSES.flatMap(({ id, pattern, message, remedy }) => {
    const match = pattern.exec(text);
    return match === null ? [] : [{ id, message: message(match), remedy }];
  });
}
