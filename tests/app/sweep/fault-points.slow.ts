import { describe } from "vitest";
import { describeFaultPoints } from "./program/fault-points.ts";

/** Each so-many-th change of a sweep that starts. */
const STEP = Math.ceil(Number(process.env["HYDRACONF_FAULT_STEP"] ?? 1) / 3);

describe("killed at each change that it makes to a file", { timeout: 1_800_000 }, () =>
  describeFaultPoints({ started: STEP, resumed: Math.max(5, STEP) }),
);
