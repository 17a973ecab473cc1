import { join } from "node:path";
import { writeFileAtomic } from "../system/atomic-write.ts";
import { agreeing, grouped, plural } from "../text/plural.ts";
import { checkOptions, type OptionChecks } from "../values/check-options.ts";
import { count, listOf, optional, shape, text, withMethods } from "../values/option-kinds.ts";
import { renderKernelsCsv, renderRegionsCsv } from "./csv.ts";
import { regionDirectoryNames, regionKey } from "./directory-name.ts";
import type { NCUProfileRegion, RegionReportBundle } from "./document.ts";
import { type ConfigLine, type HtmlReportOptions, renderHtmlReport } from "./html/report-page.ts";
import { inBlocks } from "./in-blocks.ts";
import { jsonPieces } from "./json/json-writer.ts";
import { regionMarkdownPieces } from "./markdown/region-markdown.ts";
import { createRegionBundler } from "./region-bundle.ts";
import { domainAt, placeKey } from "./region-path.ts";
import { regionReportFile, regionsFolder } from "./report-files.ts";
import { renderSectionsText } from "./sections-text.ts";
import { regionLabels } from "./tree-rows.ts";
import { assertValid, createReportValidator, type ReportValidator } from "./validation/validate.ts";

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
  /** What the HTML page shows in addition to the report; no page is written if absent. */
  readonly html?: Pick<HtmlReportOptions, "config" | "files">;
}

const CONFIG_LINE = shape<ConfigLine>({ key: text, value: text, origin: text });

const WRITE_OPTIONS: OptionChecks<WriteReportsOptions> = {
  title: optional(text),
  validator: optional(
    withMethods(["validate"], "a validator of reports", "createReportValidator() makes one"),
  ),
  maxRegionDirectories: optional(count),
  html: optional(
    shape<Pick<HtmlReportOptions, "config" | "files">>({
      config: optional(listOf("lines of a config", CONFIG_LINE)),
      files: optional(listOf("strings", text, '["../config.yaml"]')),
    }),
  ),
};

/** What was written, and what was not. */
export interface WrittenReports {
  /** Absolute or relative as the directory given. */
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

/** Directories of single regions unless `maxRegionDirectories` says otherwise. */
export const MAX_REGION_DIRECTORIES = 1000;

/**
 * Approximate limit for all directories of single regions together. Each has all regions below it, with
 * their paths and kernels: for a recursion 256 levels deep, or a thousand regions of a thousand kernels
 * each, they would otherwise be many times as large as the report.
 */
const MAX_DIRECTORY_BYTES = 128e6;

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
  const validator = options.validator ?? (await createReportValidator());
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
  await writeFileAtomic(json, inBlocks(jsonPieces(whole)));
  await writeFileAtomic(markdown, inBlocks(regionMarkdownPieces(whole, { title })));
  await writeFileAtomic(join(root, "regions.csv"), inBlocks(renderRegionsCsv(whole)));
  await writeFileAtomic(join(root, "kernels.csv"), inBlocks(renderKernelsCsv(whole)));

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
    await writeFileAtomic(join(root, name, "report.json"), inBlocks(jsonPieces(own)));
    await writeFileAtomic(
      join(root, name, "report.md"),
      inBlocks(regionMarkdownPieces(own, { title: heading })),
    );
    const sections = renderSectionsText(region, label);
    if (sections !== null) await writeFileAtomic(join(root, name, "sections.txt"), sections);
    regionDirectories.set(key, name);
  }
  const page = options.html === undefined ? null : join(root, "report.html");
  const failed =
    page && (await writeHtml(page, () => renderHtmlReport(whole, { ...options.html, title })));
  if (failed !== null) problems.push(failed);
  const html = failed === null ? page : null;
  return { json, markdown, html, regionDirectories, regionsWithoutDirectory: left, problems };
}

/** Null, or why there is no page: the other reports hold the same facts and are already written. */
async function writeHtml(file: string, render: () => string): Promise<string | null> {
  try {
    await writeFileAtomic(file, render());
    return null;
  } catch (error) {
    return `no HTML report: ${error instanceof Error ? error.message : String(error)}`;
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
