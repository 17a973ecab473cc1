/** Blocks as Markdown that displays exactly their text. */
import { printable } from "../foundation/text/printable.ts";
import {
  type Block,
  type Cell,
  type Column,
  cellText,
  type Span,
  type Table,
  type Text,
} from "./blocks.ts";

/**
 * Escapes a text so that Markdown displays exactly that text, in a paragraph, a heading or a table cell. Names come
 * from profiled programs: they must not become markup, HTML, links or mentions of people.
 */
export const escapeMarkdown = (text: string): string =>
  printable(text)
    .replaceAll(/[&<>]/g, (character) => ENTITIES[character] ?? character)
    .replaceAll(/[\\`*_{}[\]|~#$!]/g, "\\$&")
    // At the start of an item, these would begin a nested list.
    .replace(/^([-+]|\d+[.)])(?=[\s-]|$)/, (mark) => `${mark.slice(0, -1)}\\${mark.slice(-1)}`)
    .replaceAll("@", "&#64;")
    .replaceAll("://", "&#58;//")
    .replaceAll(/\bwww\./gi, (found) => `${found.slice(0, -1)}&#46;`);

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/**
 * A text as inline code, which may contain any characters, including backticks and the pipes of table cells. A text
 * with a pipe after a backslash is not shown as code: Markdown readers disagree on how many backslashes keep it in a
 * cell.
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

/** A link to a file of the same report, by its relative path. */
export const markdownLink = (text: string, path: string): string =>
  `[${escapeMarkdown(text)}](${relativeLink(path)})`;

/** Blocks separated by blank lines, with one newline at the end. */
export const renderMarkdown = (blocks: Iterable<Block>): string =>
  [...markdownPieces(blocks)].join("");

/** The same in pieces: a report can exceed the longest string. */
export function* markdownPieces(blocks: Iterable<Block>): Generator<string> {
  let separator = "";
  for (const block of blocks) {
    yield separator;
    yield* blockPieces(block);
    separator = "\n\n";
  }
  yield "\n";
}

function* blockPieces(block: Block): Generator<string> {
  switch (block.type) {
    case "heading":
      yield `${"#".repeat(block.level)} ${markdownText(block.text)}`;
      break;
    case "paragraph":
      yield markdownText(block.text);
      break;
    case "list":
      yield* separated(block.items, (item) => `- ${markdownText(item)}`);
      break;
    case "bar":
      yield `${escapeMarkdown(block.title)}: ${block.parts.map(({ text }) => escapeMarkdown(text)).join(" · ")}`;
      break;
    case "table":
      yield* tablePieces(block);
  }
}

function* separated(items: Iterable<Text>, line: (item: Text) => string): Generator<string> {
  let separator = "";
  for (const item of items) {
    yield `${separator}${line(item)}`;
    separator = "\n";
  }
}

function* tablePieces({ columns, rows }: Table): Generator<string> {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const isRight = ({ align, format }: Column) => align === "right" || format !== undefined;
  yield line(columns.map(({ title }) => escapeMarkdown(title)));
  yield `\n${line(columns.map((column) => (isRight(column) ? "---:" : "---")))}`;
  for (const { cells } of rows)
    yield `\n${line(columns.map((column, index) => cellMarkdown(cells[index] ?? null, column)))}`;
}

function cellMarkdown(cell: Cell, column: Column): string {
  if (cell === null || typeof cell === "number") return cellText(cell, column);
  if (typeof cell === "string" || !("kind" in cell)) return markdownText(cell);
  if (cell.kind === "measured") return cellText(cell, column);
  return `${cell.kind === "label" ? markdownIndent(cell.level) : ""}${escapeMarkdown(cell.text)}`;
}

const markdownText = (text: Text): string =>
  typeof text === "string" ? escapeMarkdown(text) : text.map(spanMarkdown).join("");

function spanMarkdown(span: Span): string {
  if (typeof span === "string") return escapeMarkdown(span);
  switch (span.kind) {
    case "code":
      return markdownCode(span.text);
    case "region":
    case "strong":
      return `**${escapeMarkdown(span.text)}**`;
    case "link":
      return markdownLink(span.text, span.path);
    case "number":
      return span.text;
  }
}

/** Spaces that Markdown keeps at the start of a table cell, to indent the levels of a tree. */
const markdownIndent = (level: number): string =>
  level === 0 ? "" : `${"\u00a0\u00a0\u00a0".repeat(level - 1)}└\u00a0`;

/** The URL of a file beside a report, made from its relative path; safe in Markdown and in HTML. */
export const relativeLink = (path: string): string => path.split("/").map(encode).join("/");

/** Lone surrogates cannot be encoded, so they are replaced. Characters that Markdown may interpret are encoded, too. */
const encode = (segment: string): string =>
  encodeURIComponent(segment.replaceAll(/\p{Cs}/gu, "\ufffd")).replaceAll(
    /[()'!*~]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
