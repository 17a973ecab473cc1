/** The plugin of our own sweepers: random search, TPE and successive halving. */
import type { ConfigPlugin } from "../../engine/compose/config-plugin.ts";
import {
  ANY,
  emptyList,
  field,
  mapOf,
  object,
  optional,
  STR,
} from "../../engine/compose/hydra/hydra-schema.ts";
import { fieldsOf, type SettingsTable } from "../job/settings.ts";
import {
  HALVING_SETTINGS,
  RANDOM_SETTINGS,
  TPE_SETTINGS,
} from "../sweep/sweepers/search-settings.ts";

const sweeper = (name: string, target: string, settings: SettingsTable) =>
  object(name, {
    _target_: field(STR, target),
    ...fieldsOf(settings),
    exclude: emptyList(ANY),
    params: field(optional(mapOf(STR)), null),
  }).node;

const random = () => sweeper("RandomSweeperConf", "hydraconf.sweepers.Random", RANDOM_SETTINGS);

const tpe = () => sweeper("TpeSweeperConf", "hydraconf.sweepers.Tpe", TPE_SETTINGS);

const successiveHalving = () =>
  sweeper("SuccessiveHalvingSweeperConf", "hydraconf.sweepers.SuccessiveHalving", HALVING_SETTINGS);

/** Our own sweepers in addition to Hydra's: they draw trials, near good ones, and give a larger budget to good ones. */
export const searchSweepers: ConfigPlugin = {
  name: "search-sweepers",
  configs: {
    "hydra/sweeper/random": { create: random, replaceable: true },
    "hydra/sweeper/successive_halving": { create: successiveHalving, replaceable: true },
    "hydra/sweeper/tpe": { create: tpe, replaceable: true },
  },
};
