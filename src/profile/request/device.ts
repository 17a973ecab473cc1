import { ConfigError } from "../../values/errors.ts";
import type { Gpu } from "../machine/gpu.ts";

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
