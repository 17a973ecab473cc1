import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { buildNative } from "../../native/build.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/**
 * Path of a native program, built first where it is absent or out of date. `HYDRACONF_NATIVE_BIN`
 * names a directory of other builds, e.g. one with sanitizers, and is taken as it is.
 */
export async function nativeProgram(name: string): Promise<string> {
  const given = process.env["HYDRACONF_NATIVE_BIN"];
  if (given !== undefined) return `${given}/${name}`;
  built ??= buildNative({ root, log: (line) => console.warn(line) });
  return `${(await built).binDir}/${name}`;
}

/** Once for each process: whether it is up to date, Python and the compilers are asked, which takes longer than most tests. */
let built: ReturnType<typeof buildNative> | undefined;

export interface Outcome {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, whatever its exit code. */
export async function runProgram(program: string, args: readonly string[]): Promise<Outcome> {
  const { exitCode, stdout, stderr } = await execa(program, args, { reject: false });
  return { code: exitCode, stdout, stderr };
}

/** What shallow_resnet prints, as far as the tests read it. */
export interface ResnetReport {
  readonly program: string;
  readonly model: string;
  readonly device: string;
  readonly backend: {
    readonly kind: string;
    readonly isa: string;
    readonly threads: number;
    readonly dtype?: string;
    readonly library?: string;
    readonly launches?: string;
  };
  readonly build: {
    readonly version: string;
    readonly nvtx: string;
    readonly backends: readonly string[];
    readonly gpu_libraries: readonly string[];
  };
  readonly peaks?: {
    readonly gflops_per_second: number | null;
    readonly gbytes_per_second: number | null;
    readonly source: string;
  };
  readonly batch_norm: string;
  readonly shapes: Readonly<Record<"input" | "features" | "logits", readonly number[]>>;
  readonly parameters: { readonly count: number; readonly bytes: number; readonly source: string };
  readonly layers: readonly {
    readonly name: string;
    readonly operation: string;
    readonly range: string;
    readonly flops: number;
    readonly bytes: number;
  }[];
  readonly flops: number;
  readonly bytes: number;
  readonly warmup: number;
  readonly iterations: number;
  readonly timings_ms: Readonly<Record<"min" | "median" | "max" | "mean" | "total", number>> & {
    readonly passes: readonly { readonly range?: string; readonly ms: number }[];
  };
  readonly gflops_per_second: number;
  readonly logits: { readonly checksum: string; readonly sum: number; readonly abs_sum: number };
}

/** Runs shallow_resnet, expects success and parses its document. */
export async function runResnet(program: string, args: readonly string[]): Promise<ResnetReport> {
  const outcome = await runProgram(program, args);
  if (outcome.code !== 0)
    throw new Error(`shallow_resnet ${args.join(" ")}: exit ${outcome.code}\n${outcome.stderr}`);
  return JSON.parse(outcome.stdout) as ResnetReport;
}
