import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { openMetricLibrary } from "../../src/profiler/machine/chip-metrics.ts";
import {
  type ProcessMeasurements,
  readMeasurements,
} from "../../src/profiler/tools/counters/read-measurements.ts";
import {
  type CounterRequest,
  writeCounterRequest,
} from "../../src/profiler/tools/counters/request.ts";
import { type FakeGpu, fakeGpu } from "./fake-gpu.ts";
import { nativeProgram } from "./programs.ts";

const host = fileURLToPath(new URL("../../native/fixtures/fake_host_library.cc", import.meta.url));

/** The pretended GPU with a CUPTI that counts by ranges, and that answers questions about metrics. */
export const countingGpu = (): Promise<FakeGpu> => {
  gpu ??= fakeGpu(["-DOF_CUPTI=1", host]);
  return gpu;
};

// Found once: hundreds of programs are run.
let gpu: Promise<FakeGpu> | null = null;
let parts: Promise<{ readonly recorder: string; readonly chipMetrics: string }> | null = null;

export const nativeParts = () => {
  parts ??= Promise.all([nativeProgram("region_recorder.so"), nativeProgram("chip_metrics")]).then(
    ([recorder, chipMetrics]) => ({ recorder, chipMetrics }),
  );
  return parts;
};

export const METRICS = ["gpu__time_duration.sum", "fake__kernels.sum"];

export interface Counted {
  readonly outcome: { readonly code: number | undefined; readonly stdout: string };
  readonly processes: readonly ProcessMeasurements[];
  /** Rules of CUPTI's headers that were broken. */
  readonly violations: string;
  /** Of each measured range, by its path: kernels, nanoseconds. */
  readonly values: ReadonlyMap<string, readonly [kernels: number, ns: number]>;
  readonly directory: string;
  readonly results: string;
}

export interface Counting {
  readonly level?: number;
  readonly selection?: CounterRequest["selection"];
  readonly operationDomains?: readonly string[];
  readonly mostRanges?: number;
  readonly passes?: number;
  /** Whole devices are sampled in place of ranges. */
  readonly intervalNs?: number;
  /** Results of the passes before. */
  readonly after?: readonly Counted[];
  readonly env?: Readonly<Record<string, string>>;
  readonly gpu?: FakeGpu;
  /** Whose configuration there is. */
  readonly chip?: string;
  /** What starts the program. */
  readonly before?: readonly string[];
}

const EVERYTHING = { include: [], exclude: [] };

/** Runs a script of gpu_program under the recorder, and reads what was counted. */
export async function countRanges(script: string, counting: Counting = {}): Promise<Counted> {
  const { level = 0, selection = EVERYTHING, operationDomains = [], passes = 1 } = counting;
  const { after = [], before = [] } = counting;
  const { program, driverDirectory, cupti } = counting.gpu ?? (await countingGpu());
  const directory = mkdtempSync(join(tmpdir(), "hydraconf-counters-"));
  const [images, results] = [join(directory, "images"), join(directory, "results")];
  mkdirSync(images);
  mkdirSync(results);
  writeFileSync(join(images, `${counting.chip ?? "XX100"}.config`), Buffer.alloc(16, passes));
  const request = join(directory, "request");
  await writeCounterRequest(request, {
    ...{ level, pass: after.length, passes, mostRanges: counting.mostRanges ?? 10_000 },
    ...{ metrics: METRICS, selection, operationDomains, results, images },
    previous: after.at(-1)?.results ?? null,
    ...(counting.intervalNs !== undefined && { intervalNs: counting.intervalNs }),
  });
  const violations = join(directory, "violations");
  const { recorder } = await nativeParts();
  const [command = program, ...args] = [...before, program, "script", script];
  const { exitCode, stdout } = await execa(command, args, {
    reject: false,
    env: {
      NVTX_INJECTION64_PATH: recorder,
      HYDRACONF_RECORDER_DIR: directory,
      CUDA_INJECTION64_PATH: recorder,
      HYDRACONF_CUPTI_PATH: cupti,
      HYDRACONF_RECORDER_COUNTERS: request,
      LD_LIBRARY_PATH: driverDirectory,
      FAKE_CUPTI_VIOLATIONS: violations,
      ...counting.env,
    },
  });
  const processes = readMeasurements(directory, { selection, operationDomains });
  return {
    outcome: { code: exitCode, stdout },
    processes,
    violations: existsSync(violations) ? readFileSync(violations, "utf8") : "",
    values:
      counting.intervalNs === undefined
        ? await valuesOf(processes, results, cupti)
        : new Map<string, readonly [number, number]>(),
    directory,
    results,
  };
}

export const forget = (...all: readonly Counted[]): void => {
  for (const { directory } of all) rmSync(directory, { recursive: true, force: true });
};

async function valuesOf(
  processes: readonly ProcessMeasurements[],
  results: string,
  library: string,
): Promise<Counted["values"]> {
  const metrics = openMetricLibrary({ program: (await nativeParts()).chipMetrics, library });
  const sums = new Map<string, readonly [number, number]>();
  for (const { files, measurements } of processes)
    for (const [file, { complete }] of files) {
      if (complete === null) continue;
      const ranges = await metrics.valuesIn("XX100", join(results, file), METRICS);
      for (const { path, number } of measurements.filter((one) => one.file === file)) {
        const [ns, kernels] = ranges.find(({ name }) => name === String(number))?.values ?? [];
        const key = path.map(({ domain, name }) => (domain === "" ? name : `${domain}@${name}`));
        const [sumKernels, sumNs] = sums.get(key.join("/")) ?? [0, 0];
        sums.set(key.join("/"), [sumKernels + (kernels ?? 0), sumNs + (ns ?? 0)]);
      }
    }
  return sums;
}
