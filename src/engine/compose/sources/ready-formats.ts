/** The formats of config files that we have beside YAML: TOML, JSON and JSON5, with the places of values. */
import { type ConfigNode, list, map, scalar } from "../../values/node.ts";
import type { FileOrigin, SourceText } from "../../values/origin.ts";
import { fromObject } from "../../values/plain-objects.ts";
import type { ConfigFormat } from "./formats.ts";

/** Where a value stands in a text: offsets, the end exclusive. */
interface Span {
  readonly start: number;
  readonly end: number;
}

type Path = readonly (string | number)[];

/** What the text says of a tree and the plain data that a library made of it does not: places, and the order of keys that look like integers. */
interface Layout {
  /** The places of values by their paths; of one that is not there, the place around it is taken. */
  readonly places: Map<string, Span>;
  /** The keys of maps by their paths, as they are written. */
  readonly keys: Map<string, Set<string>>;
}

const idOf = (path: Path): string => JSON.stringify(path);

const emptyLayout = (): Layout => ({ places: new Map(), keys: new Map() });

/** Enters a key at each map that it is in. @param base a path that is entered already */
function enterKeys({ keys }: Layout, path: Path, base: Path = []): void {
  for (let depth = base.length; depth < path.length; depth++) {
    const key = path[depth];
    if (typeof key !== "string") continue;
    const id = idOf(path.slice(0, depth));
    keys.set(id, (keys.get(id) ?? new Set()).add(key));
  }
}

/** Data with places. @param leaf a value that is neither map nor list */
function placedTree(
  value: unknown,
  source: SourceText,
  { keys, places }: Layout,
  leaf: (value: unknown, origin: FileOrigin) => ConfigNode,
): ConfigNode {
  const convert = (value: unknown, path: Path, around: Span): ConfigNode => {
    const id = idOf(path);
    const span = places.get(id) ?? around;
    const origin: FileOrigin = { kind: "file", source, ...span };
    if (Array.isArray(value))
      return list(
        value.map((item, index) => convert(item, [...path, index], span)),
        origin,
      );
    if (typeof value !== "object" || value === null || isLeafObject(value))
      return leaf(value, origin);
    const values = new Map(Object.entries(value));
    const ordered = new Set([...(keys.get(id) ?? []), ...values.keys()]);
    return map(
      [...ordered]
        .filter((key) => values.has(key))
        .map((key) => [key, convert(values.get(key), [...path, key], span)] as const),
      origin,
    );
  };
  return convert(value, [], { start: 0, end: 0 });
}

/** A place in a text that moves on by what stands there. */
interface Cursor {
  /** The offset. */
  readonly offset: number;
  /** Whether a piece stands there; it is not passed. */
  readonly sees: (piece: string) => boolean;
  /** Passes the first of the forms that stands there, or else one character, and gives it. */
  readonly take: (...forms: readonly RegExp[]) => string;
}

function cursorOf(content: string): Cursor {
  let offset = 0;
  return {
    get offset() {
      return offset;
    },
    sees: (piece) => content.startsWith(piece, offset),
    take(...forms) {
      const start = offset;
      for (const form of forms) {
        form.lastIndex = start;
        if (!form.test(content)) continue;
        offset = form.lastIndex;
        return content.slice(start, offset);
      }
      offset++;
      return content.slice(start, offset);
    },
  };
}

/** TOML's dates are objects of a class. */
const isLeafObject = (value: object): boolean => "toISOString" in value;

/**
 * TOML, read by `smol-toml`. Dates are texts.
 *
 * @param library what `smol-toml` exports. Default: it is loaded where the program runs
 */
export const toml = (library?: unknown): ConfigFormat => ({
  extension: ".toml",
  library: "smol-toml",
  module: library,
  read(source, loaded) {
    const { parse } = loaded as {
      readonly parse: (text: string, options: { readonly integersAsBigInt: true }) => unknown;
    };
    const read = (text: string): unknown => parse(text, { integersAsBigInt: true });
    return placedTree(read(source.text), source, tomlLayout(source.text, read), (value, origin) =>
      typeof value === "number"
        ? scalar(value, origin)
        : typeof value === "object" && value !== null && "toISOString" in value
          ? scalar((value as Date).toISOString(), origin)
          : fromObject(value, origin),
    );
  },
});

