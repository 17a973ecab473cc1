/** The sweeper of random search. */
import { optimizingSweeper, type Search } from "./optimizing-sweeper.ts";
import { type RandomSource, randomSource, type SearchSpace } from "./search-space.ts";
import { readCommon, readSettings, readSpace, seedOf } from "./settings.ts";
import type { SweeperDefinition } from "./sweeper.ts";

/** `hydra/sweeper=random`: trials drawn from the space that the sweeps span. */
export const randomSweeper: SweeperDefinition = {
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

/** Points drawn independently of each other and of earlier results. */
export function* randomSearch(space: SearchSpace, random: RandomSource, count: number): Search {
  yield Array.from({ length: count }, () => ({ ...space.draw(random), level: 0 }));
}
