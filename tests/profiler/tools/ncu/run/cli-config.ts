import type { NcuCliConfig } from "../../../../../src/profiler/tools/profiler-config.ts";
import { composeTree } from "../../../../conf/compose-tree.ts";

/** As the default preset has it, with fewer sections and metrics. */
export const cliConfig: NcuCliConfig = {
  ...composeTree([]).pipeline.ncu.ncu_cli,
  sections: ["SpeedOfLight"],
  metrics: ["gpu__time_duration.sum"],
};
