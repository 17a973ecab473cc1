import { execa } from "execa";

export interface Gpu {
  /** CUDA device index. */
  readonly index: number;
  readonly name: string;
  readonly driverVersion: string;
}

const QUERY_TIMEOUT_MS = 10_000;

/** GPUs that answer through the NVIDIA driver; empty without one. */
export async function queryGpus(): Promise<readonly Gpu[]> {
  const result = await execa(
    "nvidia-smi",
    ["--query-gpu=index,name,driver_version", "--format=csv,noheader"],
    { reject: false, timeout: QUERY_TIMEOUT_MS },
  );
  if (result.failed || typeof result.stdout !== "string") return [];
  return result.stdout
    .split("\n")
    .map((line) => line.split(",").map((cell) => cell.trim()))
    .flatMap(([index, name, driverVersion]) =>
      index !== undefined && /^\d+$/.test(index) && name !== undefined
        ? [{ index: Number(index), name, driverVersion: driverVersion ?? "unknown" }]
        : [],
    );
}
