/**
 * Where a value came from. Every node carries one from the moment it is read, so that `explain`,
 * validation errors and caret excerpts all use the same data.
 */
export type Origin = FileOrigin | OverrideOrigin | EnvironmentOrigin | SchemaOrigin | CodeOrigin;

/** A span of a YAML text. Line and column are computed on demand: reading must stay cheap. */
export interface FileOrigin {
  readonly kind: "file";
  readonly source: SourceText;
  /** Offsets in UTF-16 code units, end exclusive. */
  readonly start: number;
  readonly end: number;
}

/** A command-line (or API) override. */
export interface OverrideOrigin {
  readonly kind: "override";
  /** The override as it was typed, e.g. `+db.port=1`. */
  readonly text: string;
  /** Position in the list of overrides, from 0. */
  readonly index: number;
  /** Span inside `text`, when the value is only a part of it. */
  readonly start?: number;
  readonly end?: number;
}

/** A variable of the process's environment. */
export interface EnvironmentOrigin {
  readonly kind: "environment";
  readonly variable: string;
}

/** A value that a schema gave. */
export interface SchemaOrigin {
  readonly kind: "schema";
  /** Name of the schema, e.g. `hydra`, a file name or the config path of a store entry; empty for that of the whole config. */
  readonly schema: string;
  /** The default of a schema for a key that no config has. */
  readonly isDefault?: true;
  /** What the schema of the config converted: the value on one line, and where it came from. */
  readonly converted?: { readonly text: string; readonly origin: Origin };
}

/** Made by the engine or by the caller of the API. */
export interface CodeOrigin {
  readonly kind: "code";
  /** Its author, for people: `hydra.job`, `compose()`, a resolver's name. */
  readonly by: string;
}

/** A text with a name, shared by all nodes read from it. */
export interface SourceText {
  /** Path as a user would type it; `<string>` for texts without a file. */
  readonly name: string;
  readonly text: string;
}

export const fromCode = (by: string): CodeOrigin => ({ kind: "code", by });

/** A position in a text as editors show it: line and column from 1, columns in characters. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/**
 * Offsets of the first character of every line. Computed once per text, when a line number is first needed, so that
 * reading thousands of files without errors never pays for it.
 */
const LINE_STARTS = new WeakMap<SourceText, readonly number[]>();

/** The position of the start of a span, counted with YAML 1.1's line breaks (`\r`, U+0085, U+2028/9 included). */
export function lineColumn(origin: FileOrigin): Position {
  const { source, start } = origin;
  const starts = lineStarts(source);
  const line = lineIndex(starts, start);
  const from = starts[line] ?? 0;
  return { line: line + 1, column: characters(source.text.slice(from, start)) + 1 };
}

/** The line (without its break) that contains an offset, and the offset of its start. */
export function lineAt(source: SourceText, offset: number): { text: string; start: number } {
  const starts = lineStarts(source);
  const index = lineIndex(starts, offset);
  const start = starts[index] ?? 0;
  const end = starts[index + 1] ?? source.text.length;
  return { text: source.text.slice(start, end).replace(/[\r\n\x85\u2028\u2029]+$/, ""), start };
}

/** One line for people: `conf/db/mysql.yaml:3:7`, `override 'db.port=1'`, `schema hydra`. */
export function describeOrigin(origin: Origin): string {
  switch (origin.kind) {
    case "file": {
      const { line, column } = lineColumn(origin);
      return `${origin.source.name}:${line}:${column}`;
    }
    case "override":
      return `override '${origin.text}'`;
    case "environment":
      return `environment variable ${origin.variable}`;
    case "schema":
      return describeSchema(origin);
    case "code":
      return origin.by;
  }
}

function describeSchema({ converted, isDefault, schema }: SchemaOrigin): string {
  if (converted !== undefined)
    return `converted from ${converted.text} at ${describeOrigin(converted.origin)}`;
  if (isDefault !== true) return `schema ${schema}`;
  return schema === "" ? "schema default" : `schema default of '${schema}'`;
}

function lineStarts(source: SourceText): readonly number[] {
  const cached = LINE_STARTS.get(source);
  if (cached !== undefined) return cached;
  const starts = [0];
  for (const found of source.text.matchAll(/\r\n|[\n\r\x85\u2028\u2029]/g))
    starts.push(found.index + found[0].length);
  LINE_STARTS.set(source, starts);
  return starts;
}

/** The last line that starts at or before the offset. */
function lineIndex(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Length in code points without byte order marks: an emoji is one column, as in PyYAML. */
function characters(text: string): number {
  let count = 0;
  for (const char of text) if (char !== "\ufeff") count++;
  return count;
}
