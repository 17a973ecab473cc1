import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseOverride } from "../../../../../src/engine/overrides/index.ts";
import {
  FAILURE_CLASSES,
  recogniseFailures,
} from "../../../../../src/profiler/tools/ncu/run/failures.ts";
import { diagnosticsIn } from "../../../../../src/profiler/tools/ncu/run/log.ts";
import { growth } from "../../../../growth.ts";
import { samplesOrSkip } from "../../../../shared.ts";

const sample = samplesOrSkip("recorded logs of ncu");
const logOf = (name: string): string => readFileSync(sample?.(`log-${name}.txt`) ?? "", "utf8");

const failuresOf = (text: string) => recogniseFailures(diagnosticsIn(text));
const ids = (text: string) => failuresOf(text).map(({ id }) => id);

/** How ncu goes on after most of its errors. */
const killed =
  "==PROF== Trying to shutdown target application\n==ERROR== The application returned an error code (9).\n==ERROR== An error occurred while trying to profile.\n==WARNING== No kernels were profiled.\n";

/** What ncu said to people who told of it in public, and what has to be told first: `message` and `remedy` in part. */
const met: readonly {
  readonly where: string;
  readonly says: string;
  readonly id: string;
  readonly message?: string;
  readonly remedy: string;
}[] = [
  {
    where: "notes of a cluster's user, MIG slice under srun",
    says: `==WARNING== Unable to access the following 8 metrics: pcie__read_bytes.avg.per_second, pcie__read_bytes.max.per_second. If profiling on a MIG instance, it is not possible to collect metrics from GPU units that are shared with other MIG instances.\n\n==PROF== Profiling "k" - 0: 0%\n==ERROR== An error was reported by the driver\n\n==ERROR== Cannot lock GPU clock frequencies on MIG! Try locking the clocks externally (e.g. using 'nvidia-smi --lock-gpu-clocks=tdp,tdp') or profile without fixed frequencies (see '--clock-control').\n==ERROR== Failed to profile "k" in process 2119298\n${killed}`,
    id: "clocks",
    remedy: "clock_control=none",
  },
  {
    where: "a binary of 2024, without MIG",
    says: "==ERROR== Failed to lock GPU clock frequencies! Try locking the clocks externally (e.g. using 'nvidia-smi --lock-gpu-clocks=tdp,tdp') or profile without fixed frequencies (see '--clock-control').",
    id: "clocks",
    remedy: "clock_control=none",
  },
  {
    where: "several repositories, WSL and rented containers",
    says: `==ERROR== An error was reported by the counter measurement library:\n==ERROR== Failed to initialize the profiler: LibraryNotLoaded. Check that a compatible driver library is loaded.\n${killed}`,
    id: "library",
    remedy: "older than the driver",
  },
  {
    where: "a public issue, ncu newer than the driver",
    says: "==ERROR== An error was reported by the driver:\n==ERROR== Cuda driver is not compatible with Nsight Compute.\n==PROF== Connected to process 2305223 (/opt/python3.11)\n==ERROR== The application returned an error code (11).\n",
    id: "driver_too_old",
    remedy: "update the driver",
  },
  {
    where: "a binary of 2024",
    says: "==ERROR== Insufficient driver version to profile on device 0.",
    id: "driver_too_old",
    remedy: "update the driver",
  },
  {
    where: "a public issue, SYCL program",
    says: `==ERROR== Failed to prepare kernel for profiling\n==ERROR== Unknown Error on device 0.\n==ERROR== Failed to profile "const:" in process 4\n${killed}`,
    id: "unknown",
    remedy: "ncu is older than the driver or the GPU",
  },
  {
    where: "notes on a shared machine",
    says: `==ERROR== Failed to open/create lock file /tmp/nsight-compute-lock. Please check that this process has write permissions on this file. See https://docs.nvidia.com/nsight-compute/ProfilingGuide/index.html#faq for more details.\n==ERROR== InterprocessLockFailed\n${killed}`,
    id: "lock",
    message: "/tmp/nsight-compute-lock",
    remedy: "TMPDIR=",
  },
  {
    where: "a binary of 2024, a file system without locks",
    says: "==ERROR== Failed to acquire the interprocess lock at /net/tmp/nsight-compute-lock. Please make sure that this path supports file-based locking. (No locks available)",
    id: "lock",
    message: "/net/tmp/nsight-compute-lock",
    remedy: "local disk",
  },
  {
    where: "a forum, WSL",
    says: "==ERROR== Profiling is not supported on device 0 as it uses the Windows Subsystem for Linux (WSL). Refer to https://docs.nvidia.com/nsight-compute/ReleaseNotes/#system-requirements for more details.\n==WARNING== No kernels were profiled.\n",
    id: "gpu_mode",
    message: "WSL",
    remedy: "Windows 11",
  },
  {
    where: "notes on a new GPU with an ncu of CUDA 12.4",
    says: "==ERROR== Profiling is not supported on device 0. To find out supported GPUs refer --list-chips option.\n==WARNING== No kernels were profiled.\n",
    id: "unsupported_gpu",
    remedy: "--list-chips",
  },
  {
    where: "a binary of 2024",
    says: "==ERROR== Confidential computing mode detected on device 1. Nsight Compute cannot run in a secure confidential computing environment.",
    id: "gpu_mode",
    message: "Confidential computing mode detected on device 1",
    remedy: "another GPU",
  },
  {
    where: "a binary of 2024",
    says: "==ERROR== The user does not have permission to access NVIDIA GPU Performance Counters on the target vGPU device 0.",
    id: "permission",
    message: "virtual GPU",
    remedy: "host",
  },
  {
    where: "notes on WSL, ncu of 2024",
    says: "==ERROR== Profiling failed because a driver resource was unavailable or the user does not have permission to access NVIDIA GPU Performance Counters. Ensure that no other tool (like DCGM) is concurrently collecting profiling data.",
    id: "busy",
    message: "or this user may not read them",
    remedy: "doctor",
  },
  {
    where: "notes on a model that fills the GPU",
    says: '==WARNING== Backing up device memory in system memory. Kernel replay might be slow.\n==ERROR== Unhandled C++ exception: bad allocation\n==ERROR== Failed to profile "k" in process 3\n',
    id: "memory",
    remedy: "replay_mode=application",
  },
  {
    where: "notes on a model that fills the GPU, spilled to a file",
    says: '==WARNING== Backing up device or system memory to file. Kernel replay might be very slow.\n==ERROR== UnknownError\n==ERROR== Failed to profile "scale_f32" in process 1\n==WARNING== No kernels were profiled.\n',
    id: "memory",
    remedy: "replay_mode=application",
  },
  {
    where: "notes on collective kernels",
    says: "==ERROR== Failed to save memory for replay. Consider using --replay-mode application\n",
    id: "memory",
    remedy: "NCCL_NVLS_ENABLE=0",
  },
  {
    where: "notes on inference under application replay",
    says: "==ERROR== Unexpected number of profiled kernels. Application replay requires that the execution, combined with selected filters, guarantees a consistent set of kernels in all passes.\n",
    id: "replay_mismatch",
    remedy: "single pass",
  },
  {
    where: "notes on a persistent kernel",
    says: "==ERROR== LaunchFailed\n==ERROR== An error occurred while trying to profile.\n",
    id: "launch_failed",
    remedy: "compute-sanitizer",
  },
  {
    where: "a repository's readme, a GPU without NVLink",
    says: "==ERROR== Failed to access the following 2 metrics: nvlrx__bytes.sum, nvlrx__bytes_data_user.sum\n",
    id: "metrics",
    message: "nvlrx__bytes.sum, nvlrx__bytes_data_user.sum",
    remedy: "NVLink",
  },
  {
    where: "a Slurm job, %j in the name of the report",
    says: "==ERROR== Unknown macro '%j'\n",
    id: "options",
    message: "Unknown macro '%j'",
    remedy: "cmd.txt",
  },
  {
    where: "a binary of 2024, a script without interpreter",
    says: "==ERROR== The target application appears to be a shell script.\n",
    id: "target",
    remedy: "-- bash run.sh",
  },
  {
    where: "notes on a full disk",
    says: "==ERROR== Failed to save the report to file /run/ncu/profile.ncu-rep\n",
    id: "disk",
    message: "/run/ncu/profile.ncu-rep",
    remedy: "hydra.run.dir",
  },
  {
    where: "a binary of 2024, a home that is full",
    says: "==ERROR== Failed to create temporary file. Specify the TMPDIR environment variable or use --export option.\n",
    id: "disk",
    message: "Failed to create temporary file",
    remedy: "TMPDIR",
  },
  {
    where: "a binary of 2024, a container with a profiler of its own",
    says: `==ERROR== Another tool/injection might be loaded since CUDA_INJECTION64_PATH is set to /opt/tools/libinject.so. To run Nsight Compute unset CUDA_INJECTION64_PATH environment variable.\n${killed}`,
    id: "injection",
    message: "CUDA_INJECTION64_PATH=/opt/tools/libinject.so",
    remedy: "env -u CUDA_INJECTION64_PATH deep-profile",
  },
  {
    where: "a report of a course, a cluster's node",
    says: "==ERROR== Failed to connect to process 2911851.\n",
    id: "connection",
    message: "process 2911851",
    remedy: "--max-connections",
  },
  {
    where: "a public issue, ncu of 2020",
    says: '==ERROR== Failed to profile kernel "gemv2N_kernel" in process 10096\n==ERROR== An error occurred while trying to profile.\n',
    id: "result_failed",
    message: 'measure "gemv2N_kernel"',
    remedy: "kernel_name",
  },
  {
    where: "notes on CUDA graphs under kernel replay",
    says: "==ERROR== The application returned an error code (11).\n",
    id: "application",
    message: "exit code 11 (or of SIGSEGV)",
    remedy: "without CUDA graphs",
  },
  {
    where: "a test of a public tool, on Windows",
    says: "==ERROR== The application returned an error code (3221225477).\n",
    id: "application",
    message: "an access violation",
    remedy: "without ncu",
  },
  {
    where: "the same code as a signed number",
    says: "==ERROR== The application returned an error code (-1073741819).\n",
    id: "application",
    message: "exit code -1073741819 (or of an access violation)",
    remedy: "without ncu",
  },
  {
    where: "many repositories, target_processes application-only",
    says: "==WARNING== No kernels were profiled.\n==WARNING== Profiling kernels launched by child processes requires the --target-processes all option.\n",
    id: "no_match",
    message: "child process",
    remedy: "target_processes=all",
  },
  {
    where: "a public tool's documentation",
    says: "==WARNING== No kernels were profiled.\n==WARNING== Note that specified NVTX include expressions match only start/end ranges.\n",
    id: "no_match",
    message: "start/end ranges",
    remedy: "end in /",
  },
];

