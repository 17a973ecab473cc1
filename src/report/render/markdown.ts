/** Markdown that shows exactly the text it is made from: tables, lists, links, documents in pieces. */
import { printable, printableLabel } from "../../text/printable.ts";

/**
 * Text as Markdown that shows exactly that text, in a paragraph, a heading or a table cell. Names
 * come from profiled programs: they must not become markup, HTML, links or mentions of people.
 */
export const escapeMarkdown = (text: string): string =>
  printable(text)
    .replaceAll(/[&<>]/g, (character) => ENTITIES[character] ?? character)
    .replaceAll(/[\\`*_{}[\]|~#$!]/g, "\\$&")
    // At the beginning of an item these would begin a list in it.
    .replace(/^([-+]|\d+[.)])(?=[\s-]|$)/, (mark) => `${mark.slice(0, -1)}\\${mark.slice(-1)}`)
    .replaceAll("@", "&#64;")
    .replaceAll("://", "&#58;//")
    .replaceAll(/\bwww\./gi, (found) => `${found.slice(0, -1)}&#46;`);

export const markdownLabel = (label: string): string => escapeMarkdown(printableLabel(label));

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/**
 * Text as inline code; it holds any text, backticks and pipes of table cells included. A pipe behind a backslash
 * is shown as usual text: readers do not agree on how many backslashes keep it in a cell that is code.
 */
export function markdownCode(text: string): string {
  if (text.includes("\\|")) return escapeMarkdown(text);
  const shown = printable(text).replaceAll("|", "\\|");
  let longest = 0;
  for (const [run] of shown.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  const needsSpace = shown === "" || /^[` ]|[` ]$/.test(shown);
  return needsSpace ? `${fence} ${shown} ${fence}` : `${fence}${shown}${fence}`;
}

/** A link to a file of ours by its relative path; the text is Markdown already. */
export const markdownLink = (text: string, path: string): string =>
  `[${text}](${relativeLink(path)})`;

export interface Column {
  readonly heading: string;
  readonly align?: "right";
}

/** A table of cells that are Markdown already. */
export const markdownTable = (
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): string => [...markdownTablePieces(columns, rows)].join("");

/** The same line by line: a table can be longer than one string can be. */
export function* markdownTablePieces(
  columns: readonly Column[],
  rows: Iterable<readonly string[]>,
): Generator<string> {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  yield line(columns.map(({ heading }) => heading));
  yield `\n${line(columns.map(({ align }) => (align === "right" ? "---:" : "---")))}`;
  for (const row of rows) yield `\n${line(row)}`;
}

export const markdownList = (items: readonly string[]): string =>
  [...markdownListPieces(items)].join("");

export function* markdownListPieces(items: Iterable<string>): Generator<string> {
  let before = "- ";
  for (const item of items) {
    yield `${before}${item}`;
    before = "\n- ";
  }
}

/** Blocks with blank lines between, and one newline at the end of the file. */
export const markdownDocument = (blocks: Iterable<MarkdownBlock>): string =>
  [...markdownPieces(blocks)].join("");

/** A text, or its pieces, which are not empty together; null is left out. */
export type MarkdownBlock = string | Iterable<string> | null;

/** The same in pieces. */
export function* markdownPieces(blocks: Iterable<MarkdownBlock>): Generator<string> {
  let before = "";
  for (const block of blocks) {
    if (block === null || block === "") continue;
    yield before;
    if (typeof block === "string") yield block;
    else yield* block;
    before = "\n\n";
  }
  yield "\n";
}

/** Spaces that Markdown keeps at the start of a table cell, for the levels of a tree. */
export const markdownIndent = (level: number): string =>
  level === 0 ? "" : `${"\u00a0\u00a0\u00a0".repeat(level - 1)}└\u00a0`;

/** The URL of a file beside a report, made from its relative path; safe in Markdown and in HTML. */
export const relativeLink = (path: string): string => path.split("/").map(encode).join("/");

/** Lone surrogates cannot be encoded, so they are replaced. Characters that Markdown may interpret are encoded, too. */
const encode = (segment: string): string =>
  encodeURIComponent(segment.replaceAll(/\p{Cs}/gu, "\ufffd")).replaceAll(
    /[()'!*~]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
