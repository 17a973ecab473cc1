/** The jobs of a page, and what the reader has chosen of them. */
import { formatNumber, NOT_MEASURED } from "../../../pages/numbers.ts";
import {
  type BetterWhen,
  LEFT_OUT,
  type PageColumn,
  type SweepPageData,
} from "../page/sweep-page-data.ts";
import { ranks } from "./forest.ts";

/** A number of each job. */
export interface Metric {
  readonly title: string;
  readonly numbers: readonly (number | null)[];
}

/** Columns of numbers that jobs returned, and how long they took; jobs that do not count have none. */
export function metricsOf({ results, seconds, status }: SweepPageData): readonly Metric[] {
  const isLeftOut = status.includes(LEFT_OUT);
  const counted = (numbers: Metric["numbers"]): Metric["numbers"] =>
    isLeftOut ? numbers.map((value, row) => (status[row] === LEFT_OUT ? null : value)) : numbers;
  return [
    ...results.flatMap(({ title, numbers }) =>
      numbers === undefined ? [] : [{ title, numbers: counted(numbers) }],
    ),
    { title: "seconds", numbers: counted(seconds) },
  ];
}

/** The metric that the sweep is about: that of its settings, else the first. */
export function mainMetric(data: SweepPageData): Metric {
  const metrics = metricsOf(data);
  const [first = { title: "seconds", numbers: [] }] = metrics;
  const [wanted] = data.judgement;
  return metrics.find(({ title }) => title === wanted?.column) ?? first;
}

export const directionIn = ({ judgement }: SweepPageData, title: string): BetterWhen =>
  judgement.find(({ column }) => column === title)?.direction ?? "minimize";

/** The cell of a column as text. */
export function cellOf(
  column: PageColumn,
  row: number,
  texts: readonly string[],
): string | number | null {
  const number = column.numbers?.[row] ?? null;
  if (number !== null) return number;
  const word = (column.words as Readonly<Record<number, number>> | undefined)?.[row] ?? -1;
  return texts[word] ?? null;
}

/** `#3 lr=0.1 model=b: loss 0.25`, `#4 lr=1: failed` */
export function describedJob(data: SweepPageData, row: number, { title, numbers }: Metric): string {
  const { parameters, texts } = data;
  const set = parameters.slice(0, MOST_DESCRIBED).flatMap((column) => {
    const cell = cellOf(column, row, texts);
    return cell === null ? [] : [`${column.title}=${shownCell(cell)}`];
  });
  const value = numbers[row] ?? null;
  const column = data.results.find((result) => result.title === title);
  const cell = value ?? (column === undefined ? null : cellOf(column, row, texts));
  // A number beside no value is that of a job that does not count, a text is NaN or an infinity.
  const end =
    value === null && typeof cell !== "string"
      ? (data.status[row] ?? "")
      : `${title} ${shownCell(cell)}`;
  const more = parameters.length > MOST_DESCRIBED ? " …" : "";
  return `${jobName(data, row)}${set.map((text) => ` ${text}`).join("")}${more}: ${end}`;
}

const MOST_DESCRIBED = 8;

export function jobName({ number, sweep, sweeps }: SweepPageData, row: number): string {
  const job = `#${number[row]}`;
  return sweep === undefined ? job : `${sweeps[sweep[row] ?? 0]} ${job}`;
}

export const shownCell = (cell: string | number | null): string =>
  cell === null ? NOT_MEASURED : typeof cell === "number" ? formatNumber(cell) : cell;

/** Whether a value is better than the one that it is compared with. */
export const isBetter = (value: number, against: number, direction: BetterWhen): boolean =>
  direction === "minimize" ? value < against : value > against;

/** The row of the best of some jobs; null if none has a value. */
export function bestRow(
  rows: readonly number[],
  { numbers }: Metric,
  direction: BetterWhen,
): number | null {
  let best: number | null = null;
  for (const row of rows) {
    const value = numbers[row] ?? null;
    if (value === null) continue;
    if (best === null || isBetter(value, numbers[best] ?? value, direction)) best = row;
  }
  return best;
}

/** The number of steps from the best jobs to the worst. */
const TONES = 5;

/** The class of each job by its rank: `tone-1` for the best fifth; jobs without a value have none. */
export function tonesOf(
  rows: readonly number[],
  { numbers }: Metric,
  direction: BetterWhen,
): ReadonlyMap<number, string> {
  const present = rows.filter((row) => (numbers[row] ?? null) !== null);
  const places = ranks(present.map((row) => numbers[row] ?? 0));
  return new Map(
    present.map((row, index) => {
      const place = places[index] ?? 0;
      const rank = direction === "minimize" ? place : 1 - place;
      return [row, `tone-${Math.min(TONES, 1 + Math.floor(rank * TONES))}`];
    }),
  );
}

/** The rows that no other is better than in both metrics, in the order of the first. */
export function paretoFront(
  rows: readonly number[],
  [first, second]: readonly [Metric, Metric],
  [direction, other]: readonly [BetterWhen, BetterWhen],
): readonly number[] {
  const present = rows.filter((row) => first.numbers[row] != null && second.numbers[row] != null);
  const x = (row: number) => (first.numbers[row] ?? 0) * (direction === "minimize" ? 1 : -1);
  const y = (row: number) => (second.numbers[row] ?? 0) * (other === "minimize" ? 1 : -1);
  const front: number[] = [];
  for (const row of present.toSorted((a, b) => x(a) - x(b) || y(a) - y(b))) {
    const last = front.at(-1);
    if (last === undefined || y(row) < y(last)) front.push(row);
    else if (y(row) === y(last) && x(row) === x(last)) front.push(row);
  }
  return front;
}

/** At most so many rows: the best ones, and others evenly chosen. */
export function sampled(
  rows: readonly number[],
  most: number,
  tones: ReadonlyMap<number, string>,
): readonly number[] {
  if (rows.length <= most) return rows;
  const best = rows.filter((row) => tones.get(row) === "tone-1").slice(0, most / 4);
  const step = rows.length / (most - best.length);
  const kept = new Set(best);
  for (let index = 0; index < rows.length; index += step) kept.add(rows[Math.floor(index)] ?? 0);
  return rows.filter((row) => kept.has(row));
}
