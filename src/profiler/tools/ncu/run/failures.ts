/** Failures under ncu, recognised by its output. */

import type { NcuLog } from "./log.ts";

export interface RecognisedFailure {
  readonly id: FailureClass["id"] | "timeout";
  readonly message: string;
  readonly remedy: string;
  /** Whether another run of the same program under ncu would fail in the same way. */
  readonly hopeless: boolean;
}

/**
 * The failure of a run that our own time limit ended, which ncu does not know.
 *
 * @param current ncu's name of what was being measured; null between two measurements
 */
export const timeoutFailure = (minutes: number, current: string | null): RecognisedFailure => ({
  id: "timeout",
  message: `stopped after ${minutes} min (pipeline.ncu.timeout_min)${current === null ? "" : ` while it measured "${current}"`}`,
  remedy:
    "kernels that wait for each other hang when they run one at a time: measure their region as a whole (pipeline.ncu.ncu_cli.replay_mode=app-range, or range); or request fewer metrics or launches, or raise pipeline.ncu.timeout_min",
  hopeless: false,
});

/** ncu's warning that a kernel may be waiting for another one that ncu holds back. */
const HANG_WARNING = /taking more time than expected/;

/** The note for a run that seems to hang; null otherwise. */
export function hangNote({ warnings, current }: Pick<NcuLog, "warnings" | "current">) {
  if (!warnings.some((warning) => HANG_WARNING.test(warning))) return null;
  const what = current === null ? "a launch" : `"${current}"`;
  return `ncu warned that ${what} takes longer than expected: kernels that wait for each other hang when they run one at a time; replay_mode=app-range or range measures them together, and pipeline.ncu.timeout_min ends a run that hangs`;
}

/** After a warning ncu continues: for example an unknown GPU, while the next range may run on another. */
const ERROR = "==ERROR==";

/**
 * All recognised failures, the most significant first; for each kind the first match.
 *
 * @param ownLines errors and warnings of ncu, from its log and from standard error
 */
export function recogniseFailures(ownLines: readonly string[]): readonly RecognisedFailure[] {
  const lines = [...new Set(ownLines)];
  const found = new Map<FailureClass["id"], RecognisedFailure>();
  for (const { id, pattern, further, message, remedy, hopeless } of FAILURE_CLASSES) {
    if (found.has(id)) continue;
    const first = firstMatch(pattern, lines);
    if (first === null) continue;
    const second = further === undefined ? null : firstMatch(further, lines.slice(first.line));
    if (further !== undefined && second === null) continue;
    const words = message(first.match, second?.match ?? null);
    const isError = lines.some((line) => line.startsWith(ERROR) && pattern.test(line));
    found.set(id, { id, message: words, remedy, hopeless: hopeless && isError });
  }
  return [...found.values()];
}

function firstMatch(pattern: RegExp, lines: readonly string[]) {
  for (const [line, text] of lines.entries()) {
    const match = pattern.exec(text);
    if (match !== null) return { line, match };
  }
  return null;
}

/** A kind of failure of ncu: how to recognise it, and a remedy. */
interface FailureClass {
  readonly id:
    | "permission"
    | "lock"
    | "injection"
    | "connection"
    | "no_driver"
    | "driver_too_old"
    | "library"
    | "unsupported_gpu"
    | "gpu_mode"
    | "busy"
    | "clocks"
    | "unsupported_api"
    | "several_contexts"
    | "empty_range"
    | "capture_failed"
    | "memory"
    | "replay_mismatch"
    | "report_exists"
    | "disk"
    | "metrics"
    | "options"
    | "target"
    | "launch_failed"
    | "unknown"
    | "result_failed"
    | "application"
    | "no_match";
  /** Matched against each of ncu's own lines. */
  readonly pattern: RegExp;
  /** Must also match in that line or a later one. */
  readonly further?: RegExp;
  /** @param further the match of `further` */
  readonly message: (match: RegExpExecArray, further: RegExpExecArray | null) => string;
  readonly remedy: string;
  /** Whether every further run of ncu would fail in the same way, if ncu reports it as an error. */
  readonly hopeless: boolean;
}

