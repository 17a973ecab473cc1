import { basicSweeper } from "./basic-sweeper.ts";
import { halvingSweeper } from "./optimize/halving-sweeper.ts";
import { optunaSweeper } from "./optimize/optuna-sweeper.ts";
import { randomSweeper } from "./optimize/random-sweeper.ts";
import type { SweeperKind } from "./sweeper.ts";

/** All sweepers that a config may choose. */
export const SWEEPERS: readonly SweeperKind[] = [
  basicSweeper,
  randomSweeper,
  halvingSweeper,
  optunaSweeper,
];
