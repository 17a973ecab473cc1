/**
 * A report as data: headings, paragraphs, lists and tables without any markup. Views make blocks of documents, and
 * `report/render` writes any block as Markdown, for a terminal, as HTML or as CSV. No Node here: the scripts of pages
 * import it, too.
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

/** Also of notes: an item each. */
export interface List {
  readonly type: "list";
  readonly items: Iterable<Text>;
}

/** A whole in parts, drawn in proportion. */
export interface Bar {
  readonly type: "bar";
  readonly title: string;
  readonly parts: readonly BarSegment[];
  /** Whether it is one of several below the whole, which takes little room. */
  readonly isDetail?: true;
}

export interface BarSegment {
  /** Decides its colour and pattern, the same in all bars. */
  readonly kind: string;
  /** With its number, for people. */
  readonly text: string;
  /** Of the whole, from 0 to 1. */
  readonly share: number;
}

/** Plain text, or parts with a meaning; every renderer escapes it. */
export type Text = string | readonly Span[];

export type Span = string | MarkedSpan | Link | RegionLink;

/** `number`: written by this project, so that no renderer escapes it. */
export interface MarkedSpan {
  readonly kind: "code" | "strong" | "number";
  readonly text: string;
}

/** To a file beside the report, by its relative path. */
export interface Link {
  readonly kind: "link";
  readonly text: string;
  readonly path: string;
}

/** To a region of the same report, where the medium can show one by itself; else its name. */
export interface RegionLink {
  readonly kind: "region";
  /** Its whole path, which the page finds it by. */
  readonly text: string;
}

export interface Table {
  readonly type: "table";
  readonly columns: readonly Column[];
  /** Read once: a table can be longer than the memory. */
  readonly rows: Iterable<Row>;
}

export interface Column {
  readonly title: string;
  /** For narrow tables. */
  readonly short?: string;
  /** What the numbers mean, in a sentence. */
  readonly hint?: string;
  /** Of the numbers in its cells, which are aligned to the right. */
  readonly format?: NumberFormat;
  readonly align?: "right";
  /**
   * On a narrow terminal, columns with the highest number are shortened or dropped first; those with 0, and those
   * without a number, always stay.
   */
  readonly priority?: number;
  /** Whether its cells show the tone of their rows, where not whole rows do. */
  readonly tinted?: true;
  /** Whether its cells are words of a small set, each with a colour of its own. */
  readonly isMark?: true;
  /** Whether its cells hold sentences: broken after every word they would make rows very high. */
  readonly prose?: true;
}

export interface Row {
  /** One for each column. */
  readonly cells: readonly Cell[];
  readonly tone?: Tone;
}

/** What a row says to the reader: shown by colour where there is any. */
export type Tone = "better" | "worse" | "doubtful" | "new" | "minor" | "hot";

/** A number has the format of its column; null was not measured. */
export type Cell = number | Text | TreeLabel | Measured | TwoLengths | null;

/** The name of a region in the rows of a tree. Safe to print. */
export interface TreeLabel {
  readonly kind: "label";
  readonly text: string;
  /** How many of the shown regions contain it. */
  readonly level: number;
  /** Whether it stands alone, with its whole path: of one that is too long the end is shown. */
  readonly isPath?: true;
  /** Its path, where the rows above do not show it. */
  readonly path?: string;
}

/** A number with half of its 95 % interval, both in the format of the column; null: unknown. */
export interface Measured {
  readonly kind: "measured";
  readonly value: number | null;
  readonly uncertainty: number | null;
  /** The value is the least that it can be: shown as `≥ 3.5`. */
  readonly isAtLeast?: true;
}

/** Text of which a part is enough where there is no room. */
export interface TwoLengths {
  readonly kind: "two_lengths";
  readonly text: string;
  readonly short: string;
}

/** A column together with what its cells hold. */
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

/** Empty for no items: a list without items says nothing. */
export const listIfAny = (items: readonly Text[]): readonly List[] =>
  items.length === 0 ? [] : [list(items)];

/** A part with its heading; nothing for an empty part. */
export const withHeading = (
  title: string,
  blocks: readonly Block[],
  level: 2 | 3 = 2,
): readonly Block[] => (blocks.length === 0 ? [] : [heading(level, title), ...blocks]);

/** A row for each item. */
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
/** A number that is formatted already. */
export const numeral = (text: string): MarkedSpan => ({ kind: "number", text });
export const regionLink = (text: string): RegionLink => ({ kind: "region", text });
export const link = (text: string, path: string): Link => ({ kind: "link", text, path });

/** Without its marks. */
export const plainText = (text: Text): string =>
  typeof text === "string"
    ? text
    : text.map((span) => (typeof span === "string" ? span : span.text)).join("");

/** @param isShort whether there is little room */
export function cellText(cell: Cell, { format }: Pick<Column, "format">, isShort = false): string {
  if (cell === null || typeof cell === "number") return formatAs(cell, format);
  if (typeof cell === "string" || !("kind" in cell)) return plainText(cell);
  if (cell.kind === "measured") return measuredText(cell, format, isShort);
  return isShort && cell.kind === "two_lengths" ? cell.short : cell.text;
}

function measuredText(
  { value, uncertainty, isAtLeast }: Measured,
  format: NumberFormat | undefined,
  isShort: boolean,
): string {
  const half = isShort ? null : uncertainty;
  if (format === "change_ms") return formatDelta(value, half);
  const least = isAtLeast === true && value !== null ? "≥ " : "";
  return `${least}${formatAs(value, format)}${half === null ? "" : ` ±${formatAs(half, format)}`}`;
}
