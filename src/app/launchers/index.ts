import { basicLauncher } from "./basic-launcher.ts";
import type { LauncherKind } from "./launcher.ts";
import { localLauncher } from "./local/local-launcher.ts";
import { slurmLauncher } from "./slurm-launcher.ts";
import type { SweepBackend } from "./sweep-backend.ts";

/** All launchers that a config may choose. */
export const LAUNCHERS: readonly LauncherKind[] = [basicLauncher, localLauncher, slurmLauncher];

/**
 * The jobs of a recorded sweep in the scheduler that has them.
 *
 * @param target `hydra.launcher._target_`, as the sweep's manifest has it
 * @returns undefined for a launcher that needs no scheduler
 */
export const backendOf = (
  target: string,
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<SweepBackend> | undefined =>
  LAUNCHERS.find(({ targets }) => targets.includes(target))?.backend?.(folder, env);
