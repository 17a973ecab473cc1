import { ConfigError } from "../values/errors.ts";
import type { Gpu } from "./machine/gpu.ts";

/**
 * The device that `device=...` means here. `auto` is the first GPU when one answers and the built-in
 * workload can use it, else the CPU. A GPU that was asked for by name must be there.
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
    message: `device '${requested}' is not on this machine`,
    available: ["auto", "cpu", ...gpus.map((gpu) => `cuda:${gpu.index}`)],
    ...(gpus.length === 0 && { hint: "nvidia-smi lists no GPU here: use device=cpu" }),
  });
}
