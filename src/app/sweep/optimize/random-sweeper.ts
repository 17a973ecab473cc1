import type { SweeperKind } from "../sweeper.ts";
import { optimizingSweeper } from "./optimizing-sweeper.ts";
import { randomSearch } from "./random-search.ts";
import { randomSource } from "./random-source.ts";
import { readCommon, readSettings, readSpace, seedOf } from "./settings.ts";

/** `hydra/sweeper=random`: trials drawn from the space that the sweeps span. */
export const randomSweeper: SweeperKind = {
  targets: ["hydraconf.sweepers.Random"],
  open(request) {
    const settings = readSettings(request);
    const random = randomSource(seedOf(settings.int("seed", -Infinity), request));
    const trials = settings.int("n_trials", 1) ?? settings.refuse("n_trials", "is missing");
    return optimizingSweeper({
      name: "random",
      search: randomSearch(readSpace(request), random, trials),
      ...readCommon(settings, request),
    });
  },
};
