import { basicLauncher } from "./basic-launcher.ts";
import type { LauncherKind } from "./launcher.ts";
import { slurmLauncher } from "./slurm-launcher.ts";

/** All launchers that a config may choose. */
export const LAUNCHERS: readonly LauncherKind[] = [basicLauncher, slurmLauncher];
