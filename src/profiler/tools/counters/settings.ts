/** Requirements of `pipeline.counters`, and what would run. */

import type { ProfileConfig } from "../config.ts";
import type { ToolPlan, ToolSettings } from "../tool.ts";
import { countersOf } from "./collector.ts";
import { isSum } from "./values.ts";

export const counterSettings: ToolSettings = {
  refusals: [
    {
      key: "pipeline.counters.metrics",
      applies: (config) => countersOf(config).metrics.length === 0,
      message: "no metric is to be measured",
      hint: "pipeline.counters.metrics='[gpu__time_duration.sum]'",
    },
  ],
};

export function planCounters(argv: readonly string[], config: ProfileConfig): ToolPlan {
  const others = countersOf(config).metrics.filter((metric) => !isSum(metric));
  return {
    runs: [{ command: argv }],
    notes: [
      others.length === 0
        ? "counters: the program runs once for each pass that its metrics take on the GPU's chip"
        : `counters: the program runs once for each pass and each level of nesting, since ranges cannot be summed for ${others.join(", ")}`,
    ],
  };
}
