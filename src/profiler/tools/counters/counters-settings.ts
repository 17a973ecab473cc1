/** Requirements of `pipeline.counters`, and what would run. */

import { plural } from "../../../foundation/text/plural.ts";
import { patternList } from "../../../report/selection/range-pattern.ts";
import type { ProfileConfig } from "../profiler-config.ts";
import type { SettingsRefusal, ToolPlan, ToolSettings } from "../tool.ts";
import { isSum } from "./counter-values.ts";
import { countersOf } from "./counters-collector.ts";
import { REQUEST_LIMITS, requestBytes } from "./request.ts";

/** What a request for counters has of the config, by key. */
const REQUESTED = {
  "pipeline.counters.metrics": (config) => {
    const { metrics, timeline } = countersOf(config);
    return timeline ? [] : metrics;
  },
  "pipeline.counters.timeline_metrics": (config) => {
    const { timeline_metrics, timeline } = countersOf(config);
    return timeline ? timeline_metrics : [];
  },
  "pipeline.counters.include": (config) => patternList(countersOf(config).include),
  "pipeline.counters.exclude": (config) => patternList(countersOf(config).exclude),
  "pipeline.recorder.operation_domains": ({ pipeline }) => pipeline.recorder.operation_domains,
} as const satisfies Readonly<Record<string, (config: ProfileConfig) => readonly string[]>>;

type RequestKey = keyof typeof REQUESTED;

/** Beyond the limit the recorder counts nothing at all. */
const tooMany = (key: RequestKey, most: number, what: string, hint: string): SettingsRefusal => ({
  key,
  applies: (config) => REQUESTED[key](config).length > most,
  message: `counters take at most ${most} ${what}`,
  hint,
});

/** Beyond the limit of all texts together; the key with the longest ones is named. */
const tooLong = (key: RequestKey): SettingsRefusal => ({
  key,
  applies: (config) => {
    const sizes = Object.values(REQUESTED).map((textsOf) => requestBytes(textsOf(config)));
    const bytes = requestBytes(REQUESTED[key](config));
    const all = sizes.reduce((sum, size) => sum + size, 0);
    return all > REQUEST_LIMITS.bytes && bytes === Math.max(...sizes);
  },
  message: `counters take at most ${REQUEST_LIMITS.bytes} bytes of metrics, patterns and domains`,
  hint: "shorten the longest: * stands for any part of a label",
});

const isEverything = (config: ProfileConfig): boolean => {
  const { include, exclude } = countersOf(config);
  const asked = patternList(include);
  return patternList(exclude).length === 0 && (asked.length === 0 || asked.includes("*"));
};

const ONE_FOR_SEVERAL = "name several at once with * and ?";

export const counterSettings: ToolSettings = {
  refusals: [
    {
      key: "pipeline.counters.timeline_metrics",
      applies: (config) =>
        countersOf(config).timeline && countersOf(config).timeline_metrics.length === 0,
      message: "no metric is to be measured",
      hint: "pipeline.counters.timeline_metrics='[sm__cycles_active.avg.pct_of_peak_sustained_elapsed]'",
    },
    ...(["include", "exclude"] as const).map(
      (key): SettingsRefusal => ({
        key: `pipeline.counters.${key}`,
        applies: (config) => countersOf(config).timeline && !isEverything(config),
        message: "samples of a whole device are not taken by ranges",
        hint: "pipeline.recorder.include and exclude choose the regions of the report",
      }),
    ),
    {
      key: "pipeline.counters.metrics",
      applies: (config) => !countersOf(config).timeline && countersOf(config).metrics.length === 0,
      message: "no metric is to be measured",
      hint: "pipeline.counters.metrics='[gpu__time_duration.sum]'",
    },
    tooMany(
      "pipeline.counters.metrics",
      REQUEST_LIMITS.metrics,
      "metrics",
      "measure the others in another run",
    ),
    tooMany(
      "pipeline.counters.timeline_metrics",
      REQUEST_LIMITS.metrics,
      "metrics",
      "measure the others in another run",
    ),
    tooMany("pipeline.counters.include", REQUEST_LIMITS.patterns, "patterns", ONE_FOR_SEVERAL),
    tooMany("pipeline.counters.exclude", REQUEST_LIMITS.patterns, "patterns", ONE_FOR_SEVERAL),
    tooMany(
      "pipeline.recorder.operation_domains",
      REQUEST_LIMITS.patterns,
      "domains",
      "name the domains whose ranges the program has",
    ),
    ...(Object.keys(REQUESTED) as RequestKey[]).map(tooLong),
  ],
};

export function planCounters(argv: readonly string[], config: ProfileConfig): ToolPlan {
  const { timeline, timeline_metrics, interval_us } = countersOf(config);
  if (timeline)
    return {
      runs: [{ command: argv }],
      notes: [
        `counters: the program runs once; ${plural(timeline_metrics.length, "metric")} of the whole device every ${interval_us} µs, if they fit one pass on the GPU's chip`,
      ],
    };
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
