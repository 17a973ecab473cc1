/** `deep-profile report` of a sweep: one report of all jobs. */

import { existsSync, lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { ConfigError, isCodedError } from "../../engine/values/errors.ts";
import { toObject } from "../../engine/values/plain-objects.ts";
import { readYaml } from "../../engine/values/yaml/reader.ts";
import { writeFileAtomic } from "../../foundation/system/atomic-write.ts";
import { fileProblem, readText } from "../../foundation/system/files.ts";
import { regionReportFile } from "../../report/model/report-files.ts";
import {
  buildSweepReport,
  type JobInput,
  jobReport,
  type SharedPlaces,
} from "../../report/sweep/build-sweep-report.ts";
import type { SweepReport, SweepWork } from "../../report/sweep/sweep-types.ts";
import {
  renderSweepCsv,
  renderSweepHtml,
  renderSweepMarkdown,
  sweepJsonPieces,
} from "../../report/sweep/writers.ts";
import { createReportValidator, type ReportValidator } from "../../report/validation/validate.ts";
import { whyFailed } from "../machine/process.ts";
import { createRunReader } from "../run/read-run.ts";
import type { SavedRun } from "../run/saved-run.ts";
import { RUN_FILE } from "../tools/collection.ts";
import { unreadableError } from "../tools/source-file.ts";
import { TOOL_NAMES } from "../tools/tool-table.ts";
import { loadReport, scopeOf } from "./load-report.ts";

export interface SweepRequest {
  /** Absolute path of the sweep's directory. */
  readonly directory: string;
  readonly jobs: readonly string[];
  readonly output: string;
  readonly collector: string | null;
  /** The work of each job, if throughput is requested. */
  readonly work: SweepWork | null;
  readonly now: Date;
}

export interface SweepReported {
  readonly report: SweepReport;
  /** Absolute paths. */
  readonly files: readonly string[];
}

/**
 * Writes `sweep-report.{md,html,json,csv}` from the reports of the jobs.
 *
 * @throws ConfigError if no job has a report
 */
export async function reportSweep(request: SweepRequest): Promise<SweepReported> {
  const { directory, jobs, output, collector, work, now } = request;
  const loaded = loadSweep(directory, jobs, createReportValidator(), collector, work);
  const pageOf = (name: string): Pick<JobInput, "page"> => {
    const report = regionReportFile(join(directory, name, loaded.collector));
    const page = join(dirname(report), "report.html");
    return existsSync(page) ? { page: relative(output, page).split(sep).join("/") } : {};
  };
  const report = buildSweepReport(
    loaded.jobs.map((job) => ({ ...job, ...pageOf(job.name) })),
    { collector: loaded.collector, generatedAt: now, ...(work !== null && { work }) },
  );
  const texts: readonly (readonly [string, string | Iterable<string>])[] = [
    ["md", renderSweepMarkdown(report)],
    ["html", renderSweepHtml(report)],
    ["json", sweepJsonPieces(report)],
    ["csv", renderSweepCsv(report)],
  ];
  const files: string[] = [];
  for (const [extension, text] of texts) {
    const file = join(output, `sweep-report.${extension}`);
    await writeFileAtomic(file, text);
    files.push(file);
  }
  return { report, files };
}

// Finds the jobs of a sweep in its directory.

interface LoadedSweep {
  readonly collector: string;
  readonly jobs: readonly JobInput[];
}

/** Files that Hydra writes for every job. */
const JOB_FILES = ["overrides.yaml", ".hydra/overrides.yaml"];

/** Files in the directory of a sweep, of which one identifies it. */
const SWEEP_FILES = ["multirun.yaml", ".sweep"];

/**
 * Directories of all jobs, including failed ones, in the order of their numbers; empty for a run, and if there is no
 * directory. `hydra.sweep.subdir` may put them several levels deep.
 *
 * @returns paths relative to the sweep's directory
 * @throws ConfigError `profile.input` for an unreadable directory
 */
export function sweepJobs(directory: string): readonly string[] {
  if (!isDirectory(directory) || existsSync(join(directory, RUN_FILE))) return [];
  const isSweep = SWEEP_FILES.some((file) => existsSync(join(directory, file)));
  return withoutSecondNames(directory, jobsBelow(directory, "", isSweep ? "deep" : "flat")).sort(
    (a, b) => a.localeCompare(b, "en", { numeric: true }),
  );
}

/** Not searched inside of jobs, nor behind links, which may lead anywhere. */
function jobsBelow(sweep: string, below: string, search: "deep" | "flat"): readonly string[] {
  return namesIn(join(sweep, below)).flatMap((name) => {
    const path = join(below, name);
    const place = join(sweep, path);
    if (JOB_FILES.some((file) => existsSync(join(place, file)))) return [path];
    return search === "deep" && mayHoldJobs(place) ? jobsBelow(sweep, path, search) : [];
  });
}

function mayHoldJobs(path: string): boolean {
  if (basename(path).startsWith(".")) return false;
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** A link to a job beside it, such as `latest`, is not a second job. */
function withoutSecondNames(sweep: string, jobs: readonly string[]): string[] {
  const isLink = (job: string): boolean => lstatSync(join(sweep, job)).isSymbolicLink();
  const named = new Map<string, string>();
  for (const job of [...jobs.filter((each) => !isLink(each)), ...jobs.filter(isLink)]) {
    const place = realpathSync(join(sweep, job));
    if (!named.has(place)) named.set(place, job);
  }
  return [...named.values()];
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (cause) {
    throw unreadableError(directory, cause);
  }
}

/**
 * @param wanted the collector; null for the first one with a report of any job
 * @throws ConfigError `profile.input` if no job has a report of it, or a factor of `work` is a number in no job
 */
function loadSweep(
  directory: string,
  names: readonly string[],
  validator: ReportValidator,
  wanted: string | null,
  work: SweepWork | null,
): LoadedSweep {
  const reportOf = (name: string, collector: string) =>
    existsSync(regionReportFile(join(directory, name, collector)));
  const found = TOOL_NAMES.filter((collector) => names.some((name) => reportOf(name, collector)));
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
  const readRun = createRunReader();
  const places: SharedPlaces = new Map();
  const resultOf = (name: string, run: SavedRun | null): JobInput["result"] => {
    if (!reportOf(name, collector)) return without(`no report of ${collector}`);
    const failure = failureOf(run, collector);
    if (failure !== null) return without(`${failure}; what it measured is in its own report`);
    const { bundle } = loadReport(name, directory, validator, collector);
    return { report: jobReport(scopeOf(name, bundle, undefined), places) };
  };
  const factors = new Map<string, number>();
  const amountOf = (run: SavedRun | null): Pick<JobInput, "amount"> => {
    if (work === null || run === null) return {};
    const numbers = work.factors.map((factor) => factorOf(factor, run.config));
    for (const [index, factor] of work.factors.entries())
      if (numbers[index] !== null) factors.set(factor, (factors.get(factor) ?? 0) + 1);
    return numbers.includes(null)
      ? {}
      : { amount: numbers.reduce<number>((product, number) => product * (number ?? 0), 1) };
  };
  const loaded: LoadedSweep = {
    collector,
    jobs: names.map((name): JobInput => {
      const job = join(directory, name);
      let input: Omit<JobInput, "result" | "page"> = { name, overrides: [] };
      try {
        input = { ...input, overrides: overridesOf(job) };
        const run = existsSync(join(job, RUN_FILE)) ? readRun(job, job) : null;
        input = { ...input, ...intervalOf(run), ...amountOf(run) };
        return { ...input, result: resultOf(name, run) };
      } catch (error) {
        if (!isCodedError(error)) throw error;
        return { ...input, result: without(error.message) };
      }
    }),
  };
  const unknown = work?.factors.find((factor) => !factors.has(factor));
  if (unknown !== undefined)
    throw new ConfigError({
      code: "profile.input",
      message: `--work: '${unknown}' is a number in the config of no job`,
      hint: "a factor is a number, or a key such as infer.batch_size: deep-profile --cfg job shows those that there are",
    });
  return loaded;
}

/**
 * A number, or the value of a key in a config; null if that is not a number of at least 0. Arguments of a command are texts:
 * `workload.command.1` may be `'64'`.
 */
function factorOf(factor: string, config: unknown): number | null {
  const number = /^\d/.test(factor)
    ? Number(factor)
    : factor
        .split(".")
        .reduce<unknown>(
          (node, key) =>
            typeof node === "object" && node !== null && Object.hasOwn(node, key)
              ? (node as Readonly<Record<string, unknown>>)[key]
              : undefined,
          config,
        );
  return asNumber(number);
}

function asNumber(value: unknown): number | null {
  const number = typeof value === "string" && PLAIN_NUMBER.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) && number >= 0 ? number : null;
}

const PLAIN_NUMBER = /^(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

const without = (problem: string): JobInput["result"] => ({ report: null, problem });

/**
 * Why the times of a job are not comparable: a program that failed is usually the fastest. Null if it succeeded, and if
 * its outcome is unknown.
 */
function failureOf(run: SavedRun | null, collector: string): string | null {
  const found = run?.collectors.find((each) => each.collector === collector);
  return found === undefined ? null : whyFailed(found);
}

/** Nothing of a job that left no run. */
function intervalOf(run: SavedRun | null): Pick<JobInput, "interval"> {
  if (run === null) return {};
  const { hostname: host } = run.environment;
  return { interval: { host, from: Date.parse(run.started), until: Date.parse(run.ended) } };
}

/** @throws ConfigError for a file that is unreadable or no YAML */
function overridesOf(job: string): readonly string[] {
  const file = JOB_FILES.map((name) => join(job, name)).find((path) => existsSync(path));
  if (file === undefined) return [];
  try {
    const list: unknown = toObject(readYaml(readText(file), { name: file, env: process.env }));
    return Array.isArray(list) ? list.map(String) : [];
  } catch (cause) {
    const message = `${relative(job, file)}: ${fileProblem(cause)}`;
    throw new ConfigError({ code: "profile.input", message, cause });
  }
}
