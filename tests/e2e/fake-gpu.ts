import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CACHED_NCU, cachedNcuEnvironment } from "../profiler/tools/ncu/run/real-ncu.ts";
import { buildReport, type ResultSketch } from "../profiler/tools/ncu/run/report-builder.ts";

/** What the fake ncu does in a run that an entry fits. */
export interface FakeRun {
  readonly include?: string;
  readonly mode?: string;
  readonly results?: readonly ResultSketch[];
  /** Path of the report that it leaves, where it is none of those results. */
  readonly report?: string;
  readonly log?: string;
  readonly logFile?: string;
  readonly stderr?: string;
  readonly exit?: number;
  /** False: the program is not run. */
  readonly runs?: boolean;
  /** True: it waits for SIGINT after it wrote its files. */
  readonly hangs?: boolean;
}

export interface FakeGpu {
  readonly env: Readonly<Record<string, string>>;
  /** Sets what ncu will do, and forgets what it was called with. */
  readonly plan: (runs: readonly FakeRun[]) => void;
  /** Arguments of the calls that profiled, in order. */
  readonly profilingCalls: () => readonly (readonly string[])[];
}

/** A machine with a GPU, as far as `nvidia-smi` and `ncu` are asked; the real ncu reads reports. */
export function fakeGpu(
  directory: string,
  real: { readonly path: string; readonly template: string; readonly env: NodeJS.ProcessEnv },
): FakeGpu {
  const bin = join(directory, "fake-bin");
  const scenario = join(directory, "scenario.json");
  const calls = join(directory, "calls.jsonl");
  mkdirSync(bin);
  symlinkSync(CACHED_NCU, join(bin, "ncu"));
  const smi = join(bin, "nvidia-smi");
  writeFileSync(smi, "#!/bin/sh\necho '0, NVIDIA H200, 550.54.15'\n");
  chmodSync(smi, 0o755);
  let reports = 0;
  return {
    env: {
      PATH: `${bin}:${process.env["PATH"] ?? ""}`,
      HYDRACONF_NSIGHT: bin,
      HOME: real.env["HOME"] ?? directory,
      NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT: "1",
      FAKE_NCU_SCENARIO: scenario,
      FAKE_NCU_CALLS: calls,
      ...cachedNcuEnvironment(real.path),
    },
    plan: (runs) => {
      writeFileSync(calls, "");
      const entries = runs.map(({ results, ...run }) => {
        if (results === undefined) return run;
        const report = join(directory, `report-${++reports}.ncu-rep`);
        writeFileSync(report, buildReport(real.template, results));
        return { ...run, report };
      });
      writeFileSync(scenario, JSON.stringify(entries));
    },
    profilingCalls: () =>
      readFileSync(calls, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as readonly string[]),
  };
}
