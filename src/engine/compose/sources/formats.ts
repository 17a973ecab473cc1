/** Config files that are no YAML: what a format is, and how its files are read. */
import { isError } from "../../../foundation/system/builtin-types.ts";
import {
  anything,
  fn,
  listOf,
  type OptionCheck,
  optional,
  shape,
  text,
} from "../../values/check-options.ts";
import { DEFAULT_DIALECT } from "../../values/dialect.ts";
import { ConfigError, isConfigError } from "../../values/errors.ts";
import type { ConfigNode } from "../../values/node.ts";
import type { FileOrigin, SourceText } from "../../values/origin.ts";
import { fromObject } from "../../values/plain-objects.ts";
import { pyTypeName } from "../../values/python-text.ts";
import { checkTree } from "../../values/yaml/check-tree.ts";
import type { Reading } from "../../values/yaml/reader.ts";

/** A format of config files beside YAML: `hydraconf/sources` has `toml()`, `json()` and `json5()`. */
export interface ConfigFormat {
  /** The ending of its files: `.toml`. */
  readonly extension: string;
  /** The npm package that reads it, which the program installs. Default: none is needed. */
  readonly library?: string;
  /** What that package exports. Default: it is loaded where the program runs, when the first such file is read. */
  readonly module?: unknown;
  /**
   * The content of a file: a tree with its places, or plain data.
   *
   * @param library what the package exports
   * @throws Error for a text that is not of the format; `line` and `column` of it, from 1, are the place
   */
  readonly read: (source: SourceText, library: unknown) => unknown;
}

/** Loads a package of the program; throws if it is not installed. */
export type LoadLibrary = (name: string) => unknown;

export const configFormats: OptionCheck = optional(
  listOf(
    "formats",
    shape<ConfigFormat>({
      extension: text,
      library: optional(text),
      module: anything,
      read: fn,
    }),
    "[toml()]",
  ),
);

/** How the files of sources are read. */
export interface SourceReading extends Reading {
  /** Formats of files beside YAML. Default: none, as in Hydra. */
  readonly formats?: readonly ConfigFormat[];
  /**
   * Loads what a format needs.
   * @internal
   */
  readonly loadLibrary?: LoadLibrary;
}

/**
 * Reads a file.
 *
 * @throws ConfigError `app.unsupported` if the format's package is not installed, `compose.invalid_config` for a text that is not of the
 *   format or that no config can hold
 */
export function readFormat(
  format: ConfigFormat,
  source: SourceText,
  { dialect = DEFAULT_DIALECT, loadLibrary }: SourceReading = {},
): ConfigNode {
  const library = format.module ?? libraryOf(format, source, loadLibrary);
  const origin: FileOrigin = { kind: "file", source, start: 0, end: 0 };
  let node: ConfigNode;
  try {
    node = fromObject(format.read(source, library), origin);
  } catch (error) {
    throw isConfigError(error) ? error : syntaxError(error, source);
  }
  if (node.kind === "scalar")
    throw new ConfigError({
      code: "compose.invalid_config",
      message: `Invalid loaded object type: ${pyTypeName(node.value)}`,
      origin,
      hint: "a config file holds a mapping or a list",
    });
  return checkTree(node, undefined, undefined, dialect);
}

function libraryOf(
  { extension, library }: ConfigFormat,
  { name }: SourceText,
  load: LoadLibrary | undefined,
): unknown {
  if (library === undefined) return undefined;
  try {
    if (load !== undefined) return load(library);
  } catch (cause) {
    if (!isNotFound(cause)) throw cause;
    throw missing(
      `the package '${library}' is not installed`,
      `install it: npm install ${library}`,
    );
  }
  throw missing(
    `it needs the package '${library}'`,
    `import it and hand it over: ${extension.slice(1)}(library)`,
  );

  function missing(problem: string, hint: string): ConfigError {
    return new ConfigError({
      code: "app.unsupported",
      message: `${name} cannot be read: ${problem}`,
      hint,
    });
  }
}

const isNotFound = (error: unknown): boolean =>
  isError(error) &&
  "code" in error &&
  (error.code === "MODULE_NOT_FOUND" || error.code === "ERR_MODULE_NOT_FOUND");

function syntaxError(error: unknown, source: SourceText): ConfigError {
  const message = isError(error) ? error.message : String(error);
  const start = placeOf(error, message, source.text);
  return new ConfigError({
    code: "compose.invalid_config",
    message: `${source.name} cannot be read: ${firstLine(message)}`,
    origin: { kind: "file", source, start, end: Math.min(start + 1, source.text.length) },
    cause: error,
  });
}

const firstLine = (message: string): string => (message.split("\n")[0] ?? "").trim();

/** The offset that an error of a reader names: as line and column, or as V8 does in its message. */
function placeOf(error: unknown, message: string, content: string): number {
  const numberOf = (name: string): number | undefined => {
    const value = isError(error) ? Reflect.get(error, name) : undefined;
    return typeof value === "number" ? value : undefined;
  };
  const line = numberOf("line") ?? numberOf("lineNumber");
  const column = numberOf("column") ?? numberOf("columnNumber");
  if (line !== undefined && column !== undefined) {
    const linesAbove = content.split("\n").slice(0, line - 1);
    return linesAbove.reduce((sum, text) => sum + text.length + 1, 0) + column - 1;
  }
  const position = /at position (\d+)/.exec(message)?.[1];
  return position === undefined ? 0 : Number(position);
}