const TOML_BLANKS = /(?:\s|#[^\n]*)*/y;
const TOML_STRINGS = [
  // Up to two quotes may stand before the three that end it.
  /"""(?:\\[\s\S]|[^\\])*?"""(?:""?)?/y,
  /'''[\s\S]*?'''(?:''?)?/y,
  /"(?:\\.|[^"\\\n])*"/y,
  /'[^'\n]*'/y,
];
const TOML_KEY = /[\w-]+/y;
/** A number, a word or a date, which may have a blank. */
const TOML_WORD = /[^\s,\]}#]+(?:[ \t]+[^\s,\]}#]+)*/y;

/** Where a valid TOML text has its values, and the order of its keys. */
function tomlLayout(content: string, parse: (text: string) => unknown): Layout {
  const layout = emptyLayout();
  const cursor = cursorOf(content);
  const counts = new Map<string, number>();
  const skip = (): string => cursor.take(TOML_BLANKS);
  const isEnd = (closing: string): boolean =>
    cursor.offset >= content.length || cursor.sees(closing);
  const keyOf = (written: string): string =>
    written.startsWith('"')
      ? String(Reflect.get(Object(parse(`key = ${written}`)), "key"))
      : written.replaceAll("'", "");
  const dottedKey = (): readonly string[] => {
    const keys: string[] = [];
    do {
      if (keys.length > 0) cursor.take();
      skip();
      keys.push(keyOf(cursor.take(...TOML_STRINGS, TOML_KEY)));
      skip();
    } while (cursor.sees("."));
    return keys;
  };
  const value = (path: Path): void => {
    const start = cursor.offset;
    if (cursor.sees("[") || cursor.sees("{")) {
      const closing = cursor.take() === "[" ? "]" : "}";
      skip();
      for (let index = 0; !isEnd(closing); index++) {
        if (closing === "]") value([...path, index]);
        else entry(path);
        skip();
        if (cursor.sees(",")) cursor.take();
        skip();
      }
      cursor.take();
    } else cursor.take(...TOML_STRINGS, TOML_WORD);
    layout.places.set(idOf(path), { start, end: cursor.offset });
  };
  const entry = (table: Path): void => {
    const path = [...table, ...dottedKey()];
    enterKeys(layout, path, table);
    cursor.take();
    skip();
    value(path);
  };
  let table: Path = [];
  for (skip(); cursor.offset < content.length; skip()) {
    if (!cursor.sees("[")) {
      entry(table);
      continue;
    }
    const start = cursor.offset;
    const isItem = cursor.take(/\[\[?/y) === "[[";
    table = withIndices(dottedKey(), counts, isItem);
    cursor.take(/\]\]?/y);
    enterKeys(layout, table);
    layout.places.set(idOf(table), { start, end: cursor.offset });
  }
  return layout;
}

/** The path of a table, with the places of lists of tables that it is in. */
function withIndices(keys: readonly string[], counts: Map<string, number>, isItem: boolean): Path {
  let path: Path = [];
  for (const [depth, key] of keys.entries()) {
    path = [...path, key];
    const id = idOf(path);
    if (isItem && depth === keys.length - 1) counts.set(id, (counts.get(id) ?? -1) + 1);
    const index = counts.get(id);
    if (index !== undefined) path = [...path, index];
  }
  return path;
}

/** JSON, as `JSON.parse` reads it; integers of any size are exact. */
export const json = (): ConfigFormat => ({
  extension: ".json",
  read: (source) => jsonTree(source, parseJson),
});

/** @throws SyntaxError with the `line` and `column` that V8 does not tell of every error */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // V8's message quotes the text, or tells a position in it.
    const told = String(error).replace(/^\w+: |, (?:\.\.\.)?".*/gs, "");
    const [, position] = / at position (\d+)/.exec(told) ?? [];
    const end = position === undefined ? endOfJson(text) : Number(position);
    const lines = text.slice(0, end).split("\n");
    const message = told.replace(/(?: in JSON)? at position .*/s, "");
    const place = { line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
    throw Object.assign(new SyntaxError(message), place);
  }
}

