/**
 * The questions of `deep-profile query` about a run. Each returns its answer as data under stable names, and as blocks
 * for a terminal. A new question is an object in the table, with its definition in `schemas/query.schema.json`.
 */

import { ConfigError, nearest } from "../../engine/values/errors.ts";
import { matchesGlob, parseGlob } from "../../foundation/text/glob.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import {
  type Block,
  type Field,
  listIfAny,
  paragraph,
  tableOf,
  withHeading,
} from "../../pages/blocks.ts";
import { formatDuration, formatMs, percentOf } from "../../pages/numbers.ts";
import {
  type Comparison,
  changedKernels,
  comparedRows,
  contributionOf,
  overallSentence,
  timeLabel,
  VERDICTS,
} from "../../report/compare/comparison.ts";
import type { Changes } from "../../report/compare/comparison-types.ts";
import type {
  KernelRecord,
  NCUProfileRegion,
  NCUProfileRegionReport,
  RegionReportBundle,
} from "../../report/model/document.ts";
import { withFamilies } from "../../report/model/families.ts";
import { outermost, pathLines } from "../../report/model/region-path.ts";
import {
  type Answer,
  answerBlocks,
  answerOf,
  factsOf,
  type RankedRegion,
} from "../../report/view/answer.ts";
import { kernelsOfReport } from "../../report/view/kernel-list.ts";
import { type Reason, reasonFor, titleWithSection } from "../../report/view/reasons.ts";
import {
  allMetrics,
  everyColumn,
  fieldsOf,
  reportWords,
  type ShownColumn,
  shownColumns,
} from "../../report/view/region-columns.ts";
import {
  type HostCallSum,
  hostCallSums,
  mostIn,
  type RegionSort,
  sortedRegions,
  threadTable,
} from "../../report/view/report-tables.ts";
import { kernelMs, meanMs, reportKernelWords, wholeMs } from "../../report/view/times.ts";
import { regionLabels } from "../../report/view/tree-rows.ts";
import type {
  Calls,
  Compare,
  Kernels,
  QueryAnswer,
  Regions,
  Summary,
  Timeline,
  Top,
  Why,
} from "./query-types.ts";
import type { Slice, SliceEvent, SliceRequest } from "./slice.ts";

