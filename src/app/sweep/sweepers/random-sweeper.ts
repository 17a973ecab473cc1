/** The sweeper of random search. */
import { optimizingSweeper, type Search } from "./optimizing-sweeper.ts";
import { readSpace, searchRequest, seedOf } from "./search-request.ts";
import { type RandomSource, randomSource, type SearchSpace } from "./search-space.ts";
import { RANDOM_SETTINGS, readSweeper } from "./settings.ts";
import type { SweeperDefinition } from "./sweeper.ts";

/** `hydra/sweeper=random`: trials drawn from the space that the sweeps span. */
export const randomSweeper: SweeperDefinition = {
  targets: ["hydraconf.sweepers.Random"],
  open(request) {
    const settings = readSweeper(RANDOM_SETTINGS, request);
    const random = randomSource(seedOf(settings.seed, request));
    return optimizingSweeper({
      name: "random",
      search: randomSearch(readSpace(request), random, settings.n_trials),
      ...searchRequest(settings, request),
    });
  },
};

/** Points drawn independently of each other and of earlier results. */
export function* randomSearch(space: SearchSpace, random: RandomSource, count: number): Search {
  yield Array.from({ length: count }, () => ({ ...space.draw(random), level: 0 }));
}
