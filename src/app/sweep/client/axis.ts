/** Axes of charts of jobs: where the value of each job stands, from 0 to 1, and the ticks. */
import { extentOf } from "../../../pages/client/plot.ts";
import { formatNumber } from "../../../pages/numbers.ts";
import type { PageColumn } from "../page/sweep-page-data.ts";

export interface Axis {
  readonly title: string;
  /** The place of a job by its row, from 0 to 1; null where it has no value. */
  readonly place: (row: number) => number | null;
  readonly ticks: readonly Tick[];
  /** Whether its values have an order. */
  readonly isOrdered: boolean;
}

export interface Tick {
  readonly position: number;
  readonly text: string;
}

/** From this ratio on, most values would be at one end. */
const LOG_RATIO = 50;
/** Room beside the outermost values. */
const PADDING = 0.03;

/** @param textOf of a tick; default: the number */
export function numberAxis(
  title: string,
  values: readonly (number | null)[],
  {
    rows,
    textOf = formatNumber,
    scale,
  }: {
    /** Those whose values the axis shows. */
    readonly rows: readonly number[];
    readonly textOf?: (value: number) => string;
    /** Default: that on which the middle value is nearer to the middle. */
    readonly scale?: "linear" | "log";
  },
): Axis {
  const present = rows.flatMap((row) => values[row] ?? []);
  const [low, high] = extentOf(present);
  const isLog =
    scale !== "linear" &&
    low > 0 &&
    high / low >= LOG_RATIO &&
    (scale === "log" || isLogarithmic(present, low, high));
  const step = present.every(Number.isInteger) ? 1 : 0;
  const [from, to] = isLog ? [Math.log10(low), Math.log10(high)] : [low, high];
  const room = to > from ? (to - from) * PADDING : Math.abs(from) / 2 || 1;
  const [start, length] = [from - room, to - from + 2 * room];
  const position = (value: number): number =>
    ((isLog ? Math.log10(value) : value) - start) / (length || 1);
  const ticks = Number.isFinite(low)
    ? isLog
      ? logTicks(low, high)
      : evenTicks(low, high, step)
    : [];
  return {
    title: isLog ? `${title} (log)` : title,
    isOrdered: true,
    place: (row) => {
      const value = values[row] ?? null;
      return value === null || (isLog && value <= 0) ? null : position(value);
    },
    ticks: ticks.map((tick) => ({ position: position(tick), text: textOf(tick) })),
  };
}

/** Whether the middle value stands nearer to the middle of a logarithmic axis than to that of a linear one. */
function isLogarithmic(values: readonly number[], low: number, high: number): boolean {
  const middle = values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? low;
  const linear = (middle - low) / (high - low);
  const logarithmic = Math.log(middle / low) / Math.log(high / low);
  return Math.abs(logarithmic - 0.5) < Math.abs(linear - 0.5);
}

/**
 * About five steps of 1, 2 or 5 times a power of ten.
 *
 * @param least the smallest step; 1 for integers
 */
export function evenTicks(low: number, high: number, least = 0): readonly number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(least, ([1, 2, 5].find((each) => each * power >= rough) ?? 10) * power);
  const first = Math.ceil(low / step);
  const ticks = [];
  for (let index = first; index * step <= high && ticks.length < 12; index++)
    ticks.push(Number((index * step).toPrecision(12)));
  return ticks;
}

/** Powers of ten; with few of them 2 and 5 times as much, too. */
export function logTicks(low: number, high: number): readonly number[] {
  const [from, to] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const step = Math.ceil((to - from) / 6);
  const factors = high / low > 1000 ? [1] : [1, 2, 5];
  const ticks = [];
  for (let power = from; power <= to; power += step)
    for (const factor of factors) ticks.push(Number(`${factor}e${power}`));
  return ticks.filter((tick) => tick >= low && tick <= high);
}

/** More values are grouped: nobody tells them apart. */
const MOST_VALUES = 40;

/** @param words the index of a text for each row, -1 for none */
function wordAxis(title: string, words: readonly number[], texts: readonly string[]): Axis {
  const uses = new Set(words.filter((word) => word >= 0));
  const order = [...uses].sort((a, b) => byText(texts[a] ?? "", texts[b] ?? ""));
  const places = new Map(order.map((word, index) => [word, (index + 0.5) / order.length]));
  const step = Math.ceil(order.length / MOST_VALUES);
  return {
    title,
    isOrdered: false,
    place: (row) => places.get(words[row] ?? -1) ?? null,
    ticks: order.flatMap((word, index) =>
      index % step === 0 ? [{ position: places.get(word) ?? 0, text: texts[word] ?? "" }] : [],
    ),
  };
}

const { compare: byText } = new Intl.Collator("en", { numeric: true });

/** @param rows those that the axis shows */
export const columnAxis = (
  { title, numbers, words }: PageColumn,
  texts: readonly string[],
  rows: readonly number[],
): Axis =>
  numbers === undefined
    ? wordAxis(title, Array.isArray(words) ? words : [], texts)
    : numberAxis(title, numbers, { rows });
