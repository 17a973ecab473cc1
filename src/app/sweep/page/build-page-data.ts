/** The jobs of a sweep, or of several to compare, as the data of a page: in columns, since those are short. */
import type { SweepRow } from "../../job/options.ts";
import type { LearningCurve } from "./curve-types.ts";
import {
  LEFT_OUT,
  type PageColumn,
  type PageCurve,
  type PageLinks,
  type PageObjective,
  type SweepPageData,
} from "./sweep-page-data.ts";

/** A sweep on a page. */
export interface PageSweep {
  readonly name: string;
  readonly rows: readonly SweepRow[];
  /** What jobs are judged by: names of columns, each with its direction. */
  readonly judgement: readonly PageObjective[];
  /** Paths of a job's files from the page; absent on a page that cannot link files. */
  readonly linksOf?: (row: SweepRow) => PageLinks;
  /** What a job measured while it ran. */
  readonly curvesOf?: (row: SweepRow) => readonly LearningCurve[];
}

/** The status of a job as tables and pages have it: a completed or pruned one that does not count has a word of its own. */
export const shownStatus = ({ left_out, status }: Pick<SweepRow, "left_out" | "status">): string =>
  left_out ? LEFT_OUT : status;

interface Level {
  readonly jobs: number;
  readonly columns: number;
  /** Characters of a text. */
  readonly text: number;
  /** Jobs with their curves. */
  readonly curves: number;
}

/** A browser shows a larger page slowly, and mail refuses it. */
export const MOST_BYTES = 3_000_000;

const LEVELS: readonly Level[] = [
  { jobs: 20_000, columns: 200, text: 500, curves: 400 },
  { jobs: 20_000, columns: 60, text: 120, curves: 400 },
  { jobs: 20_000, columns: 24, text: 60, curves: 200 },
  { jobs: 10_000, columns: 16, text: 40, curves: 100 },
  { jobs: 3_000, columns: 12, text: 40, curves: 50 },
  { jobs: 500, columns: 8, text: 30, curves: 20 },
];

/** The data of a page at the highest level of detail that keeps it below its maximum size. */
export function sweepPageData(
  sweeps: readonly PageSweep[],
  options: { readonly isLive?: true } = {},
): SweepPageData {
  let data: SweepPageData | undefined;
  for (const level of LEVELS) {
    data = { ...dataAt(sweeps, level), ...options };
    if (JSON.stringify(data).length <= MOST_BYTES) break;
  }
  return data ?? dataAt([], { jobs: 0, columns: 0, text: 0, curves: 0 });
}

interface PlacedRow {
  readonly sweep: number;
  readonly row: SweepRow;
}

