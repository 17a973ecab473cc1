/**
 * A report as data: headings, paragraphs, lists and tables without markup. Views turn documents into blocks, and
 * `report/render` writes blocks as Markdown, terminal text, HTML or CSV. Must not import Node modules: the scripts of
 * pages import it, too.
 */
import { formatAs, formatDelta, type NumberFormat } from "./numbers.ts";

export type Block = Heading | Paragraph | List | Table | Bar;

export interface Heading {
  readonly type: "heading";
  readonly level: 1 | 2 | 3;
  readonly text: Text;
}

export interface Paragraph {
  readonly type: "paragraph";
  readonly text: Text;
}

/** A list; a list of notes has one item per note. */
export interface List {
  readonly type: "list";
  readonly items: Iterable<Text>;
}

/** A bar whose parts are drawn in proportion to their shares. */
export interface Bar {
  readonly type: "bar";
  readonly title: string;
  readonly parts: readonly BarSegment[];
  /** Whether it belongs to a list of details below the main bar, and is drawn smaller. */
  readonly isDetail?: true;
}

export interface BarSegment {
  /** Determines its colour and pattern, which are the same in all bars. */
  readonly kind: string;
  /** The label, including the formatted number. */
  readonly text: string;
  /** Share of the whole, from 0 to 1. */
  readonly share: number;
}

/** Plain text, or parts with a meaning; every renderer escapes it. */
export type Text = string | readonly Span[];

export type Span = string | MarkedSpan | Link | RegionLink;

/** A span; a `number` was formatted by this project, so renderers do not escape it. */
export interface MarkedSpan {
  readonly kind: "code" | "strong" | "number";
  readonly text: string;
}

/** A link to a file of the same report, by relative path. */
export interface Link {
  readonly kind: "link";
  readonly text: string;
  readonly path: string;
}

/** A link to a region of the same report, in media that can show one region; elsewhere only its name. */
export interface RegionLink {
  readonly kind: "region";
  /** The whole path of the region, which identifies it in the page. */
  readonly text: string;
  /** Whether it is a family of regions, which the page lists in a table of its own. */
  readonly isFamily?: true;
}

export interface Table {
  readonly type: "table";
  readonly columns: readonly Column[];
  /** Iterated once: a table may not fit into memory. */
  readonly rows: Iterable<Row>;
}

export interface Column {
  readonly title: string;
  /** A shorter heading for narrow tables. */
  readonly short?: string;
  /** The meaning of the numbers, in one sentence. */
  readonly hint?: string;
  /** The format of numeric cells, which are aligned to the right. */
  readonly format?: NumberFormat;
  readonly align?: "right";
  /**
   * On a narrow terminal, columns with the highest number are shortened or dropped first; those with 0, and those
   * without a number, always stay.
   */
  readonly priority?: number;
  /** Whether its cells, instead of whole rows, show the tone. */
  readonly tinted?: true;
  /** Whether its cells are words of a small set, each with its own colour. */
  readonly isMark?: true;
  /** Whether its cells contain sentences, which are not wrapped after every word, as rows would become very high. */
  readonly prose?: true;
}

export interface Row {
  /** One for each column. */
  readonly cells: readonly Cell[];
  readonly tone?: Tone;
}

/** The meaning of a row, shown by colour if possible. */
export type Tone = "better" | "worse" | "doubtful" | "new" | "minor" | "hot";

/** A cell. A number uses the format of its column; null means not measured. */
export type Cell = number | Text | TreeLabel | Measured | TwoLengths | null;

/** The name of a region in a table of a tree, safe to print. */
export interface TreeLabel {
  readonly kind: "label";
  readonly text: string;
  /** The number of shown regions that contain it. */
  readonly level: number;
  /** Whether it shows its whole path, of which the end is kept if it is too long. */
  readonly isPath?: true;
  /** Its path, if the rows above do not show it. */
  readonly path?: string;
}

