/** Requirements of `pipeline.counters`, and what would run. */

import { patternList } from "../../../report/selection/range-pattern.ts";
import type { ProfileConfig } from "../config.ts";
import type { SettingsRefusal, ToolPlan, ToolSettings } from "../tool.ts";
import { countersOf } from "./collector.ts";
import { REQUEST_LIMITS } from "./request.ts";
import { isSum } from "./values.ts";

/** Beyond the limit the recorder counts nothing at all. */
const tooMany = (
  key: string,
  most: number,
  what: string,
  countIn: (config: ProfileConfig) => number,
  hint: string,
): SettingsRefusal => ({
  key,
  applies: (config) => countIn(config) > most,
  message: `counters take at most ${most} ${what}`,
  hint,
});

const ONE_FOR_SEVERAL = "name several at once with * and ?";

export const counterSettings: ToolSettings = {
  refusals: [
    {
      key: "pipeline.counters.metrics",
      applies: (config) => countersOf(config).metrics.length === 0,
      message: "no metric is to be measured",
      hint: "pipeline.counters.metrics='[gpu__time_duration.sum]'",
    },
    tooMany(
      "pipeline.counters.metrics",
      REQUEST_LIMITS.metrics,
      "metrics",
      (config) => countersOf(config).metrics.length,
      "measure the others in another run",
    ),
    tooMany(
      "pipeline.counters.include",
      REQUEST_LIMITS.patterns,
      "patterns",
      (config) => patternList(countersOf(config).include).length,
      ONE_FOR_SEVERAL,
    ),
    tooMany(
      "pipeline.counters.exclude",
      REQUEST_LIMITS.patterns,
      "patterns",
      (config) => patternList(countersOf(config).exclude).length,
      ONE_FOR_SEVERAL,
    ),
    tooMany(
      "pipeline.recorder.operation_domains",
      REQUEST_LIMITS.patterns,
      "domains",
      ({ pipeline }) => pipeline.recorder.operation_domains.length,
      "name the domains whose ranges the program has",
    ),
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