describe("recogniseFailures", () => {
  it.skipIf(sample === null).each([
    ["pub-errnvgpuctrperm", ["permission"]],
    ["pub-driver-resource-unavailable", ["busy", "result_failed", "no_match"]],
    ["pub-failed-kernel-mid-run", ["result_failed", "application"]],
    ["pub-no-kernels-available-list", ["no_match"]],
    ["pub-nvtx-no-match-pushpop-hint", ["no_match"]],
    ["pub-progress-line-split-by-warning", []],
    ["real-no-cuda-driver-range-mode", ["no_driver", "application", "no_match"]],
  ])("of the recorded log %s", (name, expected) => {
    expect(ids(logOf(name))).toEqual(expected);
  });

  it.each(met)("tells first what matters: $id ($where)", ({ says, id, message = "", remedy }) => {
    const [failure] = failuresOf(says);
    expect(failure?.id).toBe(id);
    expect(failure?.message).toContain(message);
    expect(failure?.remedy).toContain(remedy);
    // The same with the line ends of Windows.
    expect(ids(says.replaceAll("\n", "\r\n"))).toEqual(ids(says));
  });

  it("gives up no further run for what was a warning, after which ncu went on", () => {
    const words =
      "Profiling is not supported on device 1. To find out supported GPUs refer --list-chips option.";
    const hopeless = (mark: string) =>
      failuresOf(`==WARNING== Note.\n==${mark}== ${words}\n`).map((failure) => failure.hopeless);
    expect(hopeless("WARNING")).toEqual([false]);
    expect(hopeless("ERROR")).toEqual([true]);
  });

  it("names a lock file whose path has blanks", () => {
    const [failure] = failuresOf(
      "==ERROR== Failed to open/create lock file /home/a b/nsight-compute-lock. Please check that this process has write permissions on this file.",
    );
    expect(failure?.message).toContain(" /home/a b/nsight-compute-lock,");
  });

  it("looks once at what ncu says of every kernel", () => {
    const line =
      "==WARNING== Backing up device memory in system memory. Kernel replay might be slow.\n";
    expect(ids(`${line.repeat(10_000)}==ERROR== LaunchFailed\n`)).toEqual(["launch_failed"]);
  });

  it("has met each of its classes, here or in a recorded log", () => {
    const elsewhere = [
      "no_driver",
      ...["unsupported_api", "several_contexts", "empty_range", "capture_failed"],
      ...["report_exists", "result_failed"],
    ];
    const known = new Set([...met.map(({ id }) => id), ...elsewhere]);
    expect(FAILURE_CLASSES.filter(({ id }) => !known.has(id))).toEqual([]);
  });

  it.each([
    [
      "==WARNING== Skipping invalid capture range (Unsupported API during capture).",
      "unsupported_api",
    ],
    ["==WARNING== Skipping invalid capture range (RecordStatusUnsupportedApi).", "unsupported_api"],
    [
      "==WARNING== Skipping invalid capture range (RecordStatusUnsupportedMultiContext).",
      "several_contexts",
    ],
    ["==WARNING== Skipping invalid capture range (RecordStatusEmpty).", "empty_range"],
    ["==WARNING== Skipping invalid capture range (RecordStatusResetError).", "capture_failed"],
    ["==WARNING== Skipping invalid capture range (RecordStatusUnknownError).", "capture_failed"],
    [
      "==WARNING== Skipping invalid capture range (RecordStatusUnsupportedStream).",
      "capture_failed",
    ],
    ["==WARNING== Skipping invalid capture range.", "capture_failed"],
    ["==ERROR== Option kernel-name is not supported during range replay.", "options"],
    ["==ERROR== the argument for option '--clock-control' is invalid.", "options"],
    ["==ERROR== Graph-based profiling is only supported with kernel replay.", "options"],
    ["==ERROR== --kill cannot be used when launch count is zero.", "options"],
    [
      "==ERROR== To use --range-filter option for NVTX ranges, provide NVTX filter using one or more --nvtx-include option.",
      "options",
    ],
    ["==ERROR== --print-nvtx-rename requires --nvtx", "options"],
    ["==ERROR== --source-folder option requires --import-source on.", "options"],
    ["==ERROR== Option '--section bogus' did not match any section.", "options"],
    ["==ERROR== Invalid configuration for nvtx-include : */", "options"],
    ["==ERROR== No metrics to collect found in sections.", "options"],
    ["==ERROR== Invalid kernel identifier :::", "options"],
    ["==ERROR== Failed to create TCP socket session due to lack of ports", "connection"],
    ["==ERROR== Could not open report file '/run/a.ncu-rep'.", "disk"],
    [
      "==ERROR== Unable to write to file a.ncu-rep. Please verify this file is not locked, and writable.",
      "disk",
    ],
    [
      "==ERROR== File a.ncu-rep already exists. Use '-f' for overwriting the file.",
      "report_exists",
    ],
    ["half a line of the program==ERROR== ERR_NVGPUCTRPERM - no", "permission"],
  ])("of %s", (text, id) => {
    const [failure, ...others] = failuresOf(text);
    expect(failure?.id).toBe(id);
    expect(others).toEqual([]);
    expect(failure?.remedy).toBeTruthy();
  });

  it.each([
    "FileExistsError: the cache already exists",
    "torch: libcuda.so.1 not found, using the CPU",
    "see ERR_NVGPUCTRPERM in NVIDIA's pages",
    "Failed to prepare range for profiling my model",
    "The application returned an error code (3)",
    "No kernels were profiled",
    "a driver resource was unavailable",
    "RuntimeError: LaunchFailed, LibraryNotLoaded, UnknownError",
  ])("does not take what the program prints for ncu's: %s", (line) => {
    expect(failuresOf(line)).toEqual([]);
    const log = `==ERROR== The application returned an error code (1).\n${line}\n`;
    expect(ids(log)).toEqual(["application"]);
  });
});

