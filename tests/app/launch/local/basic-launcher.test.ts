import { describe } from "vitest";
import { launcherCases } from "../common.case.ts";

describe("the basic launcher", () => {
  launcherCases({ overrides: [], ownProcesses: false });
});
