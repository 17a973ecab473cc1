/** Writes the reports of a collector, of each of its regions, and of a whole run. */

import { join } from "node:path";
import {
  anything,
  checkOptions,
  count,
  listOf,
  type OptionChecks,
  optional,
  shape,
  text,
  withMethods,
} from "../engine/values/check-options.ts";
import { always, type FileRow, writeFiles } from "../foundation/system/file-table.ts";
import { namedFileProblem } from "../foundation/system/files.ts";
import { agreeing, grouped, plural } from "../foundation/text/plural.ts";
import { renderCsv } from "../pages/csv.ts";
import { withKernelsOnce, withNamesOnce } from "./model/contract.ts";
import type {
  NCUProfileRegion,
  NCUProfileRegionReport,
  RegionReportBundle,
} from "./model/document.ts";
import { domainAt, placeKey, startsAt } from "./model/region-path.ts";
import {
  type COLLECTOR_FILES,
  type NamedRegion,
  regionDirectoryNames,
  regionKey,
  regionReportFile,
  regionsFolder,
} from "./model/report-files.ts";
import { jsonPieces } from "./render/json.ts";
import {
  type ConfigLine,
  fitsPage,
  type HtmlReportOptions,
  renderHtmlReport,
  renderTimelinePage,
} from "./render/report-page.ts";
import {
  regionMarkdownPieces,
  renderKernelsMarkdown,
  renderRunMarkdown,
  renderStakeholderSummary,
} from "./render/run-reports.ts";
import { renderSectionsText } from "./render/sections-text.ts";
import { assertValid, createReportValidator, type ReportValidator } from "./validation/validate.ts";
import { kernelNameRecords, kernelRecords, regionRecords } from "./view/region-records.ts";
import { checkRun, type RunSummary } from "./view/run-summary.ts";
import { regionLabels } from "./view/tree-rows.ts";

/** What to write in addition to JSON and Markdown, and how many directories. */
export interface WriteReportsOptions {
  /** First heading of the Markdown report. */
  readonly title?: string;
  /** An existing validator; created if absent. */
  readonly validator?: ReportValidator;
  /**
   * Maximum number of directories of single regions. Programs that number their labels can make a region
   * per step; then only the longest get a directory, and the report says so.
   */
  readonly maxRegionDirectories?: number;
  /** Reports of other collectors of the same run: their counters can give reasons. */
  readonly beside?: readonly RegionReportBundle[];
  /** What the HTML page shows in addition to the report; no page is written if absent. */
  readonly html?: Pick<HtmlReportOptions, "config" | "files" | "output" | "source" | "timeline">;
}

const CONFIG_LINE = shape<ConfigLine>({ key: text, value: text, origin: text });

const WRITE_OPTIONS: OptionChecks<WriteReportsOptions> = {
  title: optional(text),
  validator: optional(
    withMethods(["validate"], "a validator of reports", "createReportValidator() makes one"),
  ),
  maxRegionDirectories: optional(count),
  beside: anything,
  html: optional(
    shape<NonNullable<WriteReportsOptions["html"]>>({
      config: optional(listOf("lines of a config", CONFIG_LINE)),
      files: optional(listOf("strings", text, '["../config.yaml"]')),
      output: anything,
      source: optional(text),
      timeline: anything,
    }),
  ),
};

/** What was written, and what was not. */
export interface WrittenReports {
  /** Absolute, or relative like the given directory. */
  readonly json: string;
  readonly markdown: string;
  /** Null if none was requested, or if it could not be written. */
  readonly html: string | null;
  /** Name of the directory of each region that has one, by `regionKey`. */
  readonly regionDirectories: ReadonlyMap<string, string>;
  readonly regionsWithoutDirectory: number;
  /** Reports of single regions that could not be written, in words. */
  readonly problems: readonly string[];
}

/** The default of `maxRegionDirectories`. */
export const MAX_REGION_DIRECTORIES = 1000;

/**
 * Approximate limit for all directories of single regions together. Each has all regions below it, with
 * their paths and kernels: for a recursion 256 levels deep, or a thousand regions of a thousand kernels
 * each, they would otherwise be many times as large as the report.
 */
const MAX_DIRECTORY_BYTES = 1.5e6;