/** The run and the options of a question. */
export interface Asked {
  /** The name given by the user. */
  readonly run: string;
  /** The report of the requested scope. */
  readonly report: NCUProfileRegionReport;
  readonly bundle: RegionReportBundle;
  /** Reports of the run's other collectors. */
  readonly beside: readonly RegionReportBundle[];
  /** The argument of the question; empty if there is none. */
  readonly target: string;
  /** The maximum number of items in the answer. */
  readonly limit: number;
  /** The number of items before the first in the answer: the cursor of an earlier answer. */
  readonly offset: number;
  /** Globs; empty for all. */
  readonly regions: readonly string[];
  readonly kernels: readonly string[];
  readonly metrics: readonly string[];
  readonly sort: RegionSort;
  /** Milliseconds since the start of the run; null for the start and the end of the run. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
  readonly timeline: (request: SliceRequest) => Promise<Slice>;
  readonly compareWith: (other: string) => Promise<Comparison>;
}

type QuestionName = QueryAnswer["question"];

/** What the contract has as the answer to a question. */
type AnswerTo<Name extends QuestionName> = Extract<
  QueryAnswer,
  { readonly question: Name }
>["answer"];

interface Answered<Answer = QueryAnswer["answer"]> {
  readonly answer: Answer;
  /** The number of items, and how many of them are in the answer; absent if the answer is no list. */
  readonly items?: { readonly total: number; readonly shown: number };
  readonly blocks: readonly Block[];
}

export type Question = { [Name in QuestionName]: QuestionNamed<Name> }[QuestionName];

interface QuestionNamed<Name extends QuestionName> {
  readonly name: Name;
  /** A line for `--help`. */
  readonly summary: string;
  /** The name of its argument, e.g. `REGION`. */
  readonly takes?: string;
  /** The options of `OWN_OPTIONS` that it reads. */
  readonly reads: readonly OwnOption[];
  readonly ask: (asked: Asked) => Answered<AnswerTo<Name>> | Promise<Answered<AnswerTo<Name>>>;
}

/** The options that not every question reads. */
export const OWN_OPTIONS = ["region", "kernel", "metric", "sort", "from", "to", "scope"] as const;

type OwnOption = (typeof OWN_OPTIONS)[number];

export const QUESTIONS: readonly Question[] = [
  {
    name: "summary",
    summary: "what takes the time of the run, and what to do first",
    reads: ["scope"],
    ask: summary,
  },
  {
    name: "top",
    summary: "the regions with most time of their own, each with its reason",
    reads: ["scope"],
    ask: top,
  },
  {
    name: "regions",
    summary: "times and counts of regions",
    reads: ["region", "metric", "sort", "scope"],
    ask: regions,
  },
  {
    name: "kernels",
    summary: "the longest kernels, or CPU operations",
    reads: ["region", "kernel", "scope"],
    ask: kernels,
  },
  {
    name: "calls",
    summary: "the longest calls of CUDA and of the system, from nsys",
    reads: ["region", "scope"],
    ask: calls,
  },
  {
    name: "why",
    summary: "why a region takes its time",
    takes: "REGION",
    reads: ["scope"],
    ask: why,
  },
  {
    name: "timeline",
    summary: "ranges and kernels between two times",
    reads: ["from", "to"],
    ask: timeline,
  },
  {
    name: "compare",
    summary: "what changed from RUN to another",
    takes: "OTHER",
    reads: ["scope"],
    ask: compare,
  },
];

/** The items of the answer. */
const pageOf = <Item>(
  { offset, limit }: Pick<Asked, "offset" | "limit">,
  all: readonly Item[],
): readonly Item[] => all.slice(offset, offset + limit);

// Regions.

/** The identity of a region or family in answers, which suffices to find it in a report. */
const nameOf = ({ path, domain, kind, family, members }: NCUProfileRegion) => ({
  path,
  domain,
  kind,
  ...(family !== undefined && { family }),
  ...(members !== undefined && { members }),
});

type PathOf = (region: NCUProfileRegion) => readonly string[] | undefined;

/** Regions whose name, or whose path joined by ` / ` (as shown) or ` > `, matches one of the globs. */
function matching(
  among: readonly NCUProfileRegion[],
  globs: readonly string[],
  pathOf: PathOf,
): readonly NCUProfileRegion[] {
  const patterns = globs.map(parseGlob);
  return among.filter((region) => {
    const path = pathOf(region);
    const name = path?.at(-1);
    if (path === undefined || name === undefined) return false;
    const names = [name, path.join(" / "), path.join(" > ")];
    return patterns.some((glob) => names.some((name) => matchesGlob(glob, name)));
  });
}

/** A family of one region has no row of its own: comparisons name it, and its name means that region. */
const PATHS: readonly PathOf[] = [({ path }) => path, ({ family }) => family];

/** The first of these reports in which a region matches, and the regions that do: all without globs. */
function chosenRegions(
  globs: readonly string[],
  among: readonly [NCUProfileRegionReport, ...NCUProfileRegionReport[]],
): { readonly report: NCUProfileRegionReport; readonly chosen: readonly NCUProfileRegion[] } {
  if (globs.length === 0) return { report: among[0], chosen: among[0].regions };
  for (const pathOf of PATHS) {
    for (const report of among) {
      const chosen = matching(report.regions, globs, pathOf);
      if (chosen.length > 0) return { report, chosen };
    }
  }
  const available = [...new Set(among.flatMap(({ regions }) => regions.map(({ name }) => name)))];
  throw new ConfigError({
    code: "profile.input",
    message: `no region is called ${globs.map((glob) => `'${glob}'`).join(" or ")}`,
    available: available.slice(0, MOST_NAMES),
    nearest: nearestRegion(globs[0] ?? "", available, among),
  });
}

/** The region, or its path as globs have it, that a name or a path probably means: also one whose parts are separated as in a file system. */
function nearestRegion(
  glob: string,
  names: readonly string[],
  among: readonly NCUProfileRegionReport[],
): string | undefined {
  const parts = glob.split(/\s*[/>.:]+\s*/);
  const paths = among.flatMap(({ regions }) =>
    regions.map(({ path }) => path.join(PATH_SEPARATOR)),
  );
  return (
    nearest(glob, names) ??
    (parts.length === 1
      ? undefined
      : (nearest(parts.join(PATH_SEPARATOR), [...new Set(paths)]) ??
        nearest(parts.at(-1) ?? "", names)))
  );
}

const PATH_SEPARATOR = " / ";

const MOST_NAMES = 20;

function regions(asked: Asked): Answered<Regions> {
  const { sort, metrics } = asked;
  // A table of what the report lists; a family that it does not is found by its name.
  const { report, chosen } = chosenRegions(asked.regions, [
    asked.report,
    withFamilies(asked.report),
  ]);
  const shown = new Set(chosen);
  const all = sortedRegions(report, sort).filter((region) => shown.has(region));
  const words = reportWords(report);
  const globs = metrics.map(parseGlob);
  const label = regionLabels(report.regions);
  refuseUnknownMetrics(metrics, report.regions);
  const rows = pageOf(asked, all);
  return {
    answer: {
      whole_ms: words.share.whole,
      regions: rows.map((region) => ({
        ...nameOf(region),
        ...dataOf<RegionNumber>(region, everyColumn("query", words)),
        ...(globs.length > 0 && {
          metrics: Object.fromEntries(
            Object.entries(allMetrics(region)).filter(([name]) =>
              globs.some((glob) => matchesGlob(glob, name)),
            ),
          ),
        }),
      })),
    },
    items: { total: all.length, shown: rows.length },
    blocks: [
      tableOf(
        [
          { title: "Region", cell: ({ region }) => label(region) },
          ...fieldsOf<{ readonly region: NCUProfileRegion }>(
            shownColumns("query_text", rows, words),
          ),
        ],
        rows.map((region) => ({ region })),
      ),
      ...wholeWords(words.share.whole, words.share.label),
    ],
  };
}

/** What shares refer to. */
const wholeWords = (whole: number | null, label: string | null): readonly Block[] =>
  whole === null || label === null ? [] : [paragraph(`100 % = ${formatMs(whole)} ms, ${label}`)];

function refuseUnknownMetrics(globs: readonly string[], among: readonly NCUProfileRegion[]): void {
  if (globs.length === 0) return;
  const names = [...new Set(among.flatMap((region) => Object.keys(allMetrics(region))))];
  const unknown = globs.find((glob) => {
    const tokens = parseGlob(glob);
    return !names.some((name) => matchesGlob(tokens, name));
  });
  if (unknown === undefined) return;
  throw new ConfigError({
    code: "profile.input",
    message: names.length === 0 ? "no region has metrics" : `no metric is called '${unknown}'`,
    available: names.slice(0, MOST_NAMES),
    nearest: nearest(unknown, names),
  });
}

type RegionRow = Regions["regions"][number];

/** The numbers of a region by the names of their columns, which are those that the contract has. */
const dataOf = <Name extends keyof RegionRow>(
  region: NCUProfileRegion,
  columns: readonly ShownColumn[],
) =>
  Object.fromEntries(columns.map(({ key, data }) => [key, data(region)])) as unknown as Pick<
    RegionRow,
    Name
  >;

type RegionNumber = Exclude<keyof RegionRow, keyof ReturnType<typeof nameOf> | "metrics">;

// Where the time goes.

function answered({ bundle, beside, report, run }: Asked): Answer {
  const answer = answerOf({ ...bundle, reports: [report, ...othersOf(bundle, report)] }, beside);
  if (answer !== null) return answer;
  throw new ConfigError({ code: "profile.input", message: `${run} holds no report` });
}

/** Reports of processes and devices; none for the aggregate's own. */
const othersOf = ({ reports }: RegionReportBundle, report: NCUProfileRegionReport) =>
  report === reports[0] ? reports.slice(1) : [];

function summary(asked: Asked): Answered<Summary> {
  const answer = answered(asked);
  const { report, limit } = asked;
  const { command, device, hostname, gpus } = report.environment;
  return {
    answer: {
      headline: answer.headline,
      failure: answer.failure,
      command,
      hostname,
      device,
      gpus,
      generated_at: report.generated_at,
      totals: report.totals,
      runs: answer.runs.map(({ name, ms, wallMs, processes, parts }) => ({
        name,
        ms,
        wall_ms: wallMs,
        processes,
        parts,
      })),
      first: answer.first.map(({ region, text }) => ({ ...nameOf(region), text })),
      more: answer.more,
      notes: report.notes.slice(0, limit),
    },
    blocks: answerBlocks(answer, { nameOf: ({ label }) => label, level: 3 }),
  };
}

const ranked = ({ region, ms, share, atOnce, base, longest, reason }: RankedRegion) => ({
  ...nameOf(region),
  ms,
  ms_share_pct: share,
  share_of: base,
  ...(atOnce !== null && { at_once: atOnce }),
  ...(longest?.standsOut === true && {
    outlier: { ...nameOf(longest.region), ms: longest.ms },
  }),
  reason: reason === null ? null : asData(reason),
});

const asData = ({ rule, title, evidence, advice, section }: Reason) => ({
  rule,
  title,
  evidence,
  advice,
  section: section ?? null,
});

function top(asked: Asked): Answered<Top> {
  const answer = answered(asked);
  const only = { ...answer, failure: null, runs: [], first: [], more: [] };
  return {
    answer: { by_wall: answer.byWall.map(ranked), by_gpu: answer.byGpu.map(ranked) },
    blocks: answerBlocks(only, { nameOf: ({ label }) => label, level: 3 }),
  };
}

function why(asked: Asked): Answered<Why> {
  const { report, chosen } = chosenRegions(
    [asked.target],
    [withFamilies(asked.report), asked.report],
  );
  const label = regionLabels(report.regions);
  const facts = factsOf(report, asked.beside);
  const shares = everyColumn("query_shares", reportWords(report));
  const places = new Map(report.regions.map((region, place) => [region, place]));
  const rows = pageOf(asked, chosen).map((region) => {
    const regionFacts = facts(places.get(region) ?? 0);
    return {
      region,
      regionFacts,
      wall: reasonFor(regionFacts, "wall"),
      gpu: reasonFor(regionFacts, "gpu"),
    };
  });
  const sentence = (kind: string, ms: number | null, reason: Reason | null) =>
    ms === null
      ? []
      : [
          `${kind} of its own, ${formatDuration(ms)}: ${
            reason === null
              ? "no reason found"
              : `${titleWithSection(reason)}${reason.evidence === "" ? "" : ` (${reason.evidence})`}${reason.advice === null ? "" : `; ${reason.advice}`}`
          }`,
        ];
  return {
    answer: {
      regions: rows.map(({ region, regionFacts, wall, gpu }) => ({
        ...nameOf(region),
        ...dataOf<"share_pct" | "exclusive_share_pct">(region, shares),
        wall_exclusive_ms: regionFacts.wallMs,
        work_exclusive_ms: regionFacts.workMs,
        wall_reason: wall === null ? null : asData(wall),
        gpu_reason: regionFacts.work === "gpu_kernel" && gpu !== null ? asData(gpu) : null,
        ...(region.threads !== undefined && { threads: region.threads }),
      })),
    },
    items: { total: chosen.length, shown: rows.length },
    blocks: rows.flatMap(({ region, regionFacts, wall, gpu }) =>
      withHeading(
        label(region),
        [
          ...listIfAny([
            ...sentence("Wall time", regionFacts.wallMs, wall),
            ...(regionFacts.work === "gpu_kernel"
              ? sentence("Kernel time", regionFacts.workMs, gpu)
              : []),
          ]),
          ...threadTable([region]),
        ],
        3,
      ),
    ),
  };
}

// Kernels.

function kernels(asked: Asked): Answered<Kernels> {
  const { report, limit, offset, kernels: globs, regions: ofRegions } = asked;
  const { chosen: some } = chosenRegions(ofRegions, [withFamilies(report), report]);
  const within = ofRegions.length === 0 ? report : { ...report, regions: outermost(some) };
  const all = kernelsOfReport(within);
  const patterns = globs.map(parseGlob);
  const chosen = (patterns.length === 0 ? all.longest(offset + limit) : all.longest()).filter(
    ({ kernel_name }) =>
      patterns.length === 0 || patterns.some((glob) => matchesGlob(glob, kernel_name)),
  );
  if (chosen.length === 0 && all.length > 0) {
    const available = all.longest(MOST_NAMES).map(({ kernel_name }) => kernel_name);
    throw new ConfigError({
      code: "profile.input",
      message: `no kernel is called ${globs.map((glob) => `'${glob}'`).join(" or ")}`,
      available,
      nearest: nearest(globs[0] ?? "", available),
    });
  }
  const rows = pageOf(asked, chosen);
  const whole = wholeMs(report);
  const share = (kernel: KernelRecord) => percentOf(kernelMs(kernel), whole);
  const fields: readonly Field<KernelRecord>[] = [
    { title: "Name", cell: ({ kernel_name }) => printableLabel(kernel_name) },
    { title: "Device", cell: ({ device }) => device },
    { title: "Calls", cell: ({ calls }) => calls },
    { title: "Total ms", format: "ms", cell: kernelMs },
    { title: "Share %", format: "percent", cell: share },
  ];
  return {
    answer: {
      whole_ms: whole,
      kernels: rows.map((kernel) => ({
        kernel_name: kernel.kernel_name,
        kind: kernel.kind,
        device: kernel.device,
        calls: kernel.calls,
        total_ms: kernelMs(kernel),
        mean_ms: meanMs(kernel),
        share_pct: share(kernel),
        mostly_in: kernel.mostlyIn,
        hardware: kernel.hardware ?? null,
      })),
    },
    items: { total: patterns.length === 0 ? all.length : chosen.length, shown: rows.length },
    blocks:
      all.length === 0
        ? [
            paragraph(
              `No GPU kernels or CPU operations were recorded${ofRegions.length === 0 ? "" : " in these regions"}.`,
            ),
          ]
        : [
            tableOf(fields, rows),
            ...wholeWords(whole, `total ${reportKernelWords(report)?.time ?? "time"}`),
          ],
  };
}

// Calls of CUDA and of the system.

/** The regions of a call that an answer has. */
const MOST_CALLERS = 5;

const timesOf = ({
  calls,
  total_ms,
  min_ms,
  max_ms,
}: Pick<HostCallSum, "calls" | "total_ms" | "min_ms" | "max_ms">) => ({
  calls,
  total_ms,
  mean_ms: total_ms / calls,
  min_ms,
  max_ms,
});

function calls(asked: Asked): Answered<Calls> {
  const { chosen } = chosenRegions(asked.regions, [withFamilies(asked.report), asked.report]);
  const all = hostCallSums(chosen);
  const whole = new Map<HostCallSum["api"], number>();
  for (const { api, total_ms } of all) whole.set(api, (whole.get(api) ?? 0) + total_ms);
  const share = ({ api, total_ms }: HostCallSum) => percentOf(total_ms, whole.get(api) ?? null);
  const rows = pageOf(asked, all);
  const fields: readonly Field<HostCallSum>[] = [
    { title: "API", cell: ({ api }) => api },
    { title: "Function", cell: ({ name }) => printableLabel(name) },
    { title: "Calls", format: "count", cell: (row) => row.calls },
    { title: "Total ms", format: "ms", cell: ({ total_ms }) => total_ms },
    { title: "Mean ms", format: "mean_ms", cell: (row) => row.total_ms / row.calls },
    { title: "Min ms", format: "mean_ms", cell: ({ min_ms }) => min_ms },
    { title: "Max ms", format: "mean_ms", cell: ({ max_ms }) => max_ms },
    { title: "Most in", cell: mostIn },
  ];
  return {
    answer: {
      calls: rows.map((row) => ({
        api: row.api,
        name: row.name,
        ...timesOf(row),
        share_pct: share(row),
        regions: row.regions
          .slice(0, MOST_CALLERS)
          .map(({ region, calls: ownCalls }) => ({ ...nameOf(region), ...timesOf(ownCalls) })),
      })),
    },
    items: { total: all.length, shown: rows.length },
    blocks:
      all.length === 0
        ? [paragraph("No calls of CUDA or of the system were recorded: nsys records them.")]
        : [tableOf(fields, rows)],
  };
}

// Time.

async function timeline(asked: Asked): Promise<Answered<Timeline>> {
  const { fromMs, toMs, offset, limit } = asked;
  const slice = await asked.timeline({ fromMs, toMs, limit: offset + limit });
  const { total, spanMs } = slice;
  const events = pageOf(asked, slice.events);
  const later =
    total === 0 && toMs !== null && toMs < spanMs
      ? await asked.timeline({ fromMs: toMs, toMs: null, limit: 1 })
      : null;
  return {
    answer: { run_ms: spanMs, from_ms: asked.fromMs ?? 0, to_ms: asked.toMs ?? spanMs, events },
    items: { total, shown: events.length },
    blocks:
      events.length === 0
        ? [paragraph(nothingIn(asked, slice, later?.events[0]))]
        : [tableOf(eventFields(events), events)],
  };
}

const EVENTS: readonly Field<SliceEvent>[] = [
  { title: "Name", cell: ({ name }) => printableLabel(name) },
  { title: "Kind", cell: ({ kind }) => kind },
  { title: "Where", cell: ({ row }) => row },
  { title: "From ms", format: "ms", cell: ({ start_ms }) => start_ms },
  { title: "For ms", format: "ms", cell: (event) => event.end_ms - event.start_ms },
];

const COUNTER_FIELDS: readonly Field<SliceEvent>[] = [
  { title: "Mean", format: "number", cell: ({ counter }) => counter?.mean ?? null },
  { title: "Unit", cell: ({ counter }) => counter?.unit ?? "" },
];

const eventFields = (events: readonly SliceEvent[]): readonly Field<SliceEvent>[] =>
  events.some(({ counter }) => counter !== undefined) ? [...EVENTS, ...COUNTER_FIELDS] : EVENTS;

function nothingIn(
  { fromMs, toMs, offset }: Asked,
  { total, spanMs }: Slice,
  next: SliceEvent | undefined,
): string {
  const length = `the timeline is ${formatDuration(spanMs)} long`;
  if (total > 0)
    return `No event has number ${offset + 1}: there are ${total} between these times.`;
  if (fromMs !== null && fromMs > spanMs)
    return `Nothing is at ${fromMs} ms: ${length}, from 0 to ${formatMs(spanMs)} ms.`;
  const between = `between ${fromMs ?? 0} and ${toMs ?? formatMs(spanMs)} ms`;
  const begins = next === undefined ? "" : `; the next one begins at ${formatMs(next.start_ms)} ms`;
  return `No range, kernel or other event is ${between}: ${length}${begins}.`;
}

// Comparison.

const changesOf = (changes: Changes) =>
  Object.fromEntries(
    Object.entries(changes).map(([name, { a, b, delta, verdict }]) => [
      name,
      { a, b, delta, verdict },
    ]),
  );

/** The regions that contributed most first, each without the regions inside it. */
async function compare(asked: Asked): Promise<Answered<Compare>> {
  const { names, reports, config } = await asked.compareWith(asked.target);
  const { main_time: time } = reports;
  const families = comparedRows(reports);
  const changed = families
    .filter(
      ({ presence, changes }) =>
        presence !== "both" || Object.values(changes).some(({ verdict }) => verdict !== "same"),
    )
    .map((region) => ({ region, contributed: contributionOf(region, reports) }))
    .sort((x, y) => Math.abs(y.contributed ?? 0) - Math.abs(x.contributed ?? 0));
  const rows = pageOf(asked, changed);
  const lineOf = pathLines(families);
  // What is not a region is in the first answer alone.
  const besides = asked.offset === 0 ? asked.limit : 0;
  const shownKernels = changedKernels(reports).slice(0, besides);
  return {
    answer: {
      names,
      headline: overallSentence(reports),
      main_time: time,
      totals: changesOf(reports.totals),
      regions: rows.map(({ region: { path, domain, kind, family, ...region }, contributed }) => ({
        path,
        domain,
        kind,
        ...(family !== undefined && { family }),
        presence: region.presence,
        ...(region.runs !== undefined && { runs: region.runs }),
        contributed_ms: contributed,
        changes: changesOf(region.changes),
      })),
      kernels: shownKernels.map(({ kernel_name, presence, changes }) => ({
        kernel_name,
        presence,
        changes: changesOf(changes),
      })),
      config: config?.slice(0, besides) ?? null,
      notes: reports.notes.slice(0, besides),
    },
    items: { total: changed.length, shown: rows.length },
    blocks: [
      paragraph(`${names.a} -> ${names.b}`),
      paragraph(overallSentence(reports)),
      tableOf(
        [
          { title: "Region", cell: ({ region }) => printableLabel(lineOf(region)) },
          {
            title: "Contributed ms",
            format: "change_ms",
            cell: ({ contributed }) => contributed,
          },
          { title: "A ms", format: "ms", cell: ({ region }) => region.changes[time]?.a ?? null },
          { title: "B ms", format: "ms", cell: ({ region }) => region.changes[time]?.b ?? null },
          {
            title: "Change ms",
            format: "change_ms",
            cell: ({ region }) => region.changes[time]?.delta ?? null,
          },
          {
            title: "%",
            format: "change_percent",
            cell: ({ region }) => region.changes[time]?.relative ?? null,
          },
          {
            title: "",
            cell: ({ region: { changes } }) => {
              const change = changes[time];
              return change === undefined ? "" : VERDICTS[change.verdict];
            },
          },
        ],
        rows,
      ),
      paragraph(`${timeLabel(reports, time)}; contributed: without the regions inside.`),
    ],
  };
}
