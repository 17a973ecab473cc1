/** The jobs of a sweep, from its directory. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JobInput } from "../../report/sweep/build.ts";
import type { ReportValidator } from "../../report/validate.ts";
import { ConfigError, isConfigError } from "../../values/errors.ts";
import { readYaml } from "../../values/reader.ts";
import { toObject } from "../../values/to-object.ts";
import { COLLECTOR_NAMES } from "../collectors/collector.ts";
import { loadReport, scopeOf } from "../compare/load-report.ts";
import { RUN_FILE } from "../saved-run/document.ts";

export interface LoadedSweep {
  readonly collector: string;
  readonly jobs: readonly JobInput[];
}

/** What Hydra leaves with every job. */
const JOB_FILES = ["overrides.yaml", ".hydra/overrides.yaml"];

/** Directories of jobs, also of those that failed, in the order of their numbers; none in a run. */
export function sweepJobs(directory: string): readonly string[] {
  if (!existsSync(directory) || existsSync(join(directory, RUN_FILE))) return [];
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .filter((name) => JOB_FILES.some((file) => existsSync(join(directory, name, file))))
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

/**
 * @param wanted the collector to take; the first that any job has when null
 * @throws ConfigError `profile.input` where no job has a report of it
 */
export function loadSweep(
  directory: string,
  names: readonly string[],
  validator: ReportValidator,
  wanted: string | null,
): LoadedSweep {
  const reportOf = (name: string, collector: string) =>
    existsSync(join(directory, name, collector, "regions", "report.json"));
  const found = COLLECTOR_NAMES.filter((collector) =>
    names.some((name) => reportOf(name, collector)),
  );
  const collector = found.find((name) => wanted === null || name === wanted);
  if (collector === undefined)
    throw new ConfigError({
      code: "profile.input",
      message:
        wanted === null
          ? "no job of the sweep has a report"
          : `no job of the sweep has a report of ${wanted}`,
      available: found,
    });
  return {
    collector,
    jobs: names.map((name): JobInput => {
      const overrides = overridesOf(join(directory, name));
      if (!reportOf(name, collector))
        return { name, overrides, result: { report: null, problem: `no report of ${collector}` } };
      try {
        const { bundle } = loadReport(name, directory, validator, collector);
        const report = scopeOf(name, bundle, undefined);
        return { name, overrides, result: { report } };
      } catch (error) {
        if (!isConfigError(error)) throw error;
        return { name, overrides, result: { report: null, problem: error.message } };
      }
    }),
  };
}

function overridesOf(job: string): readonly string[] {
  const file = JOB_FILES.map((name) => join(job, name)).find((path) => existsSync(path));
  if (file === undefined) return [];
  const list: unknown = toObject(readYaml(readFileSync(file, "utf8"), { name: file }));
  return Array.isArray(list) ? list.map(String) : [];
}
