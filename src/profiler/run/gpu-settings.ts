/** Chooses the device of a run, and checks the settings for GPUs. */
import { ConfigError } from "../../engine/values/errors.ts";
import { type Gpu, type GpuQueries, resolveDevice } from "../machine/gpu.ts";
import { type GpuPart, gpuPart, type NativePart, requireNative } from "../machine/native.ts";
import type { InferConfig, ProfileConfig } from "../tools/profiler-config.ts";

/** Keys of `infer` that matter only on a GPU, with their neutral values. */
const GPU_ONLY = {
  dtype: "float32",
  tf32: false,
  gpu_library: "auto",
  cuda_graph: false,
} as const satisfies Partial<InferConfig>;

/** The same workload without the settings for GPUs; its regions stay the same. */
export const withoutGpuSettings = (config: ProfileConfig): ProfileConfig => ({
  ...config,
  infer: { ...config.infer, ...GPU_ONLY },
});

const REBUILD =
  "if nvcc is installed, HYDRACONF_CUDA=1 (or 90, for one GPU generation) builds it: docs/installation.md";

/**
 * The native part, built for the GPUs of this machine if the built-in workload may use one; for other programs, its
 * recorder.
 *
 * @throws ConfigError as `requireNative`
 */
export async function nativeFor(
  config: ProfileConfig,
  { capabilities }: GpuQueries,
  say: (line: string) => void,
  stop: AbortSignal,
): Promise<NativePart> {
  const parts = config.workload.kind === "shallow_resnet" ? "all" : "recorder";
  return requireNative(say, stop, mayUseGpu(config) ? await capabilities() : [], parts);
}

const mayUseGpu = ({ workload, device }: Pick<ProfileConfig, "workload" | "device">): boolean =>
  workload.kind === "shallow_resnet" && device !== "cpu";

/** Why the built-in workload does not use the available GPUs although the CPU was not asked for; null if it uses them. */
export function whyGpuIsUnused(
  config: Pick<ProfileConfig, "workload" | "device">,
  gpus: readonly Gpu[],
  part: GpuPart,
): string | null {
  if (!mayUseGpu(config) || gpus.length === 0 || part.built) return null;
  return `it runs on the CPU, not on ${gpus[0]?.name}: the built-in workload was built without a GPU backend (${part.reason}); ${REBUILD}`;
}

/**
 * The device of a run, checked against the capabilities of the workload.
 *
 * @throws ConfigError `profile.device`
 */
export function chooseDevice(
  config: ProfileConfig,
  gpus: readonly Gpu[],
  native: NativePart,
): string {
  const part = gpuPart(native);
  const device = resolveDevice(config.device, gpus, part.built);
  checkGpuSettings(config, device, part);
  return device;
}

/**
 * Checks that the built-in workload, as it was built, supports the config on `device`. Settings for GPUs are refused on
 * the CPU: ignoring them would measure something else.
 *
 * @throws ConfigError `profile.device`
 */
export function checkGpuSettings(
  { workload, infer }: Pick<ProfileConfig, "workload" | "infer">,
  device: string,
  gpu: GpuPart,
): void {
  if (workload.kind !== "shallow_resnet") return;
  const refuse = (key: string, message: string, hint: string) => {
    throw new ConfigError({ code: "profile.device", key, message, hint });
  };
  if (device === "cpu") {
    for (const [key, none] of Object.entries(GPU_ONLY)) {
      const value = infer[key as keyof typeof GPU_ONLY];
      if (value !== none)
        refuse(
          `infer.${key}`,
          `infer.${key}=${value} is only for GPUs, and this run is on the CPU`,
          `infer.${key}=${none}, or device=cuda:0 on a machine with a GPU`,
        );
    }
    return;
  }
  if (!gpu.built)
    refuse(
      "device",
      `the built-in workload was built without a GPU backend: ${gpu.reason}`,
      `${REBUILD}; device=cpu runs without it`,
    );
  const hasCudnn = gpu.libraries.includes("cudnn");
  if (infer.gpu_library === "cudnn" && !hasCudnn)
    refuse(
      "infer.gpu_library",
      `the built-in workload was built without cuDNN: ${gpu.reason}`,
      "pip install nvidia-cudnn-cu13 or set CUDNN_ROOT, then npm run build:native; or infer.gpu_library=cuda, our own kernels",
    );
  if (infer.tf32 && (infer.gpu_library === "cuda" || !hasCudnn))
    refuse(
      "infer.tf32",
      "only cuDNN's convolutions can use TF32",
      "infer.tf32=false, or infer.gpu_library=cudnn if cuDNN is installed",
    );
}
