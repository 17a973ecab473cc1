/** The report of a collector, or of one region, as blocks: the first scope in full, of the others only the tree. */

import { plural } from "../../foundation/text/plural.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import {
  type Block,
  code,
  type Field,
  heading,
  link,
  listIfAny,
  numeral,
  paragraph,
  type Table,
  type Text,
  tableOf,
  withHeading,
} from "../../pages/blocks.ts";
import { formatMs } from "../../pages/numbers.ts";
import type {
  NCUProfileRegion,
  NCUProfileRegionReport,
  RegionReportBundle,
} from "../model/document.ts";
import { regionKey } from "../model/report-files.ts";
import { answerBlocks, answerOf, type NameOf } from "./answer.ts";
import { kernelTable } from "./kernel-tables.ts";
import { medianRunWords } from "./notes.ts";
import {
  COMMUNICATION_LEGEND,
  communicationTable,
  counterTable,
  gpuActivityTable,
  hostCallTable,
  invocationTable,
  PAYLOAD_LEGEND,
  payloadTable,
  provenanceTable,
  ranksTable,
  regionTree,
  repeatsTable,
  threadTable,
} from "./report-tables.ts";
import { kernelWords, reportKernelWords, totalMs } from "./times.ts";
import { regionLabels } from "./tree-rows.ts";

/** The heading of the report, and limits for large ones. */
export interface RegionMarkdownOptions {
  readonly title: string;
  /** Maximum number of rows of each kernel table. */
  readonly kernelRows?: number;
  /** Maximum number of regions with a section of their own; the tree always has all. */
  readonly regionSections?: number;
  /** The directories of single regions by `regionKey`, for links to their reports. */
  readonly directories?: ReadonlyMap<string, string>;
  /** Reports of other collectors of the same run. */
  readonly beside?: readonly RegionReportBundle[];
  /** Whether it begins with the answer where the time of the run goes. Default: true. */
  readonly hasAnswer?: boolean;
}

const NOTHING = "No GPU kernels or CPU operations were recorded in";

/** Yields blocks one by one: a report can have tens of thousands of regions, each with a thousand metrics. */
export function* regionReport(
  bundle: RegionReportBundle,
  options: RegionMarkdownOptions,
): Generator<Block> {
  const { reports } = bundle;
  const { title, kernelRows = 20, regionSections = 200, hasAnswer = true } = options;
  yield heading(1, title);
  const [main, ...others] = reports;
  if (main === undefined) {
    yield paragraph("No reports.");
    return;
  }
  const answer = hasAnswer ? answerOf(bundle, options.beside) : null;
  if (answer !== null)
    yield* answerBlocks(answer, { nameOf: linkInto(options.directories), level: 2 });
  yield paragraph(summary(main));
  yield heading(2, "Region tree");
  yield* regionTree(main);
  yield* withHeading("Wall time per call", invocationTable(main.regions));
  yield* withHeading("Threads", threadTable(main.regions));
  yield* withHeading("GPU while ranges were open", gpuActivityTable(main.regions));
  yield* withHeading("CUDA API calls", hostCallTable(main.regions, "cuda"));
  yield* withHeading("OS runtime calls", hostCallTable(main.regions, "os"));
  const payloads = payloadTable(main.regions);
  yield* withHeading("Payloads", payloads.length === 0 ? [] : [...payloads, PAYLOAD_LEGEND]);
  yield* withHeading("Counters", counterTable(main.regions));
  yield* withHeading("Ranks", ranksTable(main.regions));
  const communication = communicationTable(main);
  yield* withHeading(
    "Communication of ranks",
    communication.length === 0 ? [] : [...communication, paragraph(COMMUNICATION_LEGEND)],
  );
  yield* withHeading("Repeated runs", repeatsTable(main.regions));
  yield* withHeading("Notes", listIfAny(main.notes));
  yield heading(2, "Regions");
  const haveKernels = main.regions.some(({ kernels }) => kernels.length > 0);
  if (!haveKernels) yield paragraph(`${NOTHING} any region.`);
  const labelOf = regionLabels(main.regions);
  const sections = main.regions.slice(0, regionSections);
  for (const region of sections) {
    const kernels = kernelsOf(region, kernelRows, medianRunWords(main.notes));
    const nothing = haveKernels ? [paragraph(`${NOTHING} this region.`)] : [];
    // Details that the tables above do not contain; none if only wall times are known.
    yield* withHeading(
      labelOf(region),
      [
        ...(kernels.length === 0 ? nothing : kernels),
        ...metricTable(region),
        ...listIfAny(region.notes),
      ],
      3,
    );
  }
  const left = main.regions.length - sections.length;
  if (left > 0) yield paragraph([`${plural(left, "more region")} in `, code("report.json"), "."]);
  for (const report of others) yield* otherScope(report, main);
  yield heading(2, "Provenance");
  yield provenanceTable(main);
}