/** A number with half of its 95 % confidence interval (null if unknown), both in the format of the column. */
export interface Measured {
  readonly kind: "measured";
  readonly value: number | null;
  readonly uncertainty: number | null;
  /** Whether the value is a lower bound, shown as `≥ 3.5`. */
  readonly isAtLeast?: true;
  /** The interval of a value that does not lie in its middle, shown as `33.1 (12.0…58.1)`. */
  readonly interval?: { readonly low: number; readonly high: number };
}

/** A text with a shorter version for narrow places. */
export interface TwoLengths {
  readonly kind: "two_lengths";
  readonly text: string;
  readonly short: string;
}

/** A column and the function for its cells. */
export interface Field<Item> extends Column {
  readonly cell: (item: Item) => Cell;
}

export const heading = (level: Heading["level"], text: Text): Heading => ({
  type: "heading",
  level,
  text,
});

export const paragraph = (text: Text): Paragraph => ({ type: "paragraph", text });

export const list = (items: Iterable<Text>): List => ({ type: "list", items });

/** A list, or nothing without items. */
export const listIfAny = (items: readonly Text[]): readonly List[] =>
  items.length === 0 ? [] : [list(items)];

/** Blocks below a heading; nothing if there are no blocks. */
export const withHeading = (
  title: string,
  blocks: readonly Block[],
  level: 2 | 3 = 2,
): readonly Block[] => (blocks.length === 0 ? [] : [heading(level, title), ...blocks]);

/** A table with one row per item. */
export const tableOf = <Item>(
  fields: readonly Field<Item>[],
  items: Iterable<Item>,
  toneOf: (item: Item) => Tone | undefined = () => undefined,
): Table => ({
  type: "table",
  columns: fields.map(({ cell, ...column }) => column),
  rows: rowsOf(fields, items, toneOf),
});

const rowsOf = <Item>(
  fields: readonly Field<Item>[],
  items: Iterable<Item>,
  toneOf: (item: Item) => Tone | undefined,
): Iterable<Row> => ({
  *[Symbol.iterator]() {
    for (const item of items) {
      const tone = toneOf(item);
      const cells = fields.map(({ cell }) => cell(item));
      yield tone === undefined ? { cells } : { cells, tone };
    }
  },
});

export const code = (text: string): MarkedSpan => ({ kind: "code", text });
export const strong = (text: string): MarkedSpan => ({ kind: "strong", text });
/** A number that is already formatted. */
export const numeral = (text: string): MarkedSpan => ({ kind: "number", text });
export const regionLink = (text: string): RegionLink => ({ kind: "region", text });
export const familyLink = (text: string): RegionLink => ({ ...regionLink(text), isFamily: true });
/** The part of a page that lists families. */
export const FAMILIES_ID = "families";
export const link = (text: string, path: string): Link => ({ kind: "link", text, path });

/** The text without markup. */
export const plainText = (text: Text): string =>
  typeof text === "string"
    ? text
    : text.map((span) => (typeof span === "string" ? span : span.text)).join("");

/** @param isShort whether space is limited */
export function cellText(cell: Cell, { format }: Pick<Column, "format">, isShort = false): string {
  if (cell === null || typeof cell === "number") return formatAs(cell, format);
  if (typeof cell === "string" || !("kind" in cell)) return plainText(cell);
  if (cell.kind === "measured") return measuredText(cell, format, isShort);
  return isShort && cell.kind === "two_lengths" ? cell.short : cell.text;
}

function measuredText(
  { value, uncertainty, isAtLeast, interval }: Measured,
  format: NumberFormat | undefined,
  isShort: boolean,
): string {
  const half = isShort ? null : uncertainty;
  if (format === "change_ms") return formatDelta(value, half);
  const least = isAtLeast === true && value !== null ? "≥ " : "";
  const around =
    isShort || interval === undefined
      ? ""
      : ` (${formatAs(interval.low, format)}…${formatAs(interval.high, format)})`;
  return `${least}${formatAs(value, format)}${half === null ? "" : ` ±${formatAs(half, format)}`}${around}`;
}