/** What the files of a collector are made of. */
interface CollectorFacts {
  /** The report, with a note if regions have no directory. */
  readonly whole: RegionReportBundle;
  /** The same in its stored form. */
  readonly stored: RegionReportBundle;
  readonly title: string;
  readonly directories: ReadonlyMap<string, string>;
  readonly beside: readonly RegionReportBundle[];
  readonly html: WriteReportsOptions["html"];
}

type CollectorFile<Facts> = FileRow<Facts, (typeof COLLECTOR_FILES)[number]>;

const REPORT_FILES: readonly CollectorFile<CollectorFacts>[] = [
  ["report.json", always, ({ stored }) => jsonPieces(stored)],
  ["report.md", always, ({ whole, ...options }) => regionMarkdownPieces(whole, options)],
  ["regions.csv", always, ({ whole }) => renderCsv(regionRecords(whole))],
  ["kernels.csv", always, ({ stored }) => renderCsv(kernelRecords(stored))],
  [
    "kernel_names.csv",
    ({ stored }) => stored.kernel_names !== undefined,
    ({ stored }) => renderCsv(kernelNameRecords(stored.kernel_names ?? {})),
  ],
];

/** Those that hold what the others do, to look at. */
const PAGES: readonly CollectorFile<CollectorFacts>[] = [
  [
    "report.html",
    ({ html }) => html !== undefined,
    ({ beside, html, title, whole }) => [renderHtmlReport(whole, { ...html, title, beside })],
  ],
  [
    "timeline.html",
    ({ html }) => html?.timeline !== undefined && !fitsPage(html.timeline),
    ({ html, title }) =>
      html?.timeline === undefined
        ? []
        : [renderTimelinePage(html.timeline, { title: `${title}: timeline` })],
  ],
];

/** What the files in the directory of a region are made of. */
interface RegionFacts {
  readonly bundle: RegionReportBundle;
  readonly label: string;
  /** Null if no tool gave any. */
  readonly sections: string | null;
}

const REGION_FILES: readonly FileRow<RegionFacts>[] = [
  ["report.json", always, ({ bundle }) => jsonPieces(bundle)],
  [
    "report.md",
    always,
    ({ label, bundle }) =>
      regionMarkdownPieces(bundle, { title: `Region ${label}`, hasAnswer: false }),
  ],
  ["sections.txt", ({ sections }) => sections !== null, ({ sections }) => [sections ?? ""]],
];

const RUN_FILES: readonly FileRow<RunSummary>[] = [
  ["kernels.md", always, (run) => [renderKernelsMarkdown(run)]],
  ["report.md", always, (run) => [renderRunMarkdown(run)]],
  ["stakeholder_summary.md", always, (run) => [renderStakeholderSummary(run)]],
];

/** The files next to a collector's page, for its list of files. */
export const FILES_BESIDE_PAGE: readonly string[] = REPORT_FILES.flatMap(([name, when]) =>
  when === always ? [name] : [],
);

/**
 * Writes the reports of one collector below its directory: `regions/report.{json,md,html}` and
 * `regions/{regions,kernels}.csv`, and the first two for each region in a directory of its own, with
 * `sections.txt` where a tool gave sections. Each document is checked against the contract first.
 *
 * @throws Error when a report would break the contract, or a file cannot be written.
 */
export async function writeReports(
  bundle: RegionReportBundle,
  directory: string,
  options: WriteReportsOptions = {},
): Promise<WrittenReports> {
  checkOptions("writeReports", options, WRITE_OPTIONS);
  const validator = options.validator ?? createReportValidator();
  const limit = options.maxRegionDirectories ?? MAX_REGION_DIRECTORIES;
  assertValid(validator, bundle);
  const root = regionsFolder(directory);
  const all = distinctRegions(bundle);
  const chosen = withinBudget(longestFirst(all).slice(0, limit), bundle);
  const left = all.length - chosen.length;
  const whole = left === 0 ? bundle : withNote(bundle, leftOutNote(chosen.length, all.length));
  const names = regionDirectoryNames(bundle.reports.flatMap(({ regions }) => regions));
  const { beside = [], html, title = titleOf(bundle) } = options;
  const facts: CollectorFacts = {
    whole,
    stored: withNamesOnce(withKernelsOnce(whole)),
    title,
    directories: new Map(
      chosen.map((region) => [regionKey(region), names.get(regionKey(region)) ?? ""]),
    ),
    beside,
    html,
  };
  await writeFiles(root, REPORT_FILES, facts);
  const { problems, regionDirectories } = await writeRegions(root, chosen, {
    ...{ bundle, directories: facts.directories, labelOf: regionLabels(all), validator },
  });
  const unwritten: string[] = [];
  // The other reports hold the same facts and are already written.
  const pages = await writeFiles(root, PAGES, facts, (_, error) =>
    unwritten.push(`no HTML report: ${namedFileProblem(error)}`),
  );
  const page = join(root, "report.html");
  return {
    json: regionReportFile(directory),
    markdown: join(root, "report.md"),
    html: pages.includes(page) ? page : null,
    regionDirectories,
    regionsWithoutDirectory: left,
    problems: [...problems, ...unwritten],
  };
}