/** What may come next in JSON, after blanks. */
const JSON_TOKENS = {
  key: /\s*"(?:[ !#-[\]-\u{10ffff}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"\s*:/uy,
  value:
    /\s*(?:"(?:[ !#-[\]-\u{10ffff}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/uy,
  opening: /\s*[[{]/y,
  closing: /\s*[\]}]/y,
  comma: /\s*,/y,
  blanks: /\s*/y,
} as const;

/** The offset up to which a text is JSON, or the start of some. */
function endOfJson(text: string): number {
  let offset = 0;
  const next = (kind: keyof typeof JSON_TOKENS): string => {
    const token = JSON_TOKENS[kind];
    token.lastIndex = offset;
    const [found = ""] = token.exec(text) ?? [];
    offset += found.length;
    return found.trim();
  };
  const open: string[] = [];
  const closes = (): boolean => {
    const tokenStart = offset;
    const isMatch = next("closing") === open.at(-1);
    if (isMatch) open.pop();
    else offset = tokenStart;
    return isMatch;
  };
  for (;;) {
    if (open.at(-1) === "}" && next("key") === "") break;
    const opening = next("opening");
    if (opening !== "") {
      open.push(opening === "{" ? "}" : "]");
      // Only an empty one closes here.
      if (!closes()) continue;
    } else if (next("value") === "") break;
    while (open.length > 0 && closes());
    if (open.length === 0 || next("comma") === "") break;
  }
  next("blanks");
  return offset;
}

/**
 * JSON5, read by the package `json5`.
 *
 * @param library what `json5` exports. Default: it is loaded where the program runs
 */
export const json5 = (library?: unknown): ConfigFormat => ({
  extension: ".json5",
  library: "json5",
  module: library,
  read(source, loaded) {
    const { parse } = loaded as { readonly parse: (text: string) => unknown };
    return jsonTree(source, parse);
  },
});

function jsonTree(source: SourceText, parse: (text: string) => unknown): ConfigNode {
  const content = source.text.replace(/^\ufeff/, " ");
  const data = parse(content);
  return placedTree(data, source, jsonLayout(content, parse), (value, origin) => {
    const written = content.slice(origin.start, origin.end);
    if (typeof value !== "number") return fromObject(value, origin);
    return /^[+-]?\d+$/.test(written)
      ? scalar(BigInt(written.replace(/^\+/, "")), origin)
      : /^[+-]?0[xX]/.test(written)
        ? fromObject(value, origin)
        : scalar(value, origin);
  });
}

const JSON_BLANKS = /(?:[\s\ufeff]|\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\/)*/y;
const JSON_STRING = /"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'/y;
const JSON_WORD = /[^\s,:[\]{}/]+/y;

/** Where a valid JSON or JSON5 text has its values, and the order of its keys. */
function jsonLayout(content: string, parse: (text: string) => unknown): Layout {
  const layout = emptyLayout();
  const cursor = cursorOf(content);
  const skip = (): string => cursor.take(JSON_BLANKS);
  const token = (): string => cursor.take(JSON_STRING, JSON_WORD);
  const keyOf = (written: string): string => {
    if (/^["']/.test(written)) return String(parse(written));
    // JSON5's names may have escapes.
    return written.includes("\\") ? String(parse(`"${written}"`)) : written;
  };
  const value = (path: Path): void => {
    skip();
    const start = cursor.offset;
    if (cursor.sees("{") || cursor.sees("[")) {
      const closing = cursor.take() === "[" ? "]" : "}";
      // Of a key that is written twice, the last value counts.
      layout.keys.delete(idOf(path));
      skip();
      for (let index = 0; cursor.offset < content.length && !cursor.sees(closing); index++) {
        if (closing === "]") value([...path, index]);
        else {
          const inside = [...path, keyOf(token())];
          enterKeys(layout, inside, path);
          skip();
          cursor.take();
          value(inside);
        }
        skip();
        if (cursor.sees(",")) cursor.take();
        skip();
      }
      cursor.take();
    } else token();
    layout.places.set(idOf(path), { start, end: cursor.offset });
  };
  value([]);
  return layout;
}
