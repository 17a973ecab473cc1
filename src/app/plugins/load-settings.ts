/** Reads settings files, and loads the plugins that they name. */
import { dirname, isAbsolute, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { deepmerge } from "deepmerge-ts";
import { isMap, isScalar, isSeq, type Node, parseDocument } from "yaml";
import { alternativesTo, ConfigError, isConfigError } from "../../engine/values/errors.ts";
import type { FileOrigin, SourceText } from "../../engine/values/origin.ts";
import { messageOf } from "../../foundation/system/builtin-types.ts";
import { fileProblem, fileRemedy, readText } from "../../foundation/system/files.ts";
import { importFile } from "../../foundation/system/import-file.ts";
import { importRemedy } from "../../foundation/system/import-remedy.ts";
import { requireIn } from "../../foundation/system/require-in.ts";
import { type Plugin, plugin } from "./contract/plugin.ts";
import {
  type PlacedText,
  RESOLVER_EXAMPLE,
  type ResolverEntry,
  type Runnable,
  settingsResolvers,
} from "./settings-resolvers.ts";

/** The contents of a settings file (docs/run.md). */
export interface Settings {
  readonly plugins?: readonly PluginEntry[];
  /** The default program: a name of `apps`, or a file. */
  readonly app?: PlacedText;
  /** Programs by name. */
  readonly apps?: Readonly<Record<string, AppEntry>>;
  /** The project's Python interpreter: an absolute path, or a name on `PATH`. */
  readonly python?: PlacedText;
  /** Variables for composition, used where the environment does not set them. */
  readonly env?: Readonly<Record<string, string>>;
  /** Python modules that register configs, for `hydraconf python sync`. */
  readonly store?: readonly string[];
  /** The handling of an export whose sources have changed: `note`, or `renew` for a new export. */
  readonly sync?: PlacedText;
  /** Whether notes are printed about what composes, but probably not to what was meant; `all`: more of them. Default: true. */
  readonly notes?: boolean | "all";
  /** Short names for overrides, as those of Hydra 1.4, in every dialect. */
  readonly aliases?: Readonly<Record<string, AliasEntry>>;
  /** Resolvers by name. */
  readonly resolvers?: Readonly<Record<string, ResolverEntry>>;
}

/** A program that a settings file names, with settings that its source does not contain. */
export interface AppEntry {
  /** The absolute path of its source. */
  readonly file: string;
  readonly origin: FileOrigin;
  /** An absolute path, or `pkg://...`; null for none. */
  readonly config_path?: string | null;
  readonly config_name?: string | null;
  readonly version_base?: string | null;
}

/** A plugin that a settings file names. */
export interface PluginEntry extends Runnable {
  /** The name of a package, or a path that starts with `./`, `../` or `/`. */
  readonly module: string;
  /** The directory for relative paths and for finding packages. */
  readonly folder: string;
}

/** Merges settings, the strongest last: lists are concatenated, maps merged, and the last text wins. */
export const mergeSettings = (settings: readonly Settings[]): Settings =>
  deepmerge(...settings) as Settings;

/**
 * Loads the plugins that settings name: those of the first file first, each once. The resolvers and the Python that
 * settings name form another plugin.
 *
 * @throws ConfigError `plugin.invalid` for a plugin that is not found or malformed, with its line, and
 * `plugin.untrusted` for one that may not run
 */
export async function settingsPlugins(
  { env = {}, plugins = [], python, resolvers }: Settings,
  place: Parameters<typeof settingsResolvers>[1],
): Promise<readonly Plugin[]> {
  const loaded = new Map<string, Plugin>();
  for (const entry of plugins) {
    if (entry.refusal !== undefined) throw entry.refusal;
    const url = locate(entry);
    if (!loaded.has(url)) loaded.set(url, await load(url, entry));
  }
  if (resolvers === undefined && python === undefined) return [...loaded.values()];
  const named = python && { python };
  const namedResolvers = await settingsResolvers(
    { resolvers: resolvers ?? {}, ...named },
    { ...place, env: { ...env, ...place.env } },
  );
  return [...loaded.values(), { name: "settings", resolvers: namedResolvers, ...named }];
}

/**
 * Reads one settings file.
 *
 * @param file its absolute path
 * @throws ConfigError `plugin.settings` for a file that cannot be read, or an invalid setting, with its line
 */
export function readSettings(file: string): Settings {
  const source = { name: file, text: textOf(file) };
  const document = parseDocument(source.text, { prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) throw wrong(error.message, origin(source, error.pos));
  const { contents } = document;
  if (contents === null) return {};
  if (!isMap<Node, Node | null>(contents))
    throw wrong("A settings file is a map: `plugins: [...]`", place(source, contents));
  const settings = contents.items.map(({ key, value }) => {
    const name = isScalar(key) ? String(key.value) : "";
    const read = Object.hasOwn(READERS, name) ? READERS[name as keyof Settings] : undefined;
    if (read === undefined)
      throw wrong(
        `There is no setting '${name}'`,
        place(source, key),
        alternativesTo(name, Object.keys(READERS)),
      );
    return isNull(value) ? [] : [[name, read(value, source)]];
  });
  return Object.fromEntries(settings.flat());
}

const isNull = (value: Node | null): value is null =>
  value === null || (isScalar(value) && value.value === null);

type Reader = (value: Node, source: SourceText) => unknown;

/** @param what description of an item, @param example example of the setting */
const listReader =
  (name: string, what: string, example: string): Reader =>
  (value, source) => {
    if (!isSeq<Node>(value))
      throw wrong(`\`${name}\` must be a list`, place(source, value), { hint: example });
    return value.items.map((item) => {
      const module = isScalar(item) ? item.value : undefined;
      if (typeof module !== "string" || module === "")
        throw wrong(`Each of \`${name}\` must be ${what}`, place(source, item), { hint: example });
      return { module, folder: dirname(source.name), origin: place(source, item) };
    });
  };

const textReader =
  (name: string, example: string): Reader =>
  (value, source): PlacedText => {
    const text = isScalar(value) ? value.value : undefined;
    if (typeof text !== "string" || text === "")
      throw wrong(`\`${name}\` must be a text`, place(source, value), { hint: example });
    return { text, folder: dirname(source.name), origin: place(source, value) };
  };

const readPlugins = listReader(
  "plugins",
  "the name of a package or a path",
  "plugins: [my-plugin, ./plugins/mine.js]",
);

const readNames = listReader("store", "the name of a Python module", "store: [my_project.configs]");

/** What a short name stands for. */
export interface AliasEntry {
  readonly target: string;
  readonly origin: FileOrigin;
}

const ALIASES_EXAMPLE = "aliases: {lr: optimizer.lr, fast: epochs=1}";

const READERS: Readonly<Record<keyof Settings, Reader>> = {
  plugins: readPlugins,
  app: textReader("app", "app: train.py"),
  apps: mapReader("apps", "apps: {train: src/train.py}", readApp),
  python: (value, source): PlacedText => {
    const read = textReader("python", "python: .venv/bin/python")(value, source) as PlacedText;
    return read.text.includes("/") ? { ...read, text: resolve(read.folder, read.text) } : read;
  },
  env: mapReader("env", "env: {PROJECT_ROOT: .}", (value, source) => {
    const text = isScalar(value) ? String(value.value ?? "") : undefined;
    if (text === undefined) throw wrong("A variable of `env` must be a text", place(source, value));
    // The value must not depend on the directory of the call.
    return /^\.{1,2}(\/|$)/.test(text) ? resolve(dirname(source.name), text) : text;
  }),
  aliases: mapReader("aliases", ALIASES_EXAMPLE, (value, source): AliasEntry => {
    const origin = place(source, value);
    if (isScalar(value) && typeof value.value === "string") return { target: value.value, origin };
    throw wrong("An alias must be a text", origin, { hint: ALIASES_EXAMPLE });
  }),
  resolvers: mapReader("resolvers", "resolvers: {eval: ready}", readResolver),
  sync: (value, source) => {
    const text = isScalar(value) ? value.value : undefined;
    if (text === "note" || text === "renew")
      return { text, folder: dirname(source.name), origin: place(source, value) };
    throw wrong("`sync` must be note or renew", place(source, value), { hint: "sync: renew" });
  },
  notes: (value, source) => {
    const setting = isScalar(value) ? value.value : undefined;
    if (typeof setting === "boolean" || setting === "all") return setting;
    throw wrong("`notes` must be true, false or all", place(source, value), {
      hint: "notes: false",
    });
  },
  store: (value, source) =>
    (readNames(value, source) as readonly PluginEntry[]).map(({ module }) => module),
};

function mapReader(name: string, example: string, readOne: Reader): Reader {
  return (value, source) => {
    if (!isMap<Node, Node | null>(value))
      throw wrong(`\`${name}\` must be a map`, place(source, value), { hint: example });
    return Object.fromEntries(
      value.items.map(({ key, value: element }) => [
        isScalar(key) ? String(key.value) : "",
        readOne(element ?? key, source),
      ]),
    );
  };
}

const APP_KEYS = ["file", "config_path", "config_name", "version_base"];
const APP_EXAMPLE = {
  hint: "apps: {train: src/train.py, eval: {file: src/eval.py, config_path: configs, config_name: eval}}",
};

/** `src/train.py`, or a map that overrides settings of the source. Paths are relative to the settings file. */
function readApp(value: Node, source: SourceText): AppEntry {
  const folder = dirname(source.name);
  if (isScalar(value) && typeof value.value === "string")
    return { file: resolve(folder, value.value), origin: place(source, value) };
  if (!isMap<Node, Node | null>(value))
    throw wrong("An app must be a file, or a map", place(source, value), APP_EXAMPLE);
  const fields = new Map<string, string | null>();
  for (const { key, value: element } of value.items) {
    const name = isScalar(key) ? String(key.value) : "";
    if (!APP_KEYS.includes(name))
      throw wrong(`An app has no '${name}'`, place(source, key), alternativesTo(name, APP_KEYS));
    if (element !== null && !isScalar(element))
      throw wrong(`'${name}' of an app must be a text`, place(source, element), APP_EXAMPLE);
    fields.set(name, element === null || element.value === null ? null : String(element.value));
  }
  const file = fields.get("file");
  if (typeof file !== "string")
    throw wrong("An app must name its file", place(source, value), APP_EXAMPLE);
  const path = fields.get("config_path");
  return {
    file: resolve(folder, file),
    origin: place(source, value),
    ...(path !== undefined && {
      config_path: path === null || path.includes("://") ? path : resolve(folder, path),
    }),
    ...(fields.has("config_name") && { config_name: fields.get("config_name") ?? null }),
    ...(fields.has("version_base") && { version_base: fields.get("version_base") ?? null }),
  };
}

const RESOLVER_KEYS = ["from", "use_cache", "pure"];

/** `ready`, or a map with options. */
function readResolver(value: Node, source: SourceText): ResolverEntry {
  const placed = { folder: dirname(source.name), origin: place(source, value) };
  if (isScalar(value) && typeof value.value === "string" && value.value !== "")
    return { from: value.value, ...placed };
  if (!isMap<Node, Node | null>(value))
    throw wrong("A resolver must be a text, or a map", placed.origin, RESOLVER_EXAMPLE);
  const fields = new Map<string, unknown>();
  for (const { key, value: element } of value.items) {
    const name = isScalar(key) ? String(key.value) : "";
    if (!RESOLVER_KEYS.includes(name))
      throw wrong(
        `A resolver has no '${name}'`,
        place(source, key),
        alternativesTo(name, RESOLVER_KEYS),
      );
    const read = isScalar(element) ? element.value : undefined;
    const what = name === "from" ? "a text" : "true or false";
    if (typeof read !== (name === "from" ? "string" : "boolean"))
      throw wrong(
        `'${name}' of a resolver must be ${what}`,
        place(source, element ?? key),
        RESOLVER_EXAMPLE,
      );
    fields.set(name, read);
  }
  if (!fields.has("from"))
    throw wrong("A resolver must say where it is from", placed.origin, RESOLVER_EXAMPLE);
  return { ...(Object.fromEntries(fields) as { from: string }), ...placed };
}

function textOf(file: string): string {
  try {
    return readText(file);
  } catch (cause) {
    throw new ConfigError({
      code: "plugin.settings",
      message: `Cannot read the settings file '${file}': ${fileProblem(cause)}`,
      hint: fileRemedy(cause),
      cause,
    });
  }
}

/** Whether a plugin is named by its path, and not as a package. */
export const isPathOfModule = (module: string): boolean =>
  /^\.{1,2}\//.test(module) || isAbsolute(module);

/** The URL of a plugin's module. */
function locate({ folder, module, origin }: PluginEntry): string {
  if (isPathOfModule(module)) return pathToFileURL(resolve(folder, module)).href;
  try {
    return pathToFileURL(requireIn(folder).resolve(module)).href;
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
      hint: importRemedy(cause),
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
