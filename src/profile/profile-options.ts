import type { SelectionPatterns } from "../report/selection/range-pattern.ts";
import type { OptionChecks } from "../values/check-options.ts";
import {
  anything,
  fn,
  instance,
  listOf,
  optional,
  path,
  shape,
  text,
  trueOrFalse,
  withMethods,
} from "../values/option-kinds.ts";
import type { RecorderOptions } from "./collectors/recorder.ts";
import type { LabelRule, LabelRules } from "./labels/label-rules.ts";
import type { StopRequests } from "./machine/process.ts";
import type { WatchOptions } from "./recording/watch.ts";
import type { RegionOptions } from "./regions/build.ts";
import type { ReportContext } from "./regions/to-report.ts";
import type { ProfileRequest } from "./run.ts";

// What the options of the profiler's public functions may be. All checks throw ConfigError `value.wrong_type`.

const domains = listOf("strings", text, '["my_program.ops"]');
const patterns = listOf("strings", text, '["decode*"]');
const signal = instance(AbortSignal, "an AbortSignal");

export const RECORDER_OPTIONS: OptionChecks<RecorderOptions> = {
  library: path,
  operationDomains: domains,
  gpu: trueOrFalse,
};

export const WATCH_OPTIONS: OptionChecks<WatchOptions> = { ignoreDomains: optional(domains) };

const labelRules = listOf(
  "rules",
  shape<LabelRule>({ pattern: text, replace: optional(text) }),
  '[{ pattern: "step \\\\d+", replace: "step" }]',
);

export const REGION_OPTIONS: OptionChecks<RegionOptions> = {
  operationDomains: optional(domains),
  selection: optional(shape<SelectionPatterns>({ include: patterns, exclude: patterns })),
  aggregate: optional(trueOrFalse),
  labels: optional(
    shape<LabelRules>({ preset: optional(labelRules), rules: optional(labelRules) }),
  ),
};

export const REPORT_CONTEXT: OptionChecks<ReportContext> = {
  generatedAt: text,
  configFingerprint: text,
  collectorVersion: text,
  environment: anything,
  failure: optional(text),
  notes: optional(listOf("strings", text, '["interrupted"]')),
};

export const PROFILE_REQUEST: OptionChecks<ProfileRequest> = {
  config: anything,
  fingerprint: text,
  runDirectory: path,
  cwd: path,
  progress: withMethods(["update", "stop"], "a progress", "silentProgress shows nothing"),
  say: fn,
  interrupt: shape<StopRequests>({
    stop: signal,
    kill: signal,
    suspension: optional(withMethods(["join"], "a suspension", "createSuspension makes one")),
  }),
};
