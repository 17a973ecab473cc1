/** The sweeper of random search. */
import { optimizingSweeper, type Search } from "./optimizing-sweeper.ts";
import { earlierPoints, pruningOf, readSpace, searchRequest, seedOf } from "./search-request.ts";
import { RANDOM_SETTINGS, readSweeper } from "./search-settings.ts";
import {
  allNew,
  type Draw,
  type RandomSource,
  randomSource,
  type SearchSpace,
} from "./search-space.ts";
import { sobolSequence } from "./sobol.ts";
import type { SweeperDefinition } from "./sweeper.ts";

/** `hydra/sweeper=random`: trials drawn from the space that the sweeps span. */
export const randomSweeper: SweeperDefinition = {
  targets: ["hydraconf.sweepers.Random"],
  open(request) {
    const settings = readSweeper(RANDOM_SETTINGS, request);
    const random = randomSource(seedOf(settings.seed, request));
    const space = readSpace(request);
    return optimizingSweeper({
      name: "random",
      search: randomSearch(space, random, {
        earlier: earlierPoints(space, request),
        trials: settings.n_trials,
        isUnique: settings.unique,
        isEven: settings.sequence === "sobol",
      }),
      ...searchRequest(settings, request),
      ...pruningOf(settings, request),
    });
  },
};

interface RandomPlan {
  /** Points that count among the trials. */
  readonly earlier: readonly Draw[];
  readonly trials: number;
  /** Whether no job is asked for twice. */
  readonly isUnique: boolean;
  /** Whether points are those of Sobol's sequence. */
  readonly isEven: boolean;
}

/** Points drawn independently of earlier results. */
function* randomSearch(
  space: SearchSpace,
  random: RandomSource,
  { earlier, isEven, isUnique, trials }: RandomPlan,
): Search {
  const even = isEven ? sobolSequence(space.dimensions.length, random) : undefined;
  const next = allNew(isUnique);
  const drawn = earlier.map((point) => next(() => point, 1) ?? point);
  const draws = Array.from({ length: Math.max(0, trials - drawn.length) }, () =>
    next(even === undefined ? () => space.draw(random) : () => space.drawAt(even())),
  );
  yield [...drawn, ...draws].flatMap((draw) => (draw === undefined ? [] : [{ ...draw, level: 0 }]));
}
