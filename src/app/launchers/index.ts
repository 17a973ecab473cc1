import { basicLauncher } from "./basic-launcher.ts";
import type { LauncherKind } from "./launcher.ts";
import { localLauncher } from "./local/local-launcher.ts";
import { slurmLauncher } from "./slurm-launcher.ts";
import type { SweepBackend } from "./sweep-backend.ts";

/** All launchers that a config may choose. */
export const LAUNCHERS: readonly LauncherKind[] = [basicLauncher, localLauncher, slurmLauncher];

/**
 * The jobs of a recorded sweep in the scheduler that has them, or had them, whichever launcher was chosen
 * last.
 *
 * @param folder the absolute path of the `.sweep` folder
 * @returns undefined where none were handed to a scheduler
 */
export async function backendOf(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<SweepBackend | undefined> {
  for (const { backend } of LAUNCHERS) {
    const found = await backend?.(folder, env);
    if (found !== undefined) return found;
  }
  return undefined;
}
