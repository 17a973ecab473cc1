/** Edits of defaults lists and headers in the texts of config files. */
import type { DefaultsItem } from "../../engine/compose/sources/config-source.ts";
import type { FileOrigin } from "../../engine/values/origin.ts";
import { type Edit, type FileSpan, spanOf } from "./text-edits.ts";

/** The parts of an item `group: option` in its file, with their places. */
export interface ItemParts {
  /** With its keywords and package, without quotes. */
  readonly key: string;
  readonly keySpan: FileSpan;
  /** Without quotes; empty for an option that is no plain text. */
  readonly value: string;
  readonly valueSpan: FileSpan;
  /** All that is written of the item, without the comment behind it. */
  readonly whole: FileSpan;
}

const ITEM =
  /^(\{\s*)?(["']?)([^"'{}\n]*?[^"'{}\s])\2\s*:(?=\s|$)[ \t]*(?:(["'])([^\n]*?)\4|([^\n]*?))(?=\s+#|\s*[,}\n]|\s*$)/;

/** The parts of an item that is written as `group: option`; undefined for other forms. */
export function itemParts(origin: FileOrigin, cwd: string): ItemParts | undefined {
  const { source, start, end } = origin;
  const text = source.text.slice(start, end);
  const found = ITEM.exec(text);
  if (found === null) return undefined;
  const [all, brace = "", keyQuote = "", key = "", , quoted, plain = ""] = found;
  const span = spanOf(origin, cwd);
  const keyStart = start + brace.length;
  const value = quoted ?? plain;
  const valueEnd = start + all.length;
  const valueStart = valueEnd - value.length - (quoted === undefined ? 0 : 2);
  return {
    key,
    keySpan: { ...span, start: keyStart, end: keyStart + key.length + 2 * keyQuote.length },
    value,
    valueSpan: { ...span, start: valueStart, end: valueEnd },
    whole: { ...span, start, end: start + text.trimEnd().length },
  };
}

/** An edit that writes `key: option` in place of an item's own. */
export const rewrittenItem = (
  parts: ItemParts,
  key: string,
  value = parts.value,
): readonly Edit[] => [
  { ...parts.keySpan, text: inYaml(key) },
  ...(value === parts.value ? [] : [{ ...parts.valueSpan, text: inYaml(value) }]),
];

/** A name as YAML writes it; quotes only where it needs them. */
const inYaml = (name: string): string =>
  /^[\w$./@~-][\w ${}./@~-]*$/.test(name) && !/ #|: /.test(name)
    ? name
    : `'${name.replaceAll("'", "''")}'`;

/** The edit that removes the words `optional` or others in front of a group. */
export const withoutKeywords = (
  parts: ItemParts,
  isDropped: (word: string) => boolean,
): readonly Edit[] => {
  const words = parts.key.split(/\s+/);
  const group = words.pop() ?? "";
  return rewrittenItem(parts, [...words.filter((word) => !isDropped(word)), group].join(" "));
};

/** The whole line (or lines) of an item of a block list, with its dash and comment; undefined in a flow list. */
export function itemLines({
  source,
  start,
  end,
}: FileOrigin): { readonly start: number; readonly end: number } | undefined {
  const from = source.text.lastIndexOf("\n", start - 1) + 1;
  if (!/^\s*-\s+$/.test(source.text.slice(from, start))) return undefined;
  const last = start + source.text.slice(start, end).trimEnd().length;
  const until = source.text.indexOf("\n", last);
  return { start: from, end: until < 0 ? source.text.length : until + 1 };
}

/**
 * The edit that adds an item to a list, before or after another one in it, in the form of that one.
 *
 * @param text the item without its dash
 */
export function addedItem(
  neighbour: DefaultsItem,
  text: string,
  side: "before" | "after",
  cwd: string,
): Edit | undefined {
  const { origin } = neighbour;
  if (origin.kind !== "file") return undefined;
  const { source, start } = origin;
  const { file } = spanOf(origin, cwd);
  const lines = itemLines(origin);
  if (lines !== undefined) {
    const prefix = source.text.slice(lines.start, start);
    const offset = side === "before" ? lines.start : lines.end;
    const isOpen = side === "after" && !source.text.slice(0, offset).endsWith("\n");
    return { file, start: offset, end: offset, text: `${isOpen ? "\n" : ""}${prefix}${text}\n` };
  }
  const whole = spanOf(origin, cwd);
  const end = start + source.text.slice(start, whole.end).trimEnd().length;
  return side === "before"
    ? { file, start, end: start, text: `${text}, ` }
    : { file, start: end, end, text: `, ${text}` };
}

/** The value of the `# @package` header and its whole line; undefined without one. */
export function headerParts({ source }: FileOrigin):
  | {
      readonly start: number;
      readonly end: number;
      readonly line: { readonly start: number; readonly end: number };
    }
  | undefined {
  const found = /^#\s*@package\s+(\S+)[^\n]*\n?/m.exec(source.text);
  if (found === null) return undefined;
  const [line, value = ""] = found;
  const start = found.index + line.indexOf(value, line.indexOf("@package") + "@package".length);
  return {
    start,
    end: start + value.length,
    line: { start: found.index, end: found.index + line.length },
  };
}

/**
 * The edit that sets a key below `hydra` in the text of a primary config, where it is written as a block; undefined for
 * other forms, and if the key is there.
 */
export function hydraKeyEdit(
  file: string,
  text: string,
  path: readonly [string, string],
  value: string,
): Edit | undefined {
  const [outer, inner] = path;
  const hydra = /^hydra:[ \t]*(?:#[^\n]*)?(?:\n|$)/m.exec(text);
  if (hydra === null) {
    if (/^hydra\s*:/m.test(text)) return undefined;
    const start = text.length;
    const gap = text === "" ? "" : text.endsWith("\n") ? "\n" : "\n\n";
    const added = `${gap}hydra:\n  ${outer}:\n    ${inner}: ${value}\n`;
    return { file, start, end: start, text: added };
  }
  const from = hydra.index + hydra[0].length;
  const block = /^(?:[ \t]*(?:#[^\n]*)?\n|[ \t]+[^\n]*(?:\n|$))*/.exec(text.slice(from))?.[0] ?? "";
  const indent = /^([ \t]+)[^\s#]/m.exec(block)?.[1];
  if (indent === undefined) return undefined;
  const job = new RegExp(`^${indent}${outer}:[ \\t]*(?:#[^\\n]*)?\\n`, "m").exec(block);
  if (job === null) {
    if (new RegExp(`^${indent}${outer}\\s*:`, "m").test(block)) return undefined;
    return {
      file,
      start: from,
      end: from,
      text: `${indent}${outer}:\n${indent}  ${inner}: ${value}\n`,
    };
  }
  const offset = from + job.index + job[0].length;
  const deeper =
    /^([ \t]+)[^\s#]/.exec(block.slice(job.index + job[0].length))?.[1] ?? `${indent}  `;
  const existing = new RegExp(`^${deeper}${inner}\\s*:[ \\t]*([^\\n#]*)`, "m").exec(
    block.slice(job.index),
  );
  if (existing !== null) {
    const start =
      from + job.index + existing.index + existing[0].length - (existing[1] ?? "").length;
    return { file, start, end: start + (existing[1] ?? "").trimEnd().length, text: value };
  }
  return { file, start: offset, end: offset, text: `${deeper}${inner}: ${value}\n` };
}
