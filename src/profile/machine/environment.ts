import os from "node:os";
import type { Gpu } from "./gpu.ts";
import { processorName } from "./processor-name.ts";

/**
 * The machine and versions of a run, as `env.json`. Never the process environment: it holds
 * secrets.
 */
export interface MachineEnvironment {
  readonly hostname: string;
  readonly os: string;
  readonly kernel: string;
  readonly arch: string;
  readonly cpu: string;
  readonly cpu_count: number;
  readonly memory_bytes: number;
  readonly gpus: readonly Gpu[];
  readonly node: string;
  readonly hydraconf: string;
  /** What the native part was built with; null where this run did not need it. */
  readonly native: unknown;
}

export function describeMachine(
  gpus: readonly Gpu[],
  versions: { readonly hydraconf: string; readonly native: unknown },
): MachineEnvironment {
  return {
    hostname: os.hostname(),
    os: `${os.type()} ${os.release()}`,
    kernel: os.version(),
    arch: os.arch(),
    cpu: processorName(),
    cpu_count: os.cpus().length,
    memory_bytes: os.totalmem(),
    gpus,
    node: process.version,
    hydraconf: versions.hydraconf,
    native: versions.native,
  };
}
