/** The GPUs of this machine, as the driver lists them. */
import { ConfigError } from "../../engine/values/errors.ts";
import { askProgram } from "../../foundation/system/ask-program.ts";
import { once } from "../../foundation/system/get-or-create.ts";

/** A GPU of this machine. */
export interface Gpu {
  /** CUDA device index. */
  readonly index: number;
  readonly name: string;
  readonly driverVersion: string;
}

/**
 * Unless a process keeps the driver loaded, it answers only after seconds for each GPU; a busy machine is slower still.
 */
const QUERY_TIMEOUT_MS = 60_000;

/** The query to the NVIDIA driver; `gpusOf` parses the answer. */
export const GPU_QUERY: readonly string[] = [
  "nvidia-smi",
  "--query-gpu=index,name,driver_version,uuid",
  "--format=csv,noheader",
];

/** A GPU of the machine, in nvidia-smi's order. */
export interface MachineGpu extends Omit<Gpu, "index"> {
  readonly uuid: string;
}

export const gpusOf = (answer: string): readonly MachineGpu[] =>
  answer
    .split("\n")
    .map((line) => line.split(",").map((cell) => cell.trim()))
    .flatMap(([index, name, driverVersion, uuid]) =>
      index !== undefined && /^\d+$/.test(index) && name !== undefined
        ? [{ name, driverVersion: driverVersion ?? "unknown", uuid: uuid ?? "" }]
        : [],
    );

/** GPUs that answer through the NVIDIA driver and that CUDA may use; empty without one. */
async function queryGpus(): Promise<readonly Gpu[]> {
  const { failed, stdout } = await askProgram({ argv: GPU_QUERY, limitMs: QUERY_TIMEOUT_MS });
  return failed ? [] : visibleGpus(gpusOf(stdout), process.env["CUDA_VISIBLE_DEVICES"]);
}

/**
 * Compute capabilities of all GPUs of this machine, as compilers name them: `[90]` for 9.0. Empty without a driver that tells;
 * those before R510 do not.
 */
async function queryCapabilities(): Promise<readonly number[]> {
  const argv = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"];
  const { failed, stdout } = await askProgram({ argv, limitMs: QUERY_TIMEOUT_MS });
  const found = failed ? [] : stdout.matchAll(/^\s*(\d+)\.(\d)\s*$/gm);
  return [...new Set([...found].map(([, major, minor]) => Number(`${major}${minor}`)))];
}

/** Questions to the driver, whose answers are the same for all jobs that a command plans: it takes up to seconds for each. */
export interface GpuQueries {
  readonly gpus: () => Promise<readonly Gpu[]>;
  readonly capabilities: () => Promise<readonly number[]>;
}

/** Asks the driver each question once, when it first comes up. */
export const createGpuQueries = (): GpuQueries => ({
  gpus: once(queryGpus),
  capabilities: once(queryCapabilities),
});

/**
 * The GPUs by CUDA's numbers. CUDA_VISIBLE_DEVICES selects and reorders them: by number or by (the beginning of) a
 * UUID, up to the first invalid entry. A slice of a partitioned GPU (`MIG-...`) is then the only device. Numbers count
 * in nvidia-smi's order, which is CUDA's own for GPUs of one kind, and for all with CUDA_DEVICE_ORDER=PCI_BUS_ID.
 *
 * @param gpus in nvidia-smi's order
 */
export function visibleGpus(
  gpus: readonly MachineGpu[],
  visible: string | undefined,
): readonly Gpu[] {
  if (visible?.trim().startsWith("MIG-")) return sliceOf(gpus, visible.split(",")[0] ?? "");
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

/** `MIG-<uuid>`, or `MIG-GPU-<uuid>/...` of older drivers, which contains the UUID of its GPU. */
function sliceOf(gpus: readonly MachineGpu[], entry: string): readonly Gpu[] {
  const gpu = gpus.find(({ uuid }) => entry.includes(uuid)) ?? gpus[0];
  if (gpu === undefined) return [];
  return [{ index: 0, name: `${gpu.name} (MIG)`, driverVersion: gpu.driverVersion }];
}

/**
 * The device that `device=...` means on this machine. `auto` is the first GPU if there is one that the
 * built-in workload can use, else the CPU.
 *
 * @throws ConfigError `profile.device` for a GPU that was requested by name and is not there
 */
export function resolveDevice(
  requested: string,
  gpus: readonly Gpu[],
  hasGpuBackend: boolean,
): string {
  if (requested === "auto") return gpus.length > 0 && hasGpuBackend ? "cuda:0" : "cpu";
  if (requested === "cpu") return requested;
  const index = Number(requested.slice("cuda:".length));
  if (gpus.some((gpu) => gpu.index === index)) return requested;
  throw new ConfigError({
    code: "profile.device",
    key: "device",
    message: `device '${requested}' was not found on this machine`,
    available: ["auto", "cpu", ...gpus.map((gpu) => `cuda:${gpu.index}`)],
    ...(gpus.length === 0 && { hint: "nvidia-smi lists no GPU here: use device=cpu" }),
  });
}
