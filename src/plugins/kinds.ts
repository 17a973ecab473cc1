/** All launchers and sweepers that a config may choose: ours, and those of the plugins. */
import { basicLauncher } from "../launch/basic-launcher.ts";
import type { LauncherKind, SweepBackend } from "../launch/launcher.ts";
import { localLauncher } from "../launch/local/local-launcher.ts";
import { basicSweeper } from "../sweep/sweepers/basic-sweeper.ts";
import { halvingSweeper } from "../sweep/sweepers/halving-sweeper.ts";
import { randomSweeper } from "../sweep/sweepers/random-sweeper.ts";
import type { SweeperKind } from "../sweep/sweepers/sweeper.ts";
import { optunaSweeper } from "./optuna/optuna-sweeper.ts";
import { slurmLauncher } from "./slurm/slurm-launcher.ts";

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

/** All sweepers that a config may choose. */
export const SWEEPERS: readonly SweeperKind[] = [
  basicSweeper,
  randomSweeper,
  halvingSweeper,
  optunaSweeper,
];
