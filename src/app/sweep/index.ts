import { basicSweeper } from "./basic-sweeper.ts";
import type { SweeperKind } from "./sweeper.ts";

/** All sweepers that a config may choose. */
export const SWEEPERS: readonly SweeperKind[] = [basicSweeper];
