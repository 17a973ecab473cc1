import {
  anything,
  checkOptions,
  count,
  fn,
  listOf,
  type OptionCheck,
  type OptionChecks,
  optional,
  shape,
  text,
  trueOrFalse,
  withMethods,
} from "../values/check-options.ts";
import type { ConfigLine, HtmlReportOptions } from "./html/report-page.ts";
import type { RegionMarkdownOptions } from "./markdown/region-markdown.ts";
import type { RunSection, RunSummary } from "./run-summary.ts";
import type { RegionTableOptions } from "./terminal/region-table.ts";
import type { CommandIo } from "./validation/validate-command.ts";
import type { WriteReportsOptions } from "./write-reports.ts";

// What the options of the public functions of reports may be. All checks throw ConfigError `value.wrong_type`.

const texts = (example: string): OptionCheck => listOf("strings", text, example);

const CONFIG_LINE = shape<ConfigLine>({ key: text, value: text, origin: text });

export const MARKDOWN_OPTIONS: OptionChecks<RegionMarkdownOptions> = {
  title: text,
  kernelRows: optional(count),
  regionSections: optional(count),
};

export const TABLE_OPTIONS: OptionChecks<RegionTableOptions> = {
  width: optional(count),
  color: optional(trueOrFalse),
  maxRows: optional(count),
};

export const WRITE_OPTIONS: OptionChecks<WriteReportsOptions> = {
  title: optional(text),
  validator: optional(
    withMethods(["validate"], "a validator of reports", "createReportValidator() makes one"),
  ),
  maxRegionDirectories: optional(count),
  html: optional(
    shape<Pick<HtmlReportOptions, "config" | "files">>({
      config: optional(listOf("lines of a config", CONFIG_LINE)),
      files: optional(texts('["../config.yaml"]')),
    }),
  ),
};

export const COMMAND_IO: OptionChecks<CommandIo> = {
  stdin: fn,
  stdout: fn,
  stderr: fn,
  color: trueOrFalse,
};

const RUN_SECTION = shape<RunSection>({
  collector: text,
  directory: text,
  bundle: anything,
  html: optional(trueOrFalse),
  regionDirectories: withMethods(["get", "has"], "a Map", "writeReports() gives it"),
});

const RUN_SUMMARY: OptionChecks<RunSummary> = {
  sections: listOf("sections", RUN_SECTION),
  notes: texts('["interrupted"]'),
  files: optional(texts('["run.log"]')),
  kernelLimit: optional(count),
  staticAnalysis: anything,
};

/** @param by the function that was called */
export const checkRun = (by: string, run: RunSummary): void => checkOptions(by, run, RUN_SUMMARY);