// Error messages of ncu, their meaning, and a remedy. The messages are those of ncu 2019 to 2026, from its binaries and
// from reports of users; causes come before consequences.

const ANOTHER_NCU = "set HYDRACONF_NSIGHT to the directory of another ncu";

const UNSAVED_MEMORY: Pick<FailureClass, "message" | "remedy" | "hopeless"> = {
  message: () =>
    "ncu could not save the GPU memory that a kernel may change, which it needs to run the kernel again",
  remedy:
    "pipeline.ncu.ncu_cli.replay_mode=application (or app-range), which saves nothing and runs the program once per pass; or a smaller model or batch; with NCCL, NCCL_NVLS_ENABLE=0",
  hopeless: false,
};

export const FAILURE_CLASSES: readonly FailureClass[] = [
  {
    id: "permission",
    pattern: /ERR_NVGPUCTRPERM/,
    message: () => "ERR_NVGPUCTRPERM: this user may not read the GPU's performance counters",
    remedy:
      "run as root; or allow all users: put 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' into a file in /etc/modprobe.d and reboot; for a container, start it with --cap-add=SYS_ADMIN; under WSL, allow all users in the NVIDIA Control Panel of Windows (Developer)",
    hopeless: true,
  },
  {
    id: "permission",
    pattern: /GPU Performance Counters on the target vGPU/,
    message: () => "the virtual GPU of this machine does not expose performance counters",
    remedy:
      "the administrator of the host must enable profiling for this vGPU (enable_profiling=1); the recorder and nsys work without it",
    hopeless: true,
  },
  {
    id: "lock",
    pattern:
      /(?:Failed to open\/create lock file |Failed to acquire the interprocess lock at )(.*?)\. Please|InterprocessLockFailed/,
    message: ([, file]) =>
      `ncu cannot use its lock file${file === undefined ? "" : ` ${file}`}, probably because another user created it`,
    remedy:
      "use a directory of your own on a local disk: mkdir -p ~/ncu-tmp && TMPDIR=~/ncu-tmp deep-profile ...; use sudo for all runs or for none",
    hopeless: true,
  },
  {
    id: "injection",
    pattern:
      /Another tool\/injection might be loaded since CUDA_INJECTION64_PATH is set to (.*?)\. To run/,
    message: ([, library]) =>
      `CUDA_INJECTION64_PATH=${library} loads another tool into the program, and CUDA takes one`,
    remedy:
      "run without that variable: env -u CUDA_INJECTION64_PATH deep-profile ...; a cluster or a container sets it for a profiler of its own, which mostly can be switched off",
    hopeless: true,
  },
  {
    id: "no_driver",
    pattern:
      /failed to connect to the CUDA driver|Driver could not be loaded|Failed to load the driver|libcuda\.so.*not found/i,
    message: () => "ncu found no CUDA driver",
    remedy:
      "install NVIDIA's driver (nvidia-smi must list the GPU), and keep CUDA's lib64/stubs out of LD_LIBRARY_PATH; for a container, start it with --gpus all; without a GPU, use device=cpu pipeline.ncu.enable=false",
    hopeless: true,
  },
  {
    id: "driver_too_old",
    pattern: /driver is not compatible with Nsight Compute|Insufficient ?Driver ?Version/i,
    message: () => "the NVIDIA driver is too old for this ncu",
    remedy: `update the driver, or use the ncu of the CUDA version that nvidia-smi shows: ${ANOTHER_NCU}`,
    hopeless: true,
  },
  {
    id: "library",
    pattern: /LibraryNotLoaded|LibraryInvalidVersion|Incompatible PerfWorks library/,
    message: () => "ncu could not load the part of the driver that reads the counters",
    remedy: `ncu is probably older than the driver: use the ncu of the CUDA version that nvidia-smi shows (${ANOTHER_NCU}); a container needs all driver libraries (NVIDIA_DRIVER_CAPABILITIES=all), WSL a recent Windows driver; some container hosts allow no counters at all`,
    hopeless: true,
  },
  {
    id: "unsupported_gpu",
    pattern: /Profiling is not supported on (?:this )?device(?! (?:\d+ )?as it )/,
    message: () => "this ncu does not know this GPU",
    remedy: `ncu --list-chips prints those it knows; a newer GPU needs a newer ncu (${ANOTHER_NCU}), and the last ncu for GPUs before Volta is of 2019; the recorder and nsys work without ncu`,
    hopeless: true,
  },
  {
    id: "gpu_mode",
    pattern: /Windows Subsystem for Linux/,
    message: () => "this ncu cannot profile under WSL",
    remedy: `use WSL 2 on Windows 11 with a recent NVIDIA driver and ncu (${ANOTHER_NCU}), or profile on Linux or Windows directly`,
    hopeless: true,
  },
  {
    id: "gpu_mode",
    pattern:
      /==ERROR== (.*(?:active SLI group|[Cc]onfidential computing mode|[Pp]rotected memory mode|ERR_NVCMPGPU).*)/,
    message: ([, words]) => `ncu cannot profile this GPU as it is set up: ${words}`,
    remedy: "use another GPU (CUDA_VISIBLE_DEVICES), or have that mode disabled",
    hopeless: true,
  },
  {
    id: "busy",
    pattern:
      /driver resource was unavailable( or the user does not have permission)?|==ERROR== ResourceUnavailable/i,
    message: ([, permission]) =>
      `another tool holds the GPU's performance counters${permission === undefined ? "" : ", or this user may not read them"}`,
    remedy:
      "stop other profilers and monitors of this GPU (DCGM: dcgmi profile --pause, later --resume; nsys; another ncu), then run again; on a cluster, a job option often does that (look for Nsight or profiling); deep-profile doctor checks permissions",
    hopeless: true,
  },
  {
    id: "clocks",
    pattern: /(?:Cannot|Failed to) lock GPU('s)? clock|LockingClocksFailed/,
    message: () =>
      "ncu is not allowed to lock the GPU's clocks, e.g. on a slice of a GPU (MIG) or without permission",
    remedy:
      "pipeline.ncu.ncu_cli.clock_control=none; if you have permission, lock them yourself first: nvidia-smi --lock-gpu-clocks=tdp,tdp",
    hopeless: true,
  },
  {
    id: "unsupported_api",
    pattern: /Unsupported ?API/i,
    message: () =>
      "the range calls CUDA functions that range replay cannot capture (e.g. graphs, cudaMallocAsync, cudaLaunchKernelExC)",
    remedy:
      "pipeline.ncu.ncu_cli.replay_mode=app-range, which captures nothing and runs the program once per pass",
    hopeless: false,
  },
  {
    id: "several_contexts",
    pattern: /RecordStatusUnsupportedMultiContext|invalid capture range \(.*multi\w* ?context/i,
    message: () => "the range uses several CUDA contexts; range replay supports only one",
    remedy:
      "put a range around the work of a single context (one GPU); or pipeline.ncu.ncu_cli.replay_mode=app-range, which captures nothing and runs the program once per pass",
    hopeless: false,
  },
  {
    id: "empty_range",
    pattern: /invalid capture range \((?:RecordStatus)?Empty/i,
    message: () => "a range contained no CUDA call to replay",
    remedy:
      "put the range around the calls that launch kernels; another thread may make them, or they may be part of a CUDA graph recorded earlier",
    hopeless: false,
  },
  {
    id: "capture_failed",
    pattern:
      /Skipping invalid capture range(?! \(.*(?:Unsupported ?API|multi\w* ?context)| \((?:RecordStatus)?Empty)(?: \(([^)]*))?/i,
    message: ([, status = ""]) =>
      `ncu could not capture a range for replay${status === "" ? "" : ` (${status.replace("RecordStatus", "")})`}`,
    remedy:
      "pipeline.ncu.ncu_cli.replay_mode=app-range, which captures nothing and runs the program once per pass; or warm up before the range, and synchronize (cudaDeviceSynchronize) where it begins and ends",
    hopeless: false,
  },
  {
    id: "memory",
    pattern:
      /Failed to save memory for replay|Insufficient free memory for profiling|ContextSaveFailed|Failed to save context state|Unhandled C\+\+ exception: (?:std::)?bad[_ ]alloc/,
    ...UNSAVED_MEMORY,
  },
  {
    id: "memory",
    pattern: /Backing up device/,
    further: /==ERROR== UnknownError/,
    ...UNSAVED_MEMORY,
  },
  {
    id: "replay_mismatch",
    pattern:
      /Unexpected number of profiled kernels|No result records in replay stream|ApplicationReplayMismatch/,
    message: () => "the program did not launch the same kernels in every run of application replay",
    remedy:
      "make it deterministic (fixed seeds and sizes, no autotuning, no time limits, one process); or request metrics that fit in a single pass; or pipeline.ncu.ncu_cli.replay_mode=kernel",
    hopeless: false,
  },
  {
    id: "report_exists",
    pattern: /==ERROR== (File .* already exists\b.*)/,
    message: (match) => `ncu does not overwrite the report ${match[1]}`,
    remedy: "pipeline.ncu.ncu_cli.force_overwrite=true, or another hydra.run.dir",
    hopeless: true,
  },
  {
    id: "connection",
    pattern:
      /==ERROR== (.*(?:Failed to connect to (?:process \d+|host)|Failed to setup first connection|due to lack of ports|Failed to attach to the interception layer|Connection to HAM failed|Injecting failed).*)/,
    message: ([, words]) => `ncu could not talk to the program that it started: ${words}`,
    remedy:
      "a program of many processes needs more than ncu's 64 ports: \"pipeline.ncu.ncu_cli.extra_args=[--max-connections,'512']\", or fewer workers; where others use the same ports: [--port,'50500']; a sandbox must allow connections to localhost, and a program for another processor or with its own libcuda cannot be reached",
    hopeless: true,
  },
  {
    id: "disk",
    pattern:
      /==ERROR== (.*(?:Failed to save the report to file|Failed to create temporary (?:application replay )?file|Failed to create report|Could not (?:open report|create) file|Unable to write to file|Failed to access the temporary directory|No space left on device).*)/,
    message: ([, words]) => `ncu could not write its files: ${words}`,
    remedy:
      "free disk space, or choose other directories: hydra.run.dir for the report, TMPDIR for files that ncu keeps between passes",
    hopeless: true,
  },
  {
    id: "metrics",
    pattern: /==ERROR== Failed to access the following \d+ metrics?: (.*)/,
    message: ([, names = ""]) => `this GPU lacks requested metrics: ${names}`,
    remedy:
      "remove them, or the sections that need them (pipeline.ncu.ncu_cli.metrics, sections): a GPU without NVLink has no NVLink metrics, a slice of a GPU (MIG) no metrics of shared units",
    hopeless: true,
  },
  {
    id: "options",
    pattern:
      /==ERROR== (.*(?:the argument for option|unrecogni[sz]ed option|is not supported (?:with|during|in)|Invalid configuration for|did not match any section|cannot be specified more than once|Failed to find metric|is only supported (?:for|with)|cannot be used (?:with|when)|provide NVTX filter using|requires --|Unknown macro|No section files found|No metrics to collect|Invalid (?:kernel identifier|range filter|device id)|Could not parse the argument).*)/,
    message: (match) => `ncu refused its options: ${match[1]}`,
    remedy: "correct pipeline.ncu.ncu_cli; the command line is in ncu/cmd.txt",
    hopeless: true,
  },
  {
    id: "target",
    pattern:
      /==ERROR== (.*(?:does not exist or is not an executable|appears to be a shell script|is not an executable binary|Launching the target application failed).*)/,
    message: ([, words]) => `ncu could not start the program: ${words}`,
    remedy:
      "give the path of a binary, or an interpreter and its script (-- bash run.sh, -- python3 app.py)",
    hopeless: true,
  },
  {
    id: "launch_failed",
    pattern: /==ERROR== LaunchFailed|==ERROR== LaunchActive/,
    message: () => "a kernel failed under ncu",
    remedy:
      "check the kernels with compute-sanitizer PROG; a kernel that waits for others or never ends needs pipeline.ncu.ncu_cli.replay_mode=app-range or application; if the GPU's memory is nearly full, use application",
    hopeless: false,
  },
  {
    id: "unknown",
    pattern:
      /Failed to prepare kernel for profiling|Unknown Error(?: on device \d+)?\.|==ERROR== UnknownError/i,
    message: () => "ncu could not read the GPU's counters and gave no reason (unknown error)",
    remedy: `likely causes: ncu is older than the driver or the GPU (use the ncu of the CUDA version that nvidia-smi shows: ${ANOTHER_NCU}); another profiler or DCGM, which an old ncu does not name; green contexts, MPS, or a container or WSL whose host exposes no counters`,
    hopeless: false,
  },
  {
    id: "result_failed",
    pattern: /Failed to (?:profile (?:kernel )?"(.*)" in process \d+|prepare range for profiling)/,
    message: ([whole, name]) =>
      name === undefined
        ? `ncu stopped: ${whole}`
        : `ncu could not measure "${name}" and stopped there`,
    remedy:
      "exclude it (pipeline.ncu.ncu_cli.kernel_name or nvtx.include), request fewer metrics, or try another pipeline.ncu.ncu_cli.replay_mode",
    hopeless: false,
  },
  {
    id: "application",
    pattern: /The application returned an error code \((-?\d+)\)/,
    message: ([, code = ""]) =>
      `the program ended with exit code ${code}${crashOf(Number(code))} under ncu`,
    remedy:
      'run it without ncu first (pipeline.ncu.enable=false); if it fails only under ncu, try it without CUDA graphs, or with pipeline.ncu.ncu_cli.replay_mode=application; if that exit code is normal: "pipeline.ncu.ncu_cli.extra_args=[--check-exit-code,no]"',
    hopeless: true,
  },
  {
    id: "no_match",
    pattern: /No (\w+) were profiled/,
    further: /launched by child processes requires/,
    message: (match) => `ncu profiled no ${match[1]} and does not follow child processes`,
    remedy: "pipeline.ncu.ncu_cli.target_processes=all",
    hopeless: false,
  },
  {
    id: "no_match",
    pattern: /No (\w+) were profiled/,
    further: /expressions match only (push\/pop|start\/end) ranges/,
    message: ([, what], further) =>
      `ncu profiled no ${what}: the expressions of nvtx.include match only ${further?.[1]} ranges`,
    remedy:
      "in an ncu expression, push/pop ranges end in / (A/) and start/end ranges do not; the plain label (A) in pipeline.ncu.ncu_cli.nvtx.include matches both; otherwise, no kernel ran in those ranges, or kernel_name and launch_skip excluded all of them",
    hopeless: false,
  },
  {
    id: "no_match",
    pattern: /No (\w+) were profiled/,
    message: (match) => `ncu profiled no ${match[1]}`,
    remedy:
      "the filters excluded everything, or no kernel ran in those regions: check nvtx.include, kernel_name and launch_skip in pipeline.ncu.ncu_cli",
    hopeless: false,
  },
];

/** Names of signals, and of the corresponding Windows codes: ncu reports them like exit codes. */
const CRASHES: ReadonlyMap<number, string> = new Map([
  [4, "SIGILL"],
  [6, "SIGABRT"],
  [7, "SIGBUS"],
  [8, "SIGFPE"],
  [9, "SIGKILL"],
  [11, "SIGSEGV"],
  [15, "SIGTERM"],
  [0xc0000005, "an access violation"],
]);

/** ` (or of SIGSEGV)` for an exit code that may result from a crash; empty for others. */
function crashOf(code: number): string {
  const name = CRASHES.get(code < 0 ? code >>> 0 : code);
  return name === undefined ? "" : ` (or of ${name})`;
}
