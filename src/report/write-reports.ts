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
import { bufferedPieces, writeFileAtomic } from "../foundation/system/atomic-write.ts";
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
import { kernelNameRecords, kernelRecords, regionRecords } from "./view/records.ts";
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

/** The files next to a collector's page, for its list of files. */
export const FILES_BESIDE_PAGE: readonly string[] = [
  "report.json",
  "report.md",
  "regions.csv",
  "kernels.csv",
];

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
  const names = regionDirectoryNames(bundle.reports.flatMap(({ regions }) => regions));
  const all = distinctRegions(bundle);
  const chosen = withinBudget(longestFirst(all).slice(0, limit), bundle);
  const left = all.length - chosen.length;
  const whole = left === 0 ? bundle : withNote(bundle, leftOutNote(chosen.length, all.length));

  const json = regionReportFile(directory);
  const markdown = join(root, "report.md");
  const title = options.title ?? titleOf(bundle);
  const stored = withNamesOnce(withKernelsOnce(whole));
  await writeFileAtomic(json, bufferedPieces(jsonPieces(stored)));
  const { beside = [] } = options;
  const directories = new Map(
    chosen.map((region) => [regionKey(region), names.get(regionKey(region)) ?? ""]),
  );
  await writeFileAtomic(
    markdown,
    bufferedPieces(regionMarkdownPieces(whole, { title, directories, beside })),
  );
  await writeFileAtomic(join(root, "regions.csv"), bufferedPieces(renderCsv(regionRecords(whole))));
  await writeFileAtomic(
    join(root, "kernels.csv"),
    bufferedPieces(renderCsv(kernelRecords(stored))),
  );
  const wholeNames = stored.kernel_names;
  if (wholeNames !== undefined)
    await writeFileAtomic(
      join(root, "kernel_names.csv"),
      bufferedPieces(renderCsv(kernelNameRecords(wholeNames))),
    );

  const labelOf = regionLabels(all);
  const bundleOf = createRegionBundler(bundle);
  const regionDirectories = new Map<string, string>();
  const problems: string[] = [];
  for (const region of chosen) {
    const key = regionKey(region);
    const name = names.get(key);
    if (name === undefined) continue;
    const own = bundleOf(region);
    // The report itself is written; a defect in the report of one region must not prevent the others.
    const [issue] = validator.validate(own);
    if (issue !== undefined) {
      problems.push(`no separate report for region ${name}: ${issue.pointer}: ${issue.message}`);
      continue;
    }
    const label = labelOf(region);
    const heading = `Region ${label}`;
    await writeFileAtomic(join(root, name, "report.json"), bufferedPieces(jsonPieces(own)));
    await writeFileAtomic(
      join(root, name, "report.md"),
      bufferedPieces(regionMarkdownPieces(own, { title: heading, hasAnswer: false })),
    );
    const sections = renderSectionsText(region, label);
    if (sections !== null) await writeFileAtomic(join(root, name, "sections.txt"), sections);
    regionDirectories.set(key, name);
  }
  const page = options.html === undefined ? null : join(root, "report.html");
  const failed =
    page &&
    (await writeHtml(page, () => renderHtmlReport(whole, { ...options.html, title, beside })));
  if (failed !== null) problems.push(failed);
  const html = failed === null ? page : null;
  const { timeline } = options.html ?? {};
  if (timeline !== undefined && !fitsPage(timeline)) {
    const unwritten = await writeHtml(join(root, "timeline.html"), () =>
      renderTimelinePage(timeline, { title: `${title}: timeline` }),
    );
    if (unwritten !== null) problems.push(unwritten);
  }
  return { json, markdown, html, regionDirectories, regionsWithoutDirectory: left, problems };
}

/** Null, or why there is no page: the other reports hold the same facts and are already written. */
async function writeHtml(file: string, render: () => string): Promise<string | null> {
  try {
    await writeFileAtomic(file, render());
    return null;
  } catch (error) {
    return `no HTML report: ${namedFileProblem(error)}`;
  }
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
  return {
    ...report,
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
  const known = regions.filter(({ total_ms }) => total_ms !== null);
  if (known.length === 0) return null;
  const exclusive = known.reduce((sum, { exclusive_ms }) => sum + (exclusive_ms ?? 0), 0);
  return Math.max(exclusive, largest(known.map(({ total_ms }) => total_ms ?? 0)));
}

/** The largest of non-negative numbers, which may be too many for the arguments of `Math.max`. */
const largest = (numbers: readonly number[]): number =>
  numbers.reduce((most, number) => Math.max(most, number), 0);

/** A region and those inside it. Reports are in depth-first order, so these follow directly. */
function subtree(regions: readonly NCUProfileRegion[], place: number): readonly NCUProfileRegion[] {
  const top = regions[place];
  if (top === undefined) return [];
  const found = [top];
  for (let at = place + 1; at < regions.length; at++) {
    const region = regions[at];
    if (region === undefined || !startsAt(region, top)) break;
    // A region of another kind can have the same path; it is beside this one, not inside.
    if (region.path.length > top.path.length) found.push(region);
  }
  return found;
}

interface RunReport {
  readonly name: string;
  readonly render: (run: RunSummary) => string;
}

const RUN_REPORTS: readonly RunReport[] = [
  { name: "kernels.md", render: renderKernelsMarkdown },
  { name: "report.md", render: renderRunMarkdown },
  { name: "stakeholder_summary.md", render: renderStakeholderSummary },
];

/** Writes the reports of a whole run into its directory; returns their paths. */
export async function writeRunReports(
  directory: string,
  run: RunSummary,
): Promise<readonly string[]> {
  checkRun("writeRunReports", run);
  const files: string[] = [];
  for (const { name, render } of RUN_REPORTS) {
    const file = join(directory, name);
    await writeFileAtomic(file, render(run));
    files.push(file);
  }
  return files;
}
