/**
 * Where a value came from. Every node carries one from the moment it is read, so that `explain`,
 * validation errors and caret excerpts all read the same data.
 */
export type Origin = FileOrigin | OverrideOrigin | SchemaOrigin | CodeOrigin;

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

/** A default filled in from a schema. */
export interface SchemaOrigin {
  readonly kind: "schema";
  /** Name of the schema, e.g. `hydra` or a file name. */
  readonly schema: string;
}

/** Made by the engine or by the caller of the API. */
export interface CodeOrigin {
  readonly kind: "code";
  /** What made it, for people: `hydra.job`, `compose()`, a resolver's name. */
  readonly by: string;
}

/** A text with a name, shared by all nodes read from it. */
export interface SourceText {
  /** Path as a user would type it; `<string>` for texts without a file. */
  readonly name: string;
  readonly text: string;
}

export const fromCode = (by: string): CodeOrigin => ({ kind: "code", by });
