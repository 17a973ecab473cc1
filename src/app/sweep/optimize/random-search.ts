import type { RandomSource } from "./random-source.ts";
import type { Search } from "./search.ts";
import type { SearchSpace } from "./search-space.ts";

/** Points drawn independently of each other and of what became of them. */
export function* randomSearch(space: SearchSpace, random: RandomSource, count: number): Search {
  yield Array.from({ length: count }, () => ({ ...space.draw(random), level: 0 }));
}