function dataAt(sweeps: readonly PageSweep[], level: Level): SweepPageData {
  const all = sweeps.flatMap(({ rows }, sweep) => rows.map((row): PlacedRow => ({ row, sweep })));
  const rows = chosenRows(all, level.jobs, sweeps);
  const [first] = sweeps;
  const table = openTexts(level.text);
  const parameters = columnsOf(rows.map(({ row }) => Object.entries(row.swept)));
  const constant = (values: readonly unknown[]): boolean =>
    rows.length > 1 && values.every((value) => value !== undefined && value === values[0]);
  const constants = [...parameters].filter(([, values]) => constant(values.map(keyOf)));
  for (const [key] of constants) parameters.delete(key);
  const results = columnsOf(rows.map(({ row }) => fieldsOf(row.result)));
  const shown = {
    parameters: [...parameters].slice(0, level.columns),
    results: mostWanted([...results], sweeps).slice(0, level.columns),
  };
  const column = ([title, values]: [string, readonly unknown[]]): PageColumn => ({
    // Nobody sees a heading of blanks.
    title: title.trim() === "" ? JSON.stringify(title) : cut(title, level.text),
    ...valuesOf(values, table.indexOf),
  });
  const linked = rows.map(({ row, sweep }) => sweeps[sweep]?.linksOf?.(row));
  const linksAt = (name: keyof PageLinks): readonly number[] =>
    linked.map((links) => table.indexOf(links?.[name] ?? "", true));
  const columnsLeft =
    parameters.size + results.size - shown.parameters.length - shown.results.length;
  return {
    sweeps: sweeps.map(({ name }) => cut(name, level.text)),
    judgement: (first?.judgement ?? []).map((objective) => ({
      ...objective,
      column: cut(objective.column, level.text),
    })),
    constants: constants
      .slice(0, level.columns)
      .map(([key, values]) => cut(`${key}=${textOf(values[0])}`, level.text)),
    parameters: shown.parameters.map(column),
    results: shown.results.map(column),
    ...(sweeps.length > 1 && { sweep: rows.map(({ sweep }) => sweep) }),
    number: rows.map(({ row }) => row.number),
    status: rows.map(({ row }) => shownStatus(row)),
    attempts: rows.map(({ row }) => row.attempts),
    seconds: rows.map(({ row }) => row.seconds && Number(row.seconds.toPrecision(6))),
    started: rows.map(({ row }) => (row.started === null ? null : Date.parse(row.started))),
    ...(rows.some(({ row }) => row.continues !== null) && {
      continues: rows.map(({ row }) => row.continues ?? -1),
    }),
    error: rows.map(({ row }) => table.indexOf(row.error ?? "")),
    links: linked.every((links) => links === undefined)
      ? null
      : { files: linksAt("files"), log: linksAt("log"), report: linksAt("report") },
    curves: curvesOfRows(rows, sweeps, level),
    texts: table.texts,
    left: [
      ...(rows.length < all.length
        ? [`${rows.length} of ${all.length} jobs are shown, evenly chosen; sweep.csv has all.`]
        : []),
      ...(columnsLeft > 0
        ? [`${columnsLeft} columns are left out; sweep.csv and sweep.json have them.`]
        : []),
    ],
  };
}

/** At most so many jobs, evenly chosen, and the best of each sweep. */
function chosenRows(
  all: readonly PlacedRow[],
  most: number,
  sweeps: readonly PageSweep[],
): readonly PlacedRow[] {
  if (all.length <= most) return all;
  const kept = new Set(
    Array.from({ length: most }, (_, index) => all[Math.floor((index * all.length) / most)]),
  );
  for (const [sweep, { judgement }] of sweeps.entries()) {
    const [objective] = judgement;
    if (objective === undefined) continue;
    const sign = objective.direction === "minimize" ? 1 : -1;
    let best: { readonly placed: PlacedRow; readonly value: number } | undefined;
    for (const placed of all) {
      if (placed.sweep !== sweep || placed.row.left_out) continue;
      const value = fieldsOf(placed.row.result).find(([name]) => name === objective.column)?.[1];
      if (typeof value !== "number") continue;
      if (best === undefined || sign * value < sign * best.value) best = { placed, value };
    }
    kept.add(best?.placed);
  }
  return all.filter((placed) => kept.has(placed));
}

/** The metrics of a job that are shown, and the points of each. */
const MOST_CURVES = 6;
const MOST_POINTS = 60;

/** The curves of some jobs, evenly chosen, and of the best of each sweep. */
function curvesOfRows(
  rows: readonly PlacedRow[],
  sweeps: readonly PageSweep[],
  { curves, text }: Level,
): readonly PageCurve[] {
  if (sweeps.every(({ curvesOf }) => curvesOf === undefined)) return [];
  const places = new Map(rows.map((placed, row) => [placed, row]));
  return chosenRows(rows, curves, sweeps).flatMap((placed) =>
    (sweeps[placed.sweep]?.curvesOf?.(placed.row) ?? [])
      .slice(0, MOST_CURVES)
      .map((curve): PageCurve => {
        const { metric, steps, values } = thinnedCurve(curve, MOST_POINTS);
        return {
          row: places.get(placed) ?? 0,
          title: cut(metric, text),
          steps,
          values: values.map((value) => Number(value.toPrecision(6))),
        };
      }),
  );
}

