/** The configs of the plugins that ship with hydraconf, which compose wherever the engine runs. */
import type { ConfigPlugin } from "../../engine/compose/config-plugin.ts";
import { colorlog } from "./colorlog.ts";
import { ax, nevergrad, rq } from "./config-only.ts";
import { joblib } from "./joblib.ts";
import { local } from "./local.ts";
import { optuna } from "./optuna/optuna.ts";
import { searchSweepers } from "./search-sweepers.ts";
import { slurm } from "./slurm/slurm.ts";
import { submitit } from "./submitit/submitit.ts";

/**
 * The plugins of Hydra's own repository, as of Hydra 1.3, whose groups public config trees name, and those of a launcher and
 * sweepers of our own. The keys, types and defaults are facts of their public documentation and sources.
 *
 * @see https://hydra.cc/docs/1.3/plugins/colorlog/ and the pages after it
 */
export const STANDARD_CONFIGS: readonly ConfigPlugin[] = [
  colorlog,
  joblib,
  submitit,
  slurm,
  rq,
  optuna,
  ax,
  nevergrad,
  searchSweepers,
  local,
];
