import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, isAbsolute, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { deepmerge } from "deepmerge-ts";
import { isMap, isScalar, isSeq, type Node, parseDocument } from "yaml";
import { importFile } from "../system/import-file.ts";
import { alternativesTo, ConfigError, isConfigError } from "../values/errors.ts";
import type { FileOrigin, SourceText } from "../values/origin.ts";
import { type Plugin, plugin } from "./contract/plugin.ts";

/** What a settings file may say. */
interface Settings {
  readonly plugins?: readonly PluginEntry[];
}

/** A plugin that a settings file names. */
interface PluginEntry {
  /** The name of a package, or a path that starts with `./`, `../` or `/`. */
  readonly module: string;
  /** Where paths start, and packages are looked for. */
  readonly folder: string;
  readonly origin: FileOrigin;
}

const KEYS = ["plugins"];

/**
 * Loads the plugins that settings files name: those of the first file first, each once.
 *
 * @param files their absolute paths
 * @throws ConfigError `plugin.settings` for a file that cannot be read, or says what none can; `plugin.invalid` for a plugin that
 * is not found, or is none. Both with the line.
 */
export async function settingsPlugins(files: readonly string[]): Promise<readonly Plugin[]> {
  const { plugins = [] } = deepmerge(...files.map(readSettings)) as Settings;
  const loaded = new Map<string, Plugin>();
  for (const entry of plugins) {
    const url = locate(entry);
    if (!loaded.has(url)) loaded.set(url, await load(url, entry));
  }
  return [...loaded.values()];
}

function readSettings(file: string): Settings {
  const source = { name: file, text: textOf(file) };
  const document = parseDocument(source.text, { prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) throw wrong(error.message, origin(source, error.pos));
  const { contents } = document;
  if (contents === null) return {};
  if (!isMap<Node, Node | null>(contents))
    throw wrong("A settings file is a map: `plugins: [...]`", place(source, contents));
  let plugins: readonly PluginEntry[] = [];
  for (const { key, value } of contents.items) {
    const name = isScalar(key) ? String(key.value) : "";
    if (!KEYS.includes(name))
      throw wrong(`There is no setting '${name}'`, place(source, key), alternativesTo(name, KEYS));
    plugins = readPlugins(value, source);
  }
  return { plugins };
}

function readPlugins(value: Node | null, source: SourceText): readonly PluginEntry[] {
  if (value === null || (isScalar(value) && value.value === null)) return [];
  const example = { hint: "plugins: [my-plugin, ./plugins/mine.js]" };
  if (!isSeq<Node>(value))
    throw wrong("`plugins` must be a list of packages and paths", place(source, value), example);
  return value.items.map((item) => {
    const module = isScalar(item) ? item.value : undefined;
    if (typeof module !== "string" || module === "")
      throw wrong("A plugin must be the name of a package or a path", place(source, item), example);
    return { module, folder: dirname(source.name), origin: place(source, item) };
  });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new ConfigError({
      code: "plugin.settings",
      message: `Cannot read the settings file '${file}': ${messageOf(cause)}`,
      cause,
    });
  }
}

/** The URL of a plugin's module. */
function locate({ folder, module, origin }: PluginEntry): string {
  if (/^\.{1,2}\//.test(module) || isAbsolute(module))
    return pathToFileURL(resolve(folder, module)).href;
  try {
    return pathToFileURL(createRequire(resolve(folder, "settings.js")).resolve(module)).href;
  } catch (cause) {
    throw new ConfigError({
      code: "plugin.invalid",
      message: `Cannot find the plugin '${module}': ${firstLine(messageOf(cause))}`,
      origin,
      hint: `install it where this file is: cd ${folder} && npm install ${module}; a path starts with ./`,
      cause,
    });
  }
}

async function load(url: string, { module, origin }: PluginEntry): Promise<Plugin> {
  const loaded = await importFile(url).catch((cause: unknown) => {
    throw new ConfigError({
      code: "plugin.invalid",
      message: `Cannot load the plugin '${module}': ${firstLine(messageOf(cause))}`,
      origin,
      cause,
    });
  });
  const found = (loaded as { readonly plugin?: unknown }).plugin;
  if (found === undefined)
    throw new ConfigError({
      code: "plugin.invalid",
      message: `'${module}' is no plugin: it has no export named 'plugin'`,
      origin,
      hint: "a plugin's module has: export const plugin = { name: ... }",
    });
  try {
    plugin(`plugin '${module}'`, "plugin", found);
  } catch (error) {
    if (!isConfigError(error)) throw error;
    throw new ConfigError({ ...error.details, code: "plugin.invalid", origin });
  }
  return found as Plugin;
}

const messageOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause);

const firstLine = (text: string): string => text.split("\n", 1)[0] ?? "";

const origin = (source: SourceText, [start, end]: readonly [number, number]): FileOrigin => ({
  kind: "file",
  source,
  start,
  end,
});

const place = (source: SourceText, node: Node): FileOrigin => {
  const [start, end] = node.range ?? [0, 0];
  return origin(source, [start, end]);
};

const wrong = (message: string, origin: FileOrigin, hints: object = {}): ConfigError =>
  new ConfigError({ code: "plugin.settings", message, origin, ...hints });