/**
 * The name of a region, linked to its own report if there is one.
 * @param base prefix of the links
 */
export const linkInto =
  (directories: ReadonlyMap<string, string> | undefined, base = ""): NameOf =>
  ({ region, label }) => {
    const directory = directories?.get(regionKey(region));
    return directory === undefined ? label : link(label, `${base}${directory}/report.md`);
  };

function summary(report: NCUProfileRegionReport): Text {
  const { totals, scope, collector } = report;
  const words = reportKernelWords(report);
  const counted =
    words === null
      ? "no GPU kernels or CPU operations"
      : totals.kernel_count === 0 && totals.total_ms !== 0
        ? `${formatMs(totals.total_ms)} ms of ${words.time}`
        : plural(totals.kernel_count, words.singular, words.plural);
  const calls = totals.invocations === 0 ? "" : `${plural(totals.invocations, "call")}, `;
  const regions = `${plural(totals.region_count, "region")}, ${calls}`;
  return [`Scope ${scope}, collector ${collector.name}: ${regions}`, numeral(`${counted}.`)];
}

/**
 * The longest kernels, and how many more the JSON report has; empty without kernels.
 *
 * @param source words about where their times come from, which stand below the table
 */
export function kernelsOf(region: NCUProfileRegion, limit: number, source = ""): readonly Block[] {
  const words = kernelWords(region.kernels);
  if (words === null) return [];
  const several = new Set(region.kernels.map(({ device }) => device)).size > 1;
  const table = kernelTable(region.kernels.slice(0, limit), {
    words,
    wholeMs: region.total_ms,
    more: several ? [{ title: "Device", cell: ({ device }) => device }] : [],
  });
  const from = source === "" ? [] : [paragraph(`Calls and times${source}.`)];
  const left = region.kernels.slice(limit);
  if (left.length === 0) return [table, ...from];
  const ms = left.reduce((sum, { total_ms }) => sum + (total_ms ?? 0), 0);
  const time = totalMs(region) === null ? "" : ` (${formatMs(ms)} ms)`;
  const more = numeral(`${plural(left.length, "more row")}${time}`);
  return [table, paragraph([more, " in ", code("report.json"), "."]), ...from];
}

type Metric = readonly [name: string, metric: NCUProfileRegion["metrics"][string]];

const METRIC_FIELDS: readonly Field<Metric>[] = [
  { title: "Metric", cell: ([name]) => printableLabel(name) },
  { title: "Value", format: "number", cell: ([, { value }]) => value },
  { title: "Unit", cell: ([, { unit }]) => unit },
];

/** A table if a collector measured metrics. */
function metricTable({ metrics }: NCUProfileRegion): readonly Table[] {
  const all = Object.entries(metrics);
  return all.length === 0 ? [] : [tableOf(METRIC_FIELDS, all)];
}

/** Another scope: its tree, unless all its numbers are those of the first scope. */
function otherScope(
  report: NCUProfileRegionReport,
  main: NCUProfileRegionReport,
): readonly Block[] {
  const title = heading(2, `Scope ${report.scope}`);
  if (haveSameNumbers(report, main))
    return [title, paragraph(`The same numbers as ${main.scope}.`)];
  const ownNotes = report.notes.filter((note) => !main.notes.includes(note));
  return [title, ...regionTree(report), ...listIfAny(ownNotes)];
}

/** Ignores `process_id` and `device`, which identify the scope. */
const haveSameNumbers = (a: NCUProfileRegionReport, b: NCUProfileRegionReport): boolean =>
  equalJson(a.totals, b.totals) &&
  a.regions.length === b.regions.length &&
  a.regions.every((region, place) => equalJson(region, b.regions[place], ["process_id", "device"]));

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

/** The members that JSON includes. */
const membersOf = (value: object, except: readonly string[]): readonly [string, unknown][] =>
  Object.entries(value).filter(
    ([key, member]) =>
      !except.includes(key) && member !== undefined && typeof member !== "function",
  );