interface RegionsRequest {
  readonly bundle: RegionReportBundle;
  readonly directories: ReadonlyMap<string, string>;
  readonly labelOf: (region: NCUProfileRegion) => string;
  readonly validator: ReportValidator;
}

/** Writes the reports of single regions. A defect in that of one does not prevent the others. */
async function writeRegions(
  root: string,
  regions: readonly NCUProfileRegion[],
  { bundle, directories, labelOf, validator }: RegionsRequest,
): Promise<Pick<WrittenReports, "problems" | "regionDirectories">> {
  const bundleOf = createRegionBundler(bundle);
  const regionDirectories = new Map<string, string>();
  const problems: string[] = [];
  for (const region of regions) {
    const name = directories.get(regionKey(region)) ?? "";
    const bundle = bundleOf(region);
    const [issue] = validator.validate(bundle);
    if (issue !== undefined) {
      problems.push(`no separate report for region ${name}: ${issue.pointer}: ${issue.message}`);
      continue;
    }
    const label = labelOf(region);
    const facts = { bundle, label, sections: renderSectionsText(region, label) };
    await writeFiles(join(root, name), REGION_FILES, facts);
    regionDirectories.set(regionKey(region), name);
  }
  return { problems, regionDirectories };
}

/** Readers look for Nsight Compute reports under their own heading. */
function titleOf({ reports: [first] }: RegionReportBundle): string {
  const collector = first?.collector.name ?? "no data";
  return collector === "ncu" ? "NCU Region Reports" : `Region report: ${collector}`;
}

/** Each region once, from the first report that has it. */
function distinctRegions({ reports }: RegionReportBundle): readonly NCUProfileRegion[] {
  const regions = new Map<string, NCUProfileRegion>();
  for (const report of reports)
    for (const region of report.regions)
      if (!regions.has(regionKey(region))) regions.set(regionKey(region), region);
  return [...regions.values()];
}

/** The first regions whose reports together fit the budget. */
function withinBudget(
  regions: readonly NCUProfileRegion[],
  { reports }: RegionReportBundle,
): readonly NCUProfileRegion[] {
  const top: Place = { bytes: 0, below: new Map() };
  for (const region of reports.flatMap((report) => report.regions)) {
    const bytes = bytesOf(region);
    for (const place of placesAlong(top, region)) place.bytes += bytes;
  }
  let left = MAX_DIRECTORY_BYTES;
  return regions.filter((region) => {
    const bytes = placesAlong(top, region).at(-1)?.bytes ?? 0;
    if (bytes > left) return false;
    left -= bytes;
    return true;
  });
}

/** A level of the region paths. They are walked, since storing a text per level would take quadratic memory. */
interface Place {
  /** Of all regions at this place and inside. */
  bytes: number;
  readonly below: Map<string, Place>;
}

/** The places on a region's path, created if missing. */
function placesAlong(top: Place, region: NCUProfileRegion): readonly Place[] {
  let around = top;
  return region.path.map((name, level) => {
    const key = placeKey({
      path: [name],
      domain: "",
      path_domains: [domainAt(region, level)],
    });
    const place = around.below.get(key) ?? { bytes: 0, below: new Map() };
    around.below.set(key, place);
    around = place;
    return place;
  });
}

/** Bytes in JSON and Markdown, measured: first without names, then what surrounds each name. */
const BYTES_PER_REGION = 1500;
const BYTES_AROUND_PATH_NAME = 16;
const BYTES_AROUND_KERNEL_NAME = 200;

