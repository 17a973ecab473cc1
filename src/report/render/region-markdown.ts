import { plural } from "../../text/plural.ts";
import {
  checkOptions,
  count,
  type OptionChecks,
  optional,
  text,
} from "../../values/check-options.ts";
import type {
  NCUProfileRegion,
  NCUProfileRegionReport,
  RegionReportBundle,
} from "../model/document.ts";
import { reportKernelWords } from "../view/kernel-columns.ts";
import { formatMs } from "../view/numbers.ts";
import { regionLabels } from "../view/tree-rows.ts";
import { escapeMarkdown, type MarkdownBlock, markdownPieces } from "./markdown.ts";
import {
  gpuActivityTable,
  invocationTable,
  kernelTable,
  metricTable,
  notesList,
  provenanceTable,
  regionTreeTable,
  repeatsTable,
} from "./markdown-tables.ts";

/** The heading, and how much of a large report to show. */
export interface RegionMarkdownOptions {
  /** Plain text; escaped here. */
  readonly title: string;
  /** Rows of each kernel table. */
  readonly kernelRows?: number;
  /** Regions that get a section of their own; the tree always shows all. */
  readonly regionSections?: number;
}

const MARKDOWN_OPTIONS: OptionChecks<RegionMarkdownOptions> = {
  title: text,
  kernelRows: optional(count),
  regionSections: optional(count),
};

const EXAMPLE = 'renderRegionMarkdown(bundle, { title: "My run" })';

const NOTHING_ANYWHERE = "No GPU kernels or CPU operations were recorded in any region.";

/**
 * `report.md` of a collector or of one region: the first report in full, of the others the tree.
 *
 * @throws RangeError where that is longer than a string can be (512 MB): see `regionMarkdownPieces`
 */
export function renderRegionMarkdown(
  bundle: RegionReportBundle,
  options: RegionMarkdownOptions,
): string {
  checkOptions("renderRegionMarkdown", options, MARKDOWN_OPTIONS, EXAMPLE);
  return [...regionMarkdownPieces(bundle, options)].join("");
}

/** The same text in pieces: a report can have tens of thousands of regions, each with a thousand metrics. */
export const regionMarkdownPieces = (
  bundle: RegionReportBundle,
  options: RegionMarkdownOptions,
): Iterable<string> => markdownPieces(blocksOf(bundle, options));

function* blocksOf(
  { reports }: RegionReportBundle,
  { title, kernelRows = 20, regionSections = 200 }: RegionMarkdownOptions,
): Generator<MarkdownBlock> {
  yield `# ${escapeMarkdown(title)}`;
  const [main, ...others] = reports;
  if (main === undefined) {
    yield "No reports.";
    return;
  }
  yield summary(main);
  yield "## Region tree";
  yield regionTreeTable(main);
  yield* withHeading("## Wall time per call", invocationTable(main.regions));
  yield* withHeading("## GPU while ranges were open", gpuActivityTable(main.regions));
  yield* withHeading("## Repeated runs", repeatsTable(main.regions));
  yield* withHeading("## Notes", notesList(main.notes));
  yield "## Regions";
  const haveKernels = hasKernels(main);
  if (!haveKernels) yield NOTHING_ANYWHERE;
  const labelOf = regionLabels(main.regions);
  const sections = main.regions.slice(0, regionSections);
  for (const region of sections)
    yield* regionSection(region, labelOf(region), { haveKernels, kernelRows });
  const left = main.regions.length - sections.length;
  if (left > 0) yield `${plural(left, "more region")} in \`report.json\`.`;
  for (const report of others) yield* otherScope(report, main);
  yield "## Provenance";
  yield provenanceTable(main);
}

function summary(report: NCUProfileRegionReport): string {
  const { totals, scope, collector } = report;
  const words = reportKernelWords(report);
  const counted =
    words === null
      ? "no GPU kernels or CPU operations"
      : totals.kernel_count === 0 && totals.total_ms !== 0
        ? `${formatMs(totals.total_ms)} ms of ${words.time}`
        : plural(totals.kernel_count, words.one, words.many);
  const calls = totals.invocations === 0 ? "" : `${plural(totals.invocations, "call")}, `;
  return `Scope ${escapeMarkdown(scope)}, collector ${escapeMarkdown(collector.name)}: ${plural(totals.region_count, "region")}, ${calls}${counted}.`;
}

const hasKernels = ({ regions }: NCUProfileRegionReport): boolean =>
  regions.some(({ kernels }) => kernels.length > 0);

function regionSection(
  region: NCUProfileRegion,
  heading: string,
  { haveKernels, kernelRows }: { readonly haveKernels: boolean; readonly kernelRows: number },
): readonly MarkdownBlock[] {
  const nothing = haveKernels
    ? "No GPU kernels or CPU operations were recorded in this region."
    : null;
  const blocks = [
    kernelTable(region, kernelRows) ?? nothing,
    metricTable(region),
    notesList(region.notes),
  ].filter((block) => block !== null);
  // What the tables above do not say; nothing, where only wall times are known.
  return blocks.length === 0 ? [] : [`### ${escapeMarkdown(heading)}`, ...blocks];
}

/** Another scope: its tree, unless it holds the very numbers of the first one. */
function otherScope(
  report: NCUProfileRegionReport,
  main: NCUProfileRegionReport,
): readonly MarkdownBlock[] {
  const heading = `## Scope ${escapeMarkdown(report.scope)}`;
  if (haveSameNumbers(report, main))
    return [heading, `The same numbers as ${escapeMarkdown(main.scope)}.`];
  const own = report.notes.filter((note) => !main.notes.includes(note));
  return [heading, regionTreeTable(report), notesList(own)];
}

/** Whose regions they are is no number. */
const haveSameNumbers = (a: NCUProfileRegionReport, b: NCUProfileRegionReport): boolean =>
  equalJson(a.totals, b.totals) &&
  a.regions.length === b.regions.length &&
  a.regions.every((region, place) => equalJson(region, b.regions[place], ["process_id", "device"]));

const withHeading = (heading: string, block: MarkdownBlock): readonly MarkdownBlock[] =>
  block === null ? [] : [heading, block];

/**
 * Whether two values have the same JSON text, including the order of keys. The text is not built, because
 * reports can have hundreds of megabytes of it.
 *
 * @param except keys of these two objects (not of nested ones) to ignore
 */
export function equalJson(a: unknown, b: unknown, except: readonly string[] = []): boolean {
  if (typeof a === "object" && a !== null && typeof b === "object" && b !== null) {
    if (a === b) return true;
    if (Array.isArray(a) || Array.isArray(b))
      return (
        Array.isArray(a) &&
        Array.isArray(b) &&
        a.length === b.length &&
        a.every((element, index) => equalJson(element, b[index]))
      );
    const inA = membersOf(a, except);
    const inB = membersOf(b, except);
    return (
      inA.length === inB.length &&
      inA.every(([key, value], index) => {
        const [other, against] = inB[index] ?? [];
        return key === other && equalJson(value, against);
      })
    );
  }
  return a === b || JSON.stringify([a]) === JSON.stringify([b]);
}

/** The members that JSON keeps. */
const membersOf = (value: object, except: readonly string[]): readonly [string, unknown][] =>
  Object.entries(value).filter(
    ([key, member]) =>
      !except.includes(key) && member !== undefined && typeof member !== "function",
  );
