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

/** The places of values by their paths; of one that is not there, the place around it is taken. */
type Places = ReadonlyMap<string, Span>;

const idOf = (path: Path): string => JSON.stringify(path);

/** Data with places. @param leaf a value that is neither map nor list */
function placedTree(
  value: unknown,
  source: SourceText,
  places: Places,
  leaf: (value: unknown, origin: FileOrigin) => ConfigNode,
): ConfigNode {
  const convert = (at: unknown, path: Path, around: Span): ConfigNode => {
    const span = places.get(idOf(path)) ?? around;
    const origin: FileOrigin = { kind: "file", source, ...span };
    if (Array.isArray(at))
      return list(
        at.map((item, index) => convert(item, [...path, index], span)),
        origin,
      );
    if (typeof at !== "object" || at === null || isLeafObject(at)) return leaf(at, origin);
    return map(
      Object.entries(at).map(([key, item]) => [key, convert(item, [...path, key], span)] as const),
      origin,
    );
  };
  return convert(value, [], { start: 0, end: 0 });
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
    return placedTree(
      parse(source.text, { integersAsBigInt: true }),
      source,
      tomlPlaces(source.text),
      (value, origin) =>
        typeof value === "number"
          ? scalar(value, origin)
          : typeof value === "object" && value !== null && "toISOString" in value
            ? scalar((value as Date).toISOString(), origin)
            : fromObject(value, origin),
    );
  },
});

/** One line of TOML: a header `[a.b]`, or `a.b = value`. Strings of several lines are skipped. */
const TOML_KEY = String.raw`(?:"(?:\\.|[^"\\])*"|'[^']*'|[\w-]+)`;
const TOML_PATH = String.raw`${TOML_KEY}(?:[ \t]*\.[ \t]*${TOML_KEY})*`;
const TOML_LINE = new RegExp(
  String.raw`^[ \t]*(?:(\[\[?)[ \t]*(${TOML_PATH})[ \t]*\]|(${TOML_PATH})[ \t]*=[ \t]*)`,
);

/** Where a valid TOML text has the values of its keys. A value inside of a list or an inline table stands where that begins. */
function tomlPlaces(content: string): Places {
  const places = new Map<string, Span>();
  const counts = new Map<string, number>();
  let table: Path = [];
  let open: string | undefined;
  let at = 0;
  for (const line of content.split("\n")) {
    const start = at;
    at += line.length + 1;
    if (open !== undefined) {
      if (line.includes(open)) open = undefined;
      continue;
    }
    const found = TOML_LINE.exec(line);
    if (found === null) continue;
    const [whole, header, tableText, keyText] = found;
    if (header !== undefined && tableText !== undefined) {
      const keys = withIndices(tomlKeys(tableText), counts, header === "[[");
      places.set(idOf(keys), { start, end: start + line.trimEnd().length });
      table = keys;
    } else if (keyText !== undefined) {
      const value = line.slice(whole.length);
      const keys = [...table, ...tomlKeys(keyText)];
      places.set(idOf(keys), {
        start: start + whole.length,
        end: start + line.trimEnd().length,
      });
      const quote = /"""|'''/.exec(value)?.[0];
      if (quote !== undefined && value.split(quote).length % 2 === 0) open = quote;
    }
  }
  return places;
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

const tomlKeys = (path: string): readonly string[] =>
  [...path.matchAll(new RegExp(TOML_KEY, "g"))].map(([key]) =>
    key.startsWith('"') ? (JSON.parse(key) as string) : key.replaceAll("'", ""),
  );

/** JSON, as `JSON.parse` reads it; integers of any size are exact. */
export const json = (): ConfigFormat => ({
  extension: ".json",
  read: (source) => jsonTree(source, (text) => JSON.parse(text)),
});

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
  return placedTree(data, source, jsonPlaces(content, parse), (value, origin) => {
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

/** Where a valid JSON or JSON5 text has its values. */
function jsonPlaces(content: string, parse: (text: string) => unknown): Places {
  const places = new Map<string, Span>();
  let at = 0;
  const skip = (): void => {
    JSON_BLANKS.lastIndex = at;
    JSON_BLANKS.exec(content);
    at = JSON_BLANKS.lastIndex;
  };
  const token = (): string => {
    for (const form of [JSON_STRING, JSON_WORD]) {
      form.lastIndex = at;
      const found = form.exec(content);
      if (found === null) continue;
      at = form.lastIndex;
      return found[0];
    }
    at++;
    return "";
  };
  const separator = (): void => {
    skip();
    if (content[at] === ",") at++;
    skip();
  };
  const value = (path: Path): void => {
    skip();
    const start = at;
    const opening = content[at];
    if (opening === "{" || opening === "[") {
      at++;
      skip();
      for (let index = 0; at < content.length && !/[\]}]/.test(content[at] ?? ""); index++) {
        if (opening === "[") value([...path, index]);
        else {
          const written = token();
          const key = /^["']/.test(written) ? String(parse(written)) : written;
          skip();
          at++;
          value([...path, key]);
        }
        separator();
      }
      at++;
    } else token();
    places.set(idOf(path), { start, end: at });
  };
  value([]);
  return places;
}