const bytesOf = ({ path, kernels }: NCUProfileRegion): number =>
  BYTES_PER_REGION +
  path.reduce((sum, name) => sum + name.length + BYTES_AROUND_PATH_NAME, 0) +
  kernels.reduce((sum, { kernel_name }) => sum + kernel_name.length + BYTES_AROUND_KERNEL_NAME, 0);

const longestFirst = (regions: readonly NCUProfileRegion[]): readonly NCUProfileRegion[] =>
  [...regions].sort((a, b) => timeOf(b) - timeOf(a));

const timeOf = ({ total_ms, wall_ms }: NCUProfileRegion): number => total_ms ?? wall_ms ?? 0;

const leftOutNote = (shown: number, all: number): string =>
  `only the ${agreeing(shown, "", `${grouped(String(shown))} `)}longest of ${plural(all, "region")} ${agreeing(shown, "has a directory of its", "have a directory of their")} own; this report has all`;

const withNote = (bundle: RegionReportBundle, note: string): RegionReportBundle => ({
  ...bundle,
  reports: bundle.reports.map((report) => ({ ...report, notes: [...report.notes, note] })),
});

/**
 * Makes bundles of single regions, each with its inner regions, from every report that has the
 * region. Their totals are those of the region, with nothing outside.
 */
export function createRegionBundler(
  bundle: RegionReportBundle,
): (region: NamedRegion) => RegionReportBundle {
  const indexed = bundle.reports.map((report) => ({
    report,
    places: new Map(report.regions.map((region, place) => [regionKey(region), place])),
  }));
  return (region) => ({
    contract: bundle.contract,
    reports: indexed.flatMap(({ report, places }) => {
      const place = places.get(regionKey(region));
      return place === undefined ? [] : [cut(report, place)];
    }),
  });
}

function cut(report: NCUProfileRegionReport, place: number): NCUProfileRegionReport {
  const regions = subtree(report.regions, place);
  const total_ms = timeOfAll(regions);
  // The families of the whole report have members beside these regions.
  const { families: _, unshown_regions: __, ...rest } = report;
  return {
    ...rest,
    regions,
    totals: {
      region_count: regions.filter(({ kind }) => kind !== "outside").length,
      invocations: regions.reduce((sum, { invocations }) => sum + invocations, 0),
      kernel_count: largest(regions.map(({ kernel_count }) => kernel_count)),
      total_ms,
      outside_ms: total_ms === null ? null : 0,
      outside_kernel_count: 0,
      wall_ms: null,
    },
  };
}

/**
 * The kernels of these regions, each once. The top region has them all where ranges nest; where a
 * range outlived the one around it, or shares its path with one of another kind, it does not.
 */
function timeOfAll(regions: readonly NCUProfileRegion[]): number | null {
  const timed = regions.filter(({ total_ms }) => total_ms !== null);
  if (timed.length === 0) return null;
  const exclusive = timed.reduce((sum, { exclusive_ms }) => sum + (exclusive_ms ?? 0), 0);
  return Math.max(exclusive, largest(timed.map(({ total_ms }) => total_ms ?? 0)));
}

/** The largest of non-negative numbers, which may be too many for the arguments of `Math.max`. */
const largest = (numbers: readonly number[]): number =>
  numbers.reduce((most, number) => Math.max(most, number), 0);

/** A region and those inside it. Reports are in depth-first order, so these follow directly. */
function subtree(regions: readonly NCUProfileRegion[], place: number): readonly NCUProfileRegion[] {
  const top = regions[place];
  if (top === undefined) return [];
  const found = [top];
  for (let index = place + 1; index < regions.length; index++) {
    const region = regions[index];
    if (region === undefined || !startsAt(region, top)) break;
    // A region of another kind can have the same path; it is beside this one, not inside.
    if (region.path.length > top.path.length) found.push(region);
  }
  return found;
}

/**
 * Writes the reports of a whole run into its directory; returns their paths.
 *
 * @param onProblem called for each that cannot be made or written. Default: that is thrown.
 */
export async function writeRunReports(
  directory: string,
  run: RunSummary,
  onProblem?: (name: string, error: unknown) => void,
): Promise<readonly string[]> {
  checkRun("writeRunReports", run);
  return writeFiles(directory, RUN_FILES, run, onProblem);
}
