/** The table of the plugins that ship with hydraconf: their configs, and what launches and sweeps as these say. */
import { readLocalSettings } from "../launch/local/local-settings.ts";
import type { Plugin } from "./contract/plugin.ts";
import { joblib } from "./joblib.ts";
import { LOCAL_TARGET, local } from "./local.ts";
import { optuna } from "./optuna/optuna.ts";
import { searchSweepers } from "./search-sweepers.ts";
import { slurm } from "./slurm/slurm.ts";
import { STANDARD_CONFIGS } from "./standard-configs.ts";
import { submitit } from "./submitit/submitit.ts";

/** What is loaded when a config chooses it, by the name of its plugin. */
const LAUNCHED: Readonly<Record<string, Pick<Plugin, "launchers" | "sweepers">>> = {
  [joblib.name]: {
    launchers: async () => [(await import("./joblib-launcher.ts")).joblibLauncher],
  },
  [submitit.name]: {
    launchers: async () => [(await import("./submitit/submitit-launcher.ts")).submititLauncher],
  },
  [slurm.name]: {
    launchers: async () => [(await import("./slurm/slurm-launcher.ts")).slurmLauncher],
  },
  [optuna.name]: {
    sweepers: async () => [(await import("./optuna/optuna-sweeper.ts")).optunaSweeper],
  },
  [searchSweepers.name]: {
    sweepers: async () => [
      (await import("../sweep/sweepers/random-sweeper.ts")).randomSweeper,
      (await import("../sweep/sweepers/halving-sweeper.ts")).halvingSweeper,
      (await import("../sweep/sweepers/tpe-sweeper.ts")).tpeSweeper,
    ],
  },
  [local.name]: {
    launchers: async () => {
      const { localLauncher } = await import("../launch/local/local-launcher.ts");
      return [localLauncher("local", LOCAL_TARGET, readLocalSettings)];
    },
  },
};

/**
 * The plugins of Hydra's own repository, as of Hydra 1.3, whose groups public config trees name, and a launcher and
 * sweepers of our own. The keys, types and defaults are facts of their public documentation and sources.
 *
 * @see https://hydra.cc/docs/1.3/plugins/colorlog/ and the pages after it
 */
export const STANDARD_PLUGINS: readonly Plugin[] = STANDARD_CONFIGS.map((plugin) => ({
  ...plugin,
  ...LAUNCHED[plugin.name],
}));
