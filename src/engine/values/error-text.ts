/** The text of an error, with an excerpt of the source and carets: the only place that makes one. */
import pc from "picocolors";
import { firstFew } from "../../foundation/text/plural.ts";
import { visibleControls } from "../../foundation/text/printable.ts";
import type { ErrorDetails } from "./error-details.ts";
import { describeOrigin, lineAt, lineColumn, type Origin } from "./origin.ts";

/** The source text of an excerpt, and the marked part of it. */
interface Excerpt {
  /** The label left of the bar: the line number, or empty for an override. */
  readonly label: string;
  readonly line: string;
  readonly start: number;
  readonly end: number;
}

type Colors = ReturnType<typeof pc.createColors>;

/** Longer lines are cut to a window of this many characters around the place. */
const MAX_WIDTH = 100;
const MAX_AVAILABLE = 20;

/**
 * The text of an error for people. The first line is the message in Hydra's wording; below it come
 * the place, the line itself with carets, the nearest name, what is available, and a hint. All of
 * it is data of the error: nothing else in the project formats errors.
 *
 * @param color whether the text may have colours
 */
export function errorText(details: ErrorDetails<string>, color = false): string {
  const colors = pc.createColors(color);
  const { origin, others = [] } = details;
  const { message, key, nearest, available, hint } = withoutControls(details);
  const lines = [colors.red(colors.bold(message))];
  if (origin !== undefined) lines.push(...place(origin, colors));
  if (key !== undefined && !isNamed(message, key)) lines.push(`  key: ${key}`);
  if (nearest !== undefined) lines.push(`  Did you mean ${colors.green(`'${nearest}'`)}?`);
  const names = (available ?? []).filter((name) => !message.includes(`\t${name}`));
  if (names.length > 0) lines.push(`  Available: ${firstFew(names, MAX_AVAILABLE)}`);
  if (hint !== undefined) lines.push(`  ${colors.cyan("Hint:")} ${hint}`);
  return [...lines, ...others.map((other) => errorText(other.details, color))].join("\n");
}

/** Names of files and keys are untrusted: control characters in them could control a terminal. */
function withoutControls(details: ErrorDetails<string>): Omit<ErrorDetails<string>, "origin"> {
  const { message, key, nearest, available, hint } = details;
  return {
    ...details,
    message: visibleControls(message),
    ...(key !== undefined && { key: visibleControls(key) }),
    ...(nearest !== undefined && { nearest: visibleControls(nearest) }),
    ...(available !== undefined && { available: available.map(visibleControls) }),
    ...(hint !== undefined && { hint: visibleControls(hint) }),
  };
}

/** Whether a text names a key as a whole word, and not as part of a longer one. */
function isNamed(text: string, key: string): boolean {
  if (key === "") return true;
  for (let index = text.indexOf(key); index >= 0; index = text.indexOf(key, index + 1)) {
    const [before, after] = [text.slice(0, index), text.slice(index + key.length)];
    // A dot that ends a sentence is not part of a longer key.
    if (!partBefore().test(before) && !partAfter().test(after)) return true;
  }
  return false;
}

// Functions, since classes of Unicode take their time when an expression is made, and most programs have no error.
const partBefore = () => /[\p{L}\p{N}_.]$/u;
const partAfter = () => /^(?:[\p{L}\p{N}_]|\.[\p{L}\p{N}_])/u;

function place(origin: Origin, colors: Colors): readonly string[] {
  const arrow = `${colors.blue("-->")} ${visibleControls(describeOrigin(origin))}`;
  const excerpt = excerptOf(origin);
  if (excerpt === null) return [`  ${arrow}`];
  const { label, line, start, end } = clip(excerpt);
  const margin = " ".repeat(label.length);
  const bar = colors.blue("|");
  const indent = blank(line.slice(0, start));
  const carets = "^".repeat(Math.max(1, [...line.slice(start, end)].length));
  return [
    `${margin}${arrow}`,
    `${margin} ${bar}`,
    `${colors.blue(label)} ${bar} ${printable(line)}`,
    `${margin} ${bar} ${indent}${colors.red(carets)}`,
  ];
}

function excerptOf(origin: Origin): Excerpt | null {
  if (origin.kind === "override") {
    if (origin.start === undefined || /[\n\r]/.test(origin.text)) return null;
    const { text, start } = origin;
    return { label: " ", line: text, start, end: origin.end ?? start + 1 };
  }
  if (origin.kind !== "file") return null;
  const { text, start } = lineAt(origin.source, origin.start);
  return {
    label: String(lineColumn(origin).line),
    line: text,
    start: origin.start - start,
    // A span over several lines is marked to the end of its first line.
    end: Math.min(origin.end - start, text.length),
  };
}

function clip(excerpt: Excerpt): Excerpt {
  const { label, line, start, end } = excerpt;
  if (line.length <= MAX_WIDTH) return excerpt;
  const from = Math.max(0, Math.min(start - MAX_WIDTH / 2, line.length - MAX_WIDTH));
  const window = line.slice(from, from + MAX_WIDTH);
  return { label, line: window, start: start - from, end: Math.min(end - from, MAX_WIDTH) };
}

/** Spaces of the same width as the text. Tabs are kept, so that carets line up. */
const blank = (text: string): string => [...text].map((c) => (c === "\t" ? c : " ")).join("");

/** Control characters of a broken file must not reach the terminal. */
const printable = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must go
  text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\ufeff]/g, "\ufffd");
