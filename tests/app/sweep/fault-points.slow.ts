import { describe } from "vitest";
import { describeFaultPoints } from "./program/fault-points.ts";

describe("killed at each change that it makes to a file", { timeout: 1_800_000 }, () =>
  describeFaultPoints({ started: 1, resumed: 5 }),
);