it.each([
  "==ERROR== ",
  "==ERROR== No kernels were profiled\n",
  "No kernels were profiled",
  "Backing up device ",
  'Failed to profile "',
])("takes no longer for a program that prints %j again and again", async (part) => {
  const numbered = (times: number) =>
    Array.from({ length: times }, (_, i) => `${part} ${i}`).join("");
  expect(await growth((times) => ids(`==ERROR== ${numbered(times)}`), 1000)).toBeLessThan(40);
});

it.each(FAILURE_CLASSES)("overrides that the remedy of $id names can be typed", ({ remedy }) => {
  // As a shell passes them on: without the quotes around them, or else without those inside.
  for (const [, quoted, bare = ""] of remedy.matchAll(
    /"(pipeline\.[^"]*)"|((?:pipeline|hydra|workload|infer)\.[\w.]+=\S*[^\s,;:).])/g,
  ))
    expect(() => parseOverride(quoted ?? bare.replaceAll("'", ""))).not.toThrow();
});

describe("the words of a failure", () => {
  const messageOf = (text: string) => failuresOf(text)[0]?.message;

  it.each([
    [4, " (or of SIGILL)"],
    [6, " (or of SIGABRT)"],
    [7, " (or of SIGBUS)"],
    [8, " (or of SIGFPE)"],
    [9, " (or of SIGKILL)"],
    [11, " (or of SIGSEGV)"],
    [15, " (or of SIGTERM)"],
    [-1073741819, " (or of an access violation)"],
    [0, ""],
    [1, ""],
  ])("name the signal that an exit code of %i may be", (code, name) => {
    expect(messageOf(`==ERROR== The application returned an error code (${code}).\n`)).toBe(
      `the program ended with exit code ${code}${name} under ncu`,
    );
  });

  it.each([
    ['Failed to profile "k<int>" in process 7', 'ncu could not measure "k<int>" and stopped there'],
    ["Failed to prepare range for profiling", "ncu stopped: Failed to prepare range for profiling"],
    [
      "Failed to open/create lock file /tmp/nsight-compute-lock. Please check.",
      "ncu cannot use its lock file /tmp/nsight-compute-lock, probably because another user created it",
    ],
    [
      "InterprocessLockFailed",
      "ncu cannot use its lock file, probably because another user created it",
    ],
    ["ResourceUnavailable", "another tool holds the GPU's performance counters"],
    [
      "driver resource was unavailable or the user does not have permission",
      "another tool holds the GPU's performance counters, or this user may not read them",
    ],
  ])("hold what ncu named: %s", (says, message) => {
    expect(messageOf(`==ERROR== ${says}\n`)).toBe(message);
  });
});
