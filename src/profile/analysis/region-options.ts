import type { SelectionPatterns } from "../../report/selection/range-pattern.ts";
import {
  anything,
  listOf,
  type OptionChecks,
  optional,
  shape,
  text,
  trueOrFalse,
} from "../../values/check-options.ts";
import type { RegionOptions } from "./build.ts";
import type { LabelRule, LabelRules } from "./labels.ts";
import type { ReportContext } from "./to-report.ts";

// What the options of the public functions of this folder may be. All checks throw ConfigError `value.wrong_type`.

const patterns = listOf("strings", text, '["decode*"]');

const labelRules = listOf(
  "rules",
  shape<LabelRule>({ pattern: text, replace: optional(text) }),
  '[{ pattern: "step \\\\d+", replace: "step" }]',
);

export const REGION_OPTIONS: OptionChecks<RegionOptions> = {
  operationDomains: optional(listOf("strings", text, '["my_program.ops"]')),
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
