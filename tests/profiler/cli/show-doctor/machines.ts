/** Machines of which everything is made up: files, programs, environments. */
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { examine } from "../../../../src/profiler/cli/show-doctor.ts";
import { type Machine, thisMachine } from "../../../../src/profiler/machine/doctor/machine.ts";

export interface Sketch {
  /** By path below the root. */
  readonly files?: Readonly<Record<string, string>>;
  /** What a program prints, by the start of its command line; all others are absent. */
  readonly answers?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly isRoot?: boolean;
  readonly platform?: string;
  readonly arch?: string;
}

/** A machine with these files and programs, and nothing else. */
export function machine({ files = {}, answers = {}, env = {}, ...facts }: Sketch): Machine {
  const root = mkdtempSync(join(tmpdir(), "doctor-"));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
    chmodSync(join(root, path), 0o755);
  }
  const run = async (argv: readonly string[]) => {
    const line = argv.join(" ").replaceAll(root, "");
    return Object.entries(answers).find(([start]) => line.startsWith(start))?.[1] ?? null;
  };
  return {
    ...thisMachine({ PATH: "", ...env }, root),
    ...{ isRoot: false, platform: "linux", arch: "x64", ...facts },
    run,
  };
}

const DETECTED = JSON.stringify({
  compiler: { command: "g++", version: "12.2.0" },
  nvcc: { version: "13.0" },
  cudnn: { version: "9.24.0" },
});
/** What a Python of a version says of itself. */
export const pythonSays = (version: string, path: string): string => `${version} ${path}\n`;
export const TOOLCHAIN = {
  "python3 -c": pythonSays("3.12", "/usr/bin/python3.12"),
  "/usr/bin/python3.12": DETECTED,
  "make --version": "GNU Make 4.3",
};
export const GPU = {
  "nvidia-smi": "0, NVIDIA H200, 580.65.06, GPU-a\n1, NVIDIA H200, 580.65.06, GPU-b\n",
};
export const NSIGHT = {
  files: {
    "opt/nvidia/nsight-systems/2025.5.1/bin/nsys": "",
    "opt/nvidia/nsight-compute/2025.3.1/ncu": "",
  },
  answers: {
    "/opt/nvidia/nsight-systems/2025.5.1/bin/nsys --version":
      "NVIDIA Nsight Systems version 2025.5.1.121-255136380782v0",
    "/opt/nvidia/nsight-compute/2025.3.1/ncu --version":
      "NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2025.3.1.0 (build 36398880)",
  },
};
export const CUPTI = { "usr/local/cuda/lib64/libcupti.so.13": "" };
export const params = (adminOnly: 0 | 1) => ({
  "proc/driver/nvidia/params": `ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: ${adminOnly}\n`,
  "proc/driver/nvidia/version":
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\n",
  "proc/sys/kernel/perf_event_paranoid": "4\n",
});

export const GPU_MACHINE: Sketch = {
  files: { ...NSIGHT.files, ...CUPTI, ...params(0) },
  answers: { ...TOOLCHAIN, ...GPU, ...NSIGHT.answers },
};

export async function findingsOf(sketch: Sketch) {
  const findings = await examine(machine(sketch));
  const check = (name: string) => findings.checks.find((one) => one.name === name);
  const works = Object.fromEntries(findings.collectors.map(({ name, works: how }) => [name, how]));
  return { findings, check, works };
}
