import { describe } from "vitest";
import { describeFaultPoints } from "./program/fault-points.ts";

// Each change in `npm run test:slow`.
describe("killed at a change that it makes to a file", () =>
  describeFaultPoints({ started: 37, resumed: 71 }));