/** At most so many points of a curve, evenly chosen, with the first and the last. */
export function thinnedCurve(curve: LearningCurve, most: number): LearningCurve {
  const { metric, steps, values } = curve;
  if (steps.length <= most) return curve;
  const places = Array.from({ length: most }, (_, index) =>
    Math.round((index * (steps.length - 1)) / (most - 1)),
  );
  const pick = (all: readonly number[]) => places.map((place) => all[place] ?? 0);
  return { metric, steps: pick(steps), values: pick(values) };
}

/** What jobs are judged by comes first, then columns with numbers. */
function mostWanted(
  columns: readonly [string, readonly unknown[]][],
  sweeps: readonly PageSweep[],
): readonly [string, readonly unknown[]][] {
  const judged = new Set(sweeps.flatMap(({ judgement }) => judgement.map(({ column }) => column)));
  const rank = ([title]: [string, unknown]): number => (judged.has(title) ? 0 : 1);
  return columns.toSorted((a, b) => rank(a) - rank(b));
}

/** The values of each name, undefined where a record has none. */
function columnsOf(
  records: readonly (readonly (readonly [string, unknown])[])[],
): Map<string, unknown[]> {
  const columns = new Map<string, unknown[]>();
  for (const [index, record] of records.entries())
    for (const [name, value] of record) {
      let values = columns.get(name);
      if (values === undefined) {
        values = records.map(() => undefined);
        columns.set(name, values);
      }
      values[index] = value;
    }
  return columns;
}

/** Longer lists of numbers are one value. */
const LONGEST_LIST = 8;

/**
 * The parts of a result, by their names: `val.loss` of a record in a record, `result` for one that is no record.
 *
 * @param splitsLists whether short lists of numbers have a part for each: `result[0]`
 */
export function fieldsOf(
  result: unknown,
  {
    path = "",
    splitsLists = true,
  }: { readonly path?: string; readonly splitsLists?: boolean } = {},
): readonly (readonly [string, unknown])[] {
  const name = path || "result";
  if (splitsLists && Array.isArray(result) && result.length > 0 && result.length <= LONGEST_LIST)
    if (result.every((value) => typeof value === "number"))
      return result.map((value, index) => [`${name}[${index}]`, value]);
  if (result === null || typeof result !== "object" || Array.isArray(result))
    return path === "" && result === null ? [] : [[name, result]];
  return Object.entries(result).flatMap(([key, value]) =>
    fieldsOf(value, { path: path === "" ? key : `${path}.${key}`, splitsLists }),
  );
}

/** The records hold them as texts, since JSON has no such numbers. */
const NO_NUMBER = /^(?:nan|[-+]?inf(?:inity)?)$/i;

/** A column is one of numbers if it has any, and otherwise what floats may be. */
function valuesOf(
  values: readonly unknown[],
  code: (text: string) => number,
): Omit<PageColumn, "title"> {
  const isNumber = (value: unknown): value is number => typeof value === "number";
  const isNone = (value: unknown) => value === undefined || value === null;
  const isNumeric =
    values.some(isNumber) &&
    values.every(
      (value) =>
        isNumber(value) || isNone(value) || (typeof value === "string" && NO_NUMBER.test(value)),
    );
  if (!isNumeric)
    return { words: values.map((value) => (value === undefined ? -1 : code(textOf(value)))) };
  const words: Record<number, number> = {};
  for (const [index, value] of values.entries())
    if (typeof value === "string") words[index] = code(value);
  return {
    numbers: values.map((value) => (isNumber(value) ? Number(value.toPrecision(10)) : null)),
    ...(Object.keys(words).length > 0 && { words }),
  };
}

const keyOf = (value: unknown): string | undefined =>
  value === undefined ? undefined : JSON.stringify(value);

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");

const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1)}…`;

/** Gives texts their indices; the empty text has -1. */
function openTexts(most: number) {
  const texts: string[] = [];
  const indices = new Map<string, number>();
  return {
    texts,
    /** @param isWhole whether it must not be cut, as a path */
    indexOf(text: string, isWhole = false): number {
      if (text === "") return -1;
      const shown = isWhole ? text : cut(text, most);
      const existing = indices.get(shown);
      if (existing !== undefined) return existing;
      texts.push(shown);
      indices.set(shown, texts.length - 1);
      return texts.length - 1;
    },
  };
}
