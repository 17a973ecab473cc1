import { execa } from "execa";

export interface Gpu {
  /** CUDA device index. */
  readonly index: number;
  readonly name: string;
  readonly driverVersion: string;
}

const QUERY_TIMEOUT_MS = 10_000;

/** GPUs that answer through the NVIDIA driver and that CUDA may use; empty without one. */
export async function queryGpus(): Promise<readonly Gpu[]> {
  const result = await execa(
    "nvidia-smi",
    ["--query-gpu=index,name,driver_version,uuid", "--format=csv,noheader"],
    { reject: false, timeout: QUERY_TIMEOUT_MS },
  );
  if (result.failed || typeof result.stdout !== "string") return [];
  const gpus = result.stdout
    .split("\n")
    .map((line) => line.split(",").map((cell) => cell.trim()))
    .flatMap(([index, name, driverVersion, uuid]) =>
      index !== undefined && /^\d+$/.test(index) && name !== undefined
        ? [{ name, driverVersion: driverVersion ?? "unknown", uuid: uuid ?? "" }]
        : [],
    );
  return visibleGpus(gpus, process.env["CUDA_VISIBLE_DEVICES"]);
}

/**
 * The GPUs by CUDA's numbers. CUDA_VISIBLE_DEVICES selects and reorders them: by number or by (the
 * beginning of) a UUID, up to the first entry that names none.
 *
 * @param gpus in nvidia-smi's order
 */
export function visibleGpus(
  gpus: readonly (Omit<Gpu, "index"> & { readonly uuid: string })[],
  visible: string | undefined,
): readonly Gpu[] {
  const chosen: (Omit<Gpu, "index"> | undefined)[] =
    visible === undefined
      ? [...gpus]
      : visible
          .split(",")
          .map((entry) => entry.trim())
          .map((entry) =>
            /^\d+$/.test(entry)
              ? gpus[Number(entry)]
              : gpus.find(({ uuid }) => entry !== "" && uuid.startsWith(entry)),
          );
  const end = chosen.indexOf(undefined);
  return (end < 0 ? chosen : chosen.slice(0, end)).flatMap((gpu, index) =>
    gpu === undefined ? [] : [{ index, name: gpu.name, driverVersion: gpu.driverVersion }],
  );
}
