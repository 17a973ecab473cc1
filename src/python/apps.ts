/** Finds the programs of a project and their configs by reading the sources, without running them. */
import {
  closeSync,
  constants,
  type Dirent,
  existsSync,
  openSync,
  readdirSync,
  readSync,
} from "node:fs";
import { basename, dirname, extname, join, relative, resolve, sep } from "node:path";
import type { AppEntry, Settings } from "../app/plugins/load-settings.ts";
import type { PlacedText } from "../app/plugins/settings-resolvers.ts";
import { ConfigError, nearest } from "../engine/values/errors.ts";
import type { FileOrigin, SourceText } from "../engine/values/origin.ts";
import { getOrCreate } from "../foundation/system/get-or-create.ts";
import { firstFew } from "../foundation/text/plural.ts";
import { shellQuote } from "../foundation/text/shell-words.ts";
import type { SyntaxProblem } from "./python-lexer.ts";
import {
  isRootFinder,
  type PythonCall,
  type PythonPlace,
  type PythonValue,
  readPythonCalls,
  rootOf,
} from "./python-reader.ts";

/** A program that composes configs. */
export interface App {
  /** `main`: takes overrides on its command line; `compose`: composes by itself; `script`: a program of hydraMain. */
  readonly kind: "main" | "compose" | "script";
  /** The absolute path of its source. */
  readonly file: string;
  /** The line of the declaration. */
  readonly line: number;
  /** `hydra.job.name`. */
  readonly name: string;
  /** The absolute path of the config directory, or `pkg://...`; null for none. */
  readonly configPath: string | null;
  readonly configName: string | null;
  /**
   * The version base in its source: a text, null for None (the behaviour of the installed Hydra), undefined if it gives
   * none (that of 1.1).
   */
  readonly versionBase: string | null | undefined;
  /** Variables that it sets before it composes a config. */
  readonly env: Readonly<Record<string, string>>;
  /** Why its config is unknown: it depends on an argument that only Python can evaluate. */
  readonly unread?: ConfigError;
  /** Whether its source has a syntax error, which `unread` tells. */
  readonly isBroken?: boolean;
}

/** The directory and the environment for finding programs. */
export type AppPlace = Pick<PythonPlace, "cwd" | "env">;

/** Without it a source is no program: most need not be decoded. */
const PYTHON_WORD = "hydra";
const SCRIPT_WORD = "hydraMain(";
/** Without both, a source is no program, whatever its calls are: reading these takes far longer. */
const IMPORTS_HYDRA = /\b(?:import|from)\b(?:[^\n]|\\\r?\n)*?\bhydra\b/;
/** A `main` that is called is an attribute or imported; many scripts have one of their own. */
const DECLARES =
  /\.\s*main\s*\(|@[\s\w.]*\bmain\b|\bimport\b(?:[ \t\w,.]|\\\r?\n)*?\bmain\b|\bimport\s*\((?:[^()#]|#[^\n]*\n)*?\bmain\b|\binitialize/;
const SCRIPT = /[^/]\.[cm]?[jt]s$/;
const SOURCE = /[^/]\.(?:py|[cm]?[jt]s)$/;

/**
 * The programs in a source file; empty for a file that is not a program of Hydra, or cannot be read.
 *
 * @param bytes space that many files are read into, one after the other
 */
export function appsIn(file: string, place: AppPlace, bytes?: Buffer): readonly App[] {
  const source = textOf(file, isScript(file) ? SCRIPT_WORD : PYTHON_WORD, bytes);
  return source === undefined ? [] : appsOf(source, file, place);
}

const isScript = (file: string): boolean => SCRIPT.test(file);

/** The programs in a source, which need not be that of the file. */
export function appsOf(source: string, file: string, place: AppPlace): readonly App[] {
  if (isScript(file)) return scriptApps(source, file);
  if (!IMPORTS_HYDRA.test(source) || !DECLARES.test(source)) return [];
  const python = { ...place, file };
  const { calls, problem } = readPythonCalls(source, python);
  const env = envSetBy(calls, python);
  const named = { name: file, text: source };
  const apps = calls.flatMap((call): readonly App[] => {
    const app = appOf(call, calls, { python, text: named });
    return app === undefined ? [] : [{ ...app, env }];
  });
  return problem === undefined ? apps : brokenApps(apps, problem, named);
}

/** The programs in a source with a syntax error. Their declarations may stand behind it. */
function brokenApps(
  apps: readonly App[],
  { line, message }: SyntaxProblem,
  source: SourceText,
): readonly App[] {
  const { name: file, text } = source;
  const unread = new ConfigError({
    code: "app.unsupported",
    message: `${basename(file)} has a syntax error: ${message}`,
    origin: lineOrigin(source, line),
    hint: `python3 -m py_compile ${shellQuote(file)} shows what Python says of it`,
  });
  const broken = { unread, isBroken: true } as const;
  if (apps.length > 0) return apps.map((app) => ({ ...app, ...broken }));
  if (!/^\s*@(hydra\.)?main\b/m.test(text)) return [];
  const name = basename(file, extname(file));
  return [
    { kind: "main", file, line, name, ...NO_CONFIG, versionBase: undefined, env: {}, ...broken },
  ];
}

/** The programs in a source file. What `apps` of the settings say about the file takes precedence. */
export function declaredApps(
  file: string,
  place: AppPlace,
  { apps = {} }: Settings,
): readonly App[] {
  const [entry, ...others] = Object.values(apps).filter((app) => app.file === file);
  return entry === undefined || others.length > 0 ? appsIn(file, place) : [appFrom(entry, place)];
}

/**
 * Undefined also for a file without the word, which is ASCII. Searching a project is mostly this, in code that V8 has not
 * compiled yet: a search in a text takes half the time of one in a `Buffer`, whose methods are JavaScript.
 */
function textOf(
  file: string,
  word: string,
  bytes: Buffer = Buffer.allocUnsafe(MOST_BYTES),
): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, constants.O_RDONLY);
    const size = readAll(descriptor, bytes);
    return size < MOST_BYTES && bytes.toString("latin1", 0, size).includes(word)
      ? bytes.toString("utf8", 0, size)
      : undefined;
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function readAll(descriptor: number, bytes: Buffer): number {
  for (let size = 0; ; ) {
    const read = readSync(descriptor, bytes, size, bytes.length - size, null);
    size += read;
    if (read === 0 || size === bytes.length) return size;
  }
}

/** Hand-written sources are smaller. */
const MOST_BYTES = 2_000_000;

/** rootutils sets `${oc.env:PROJECT_ROOT}` to the project's root. */
function envSetBy(calls: readonly PythonCall[], python: PythonPlace): App["env"] {
  const call = calls.find(({ callee }) => isRootFinder(callee) && callee.endsWith("setup_root"));
  const root = call === undefined ? undefined : rootOf(call, python);
  return root?.kind === "text" ? { PROJECT_ROOT: root.text } : {};
}

interface AppSource {
  readonly python: PythonPlace;
  readonly text: SourceText;
}

const isOfHydra = (callee: string, name: string): boolean =>
  /^hydra(\.|$)/.test(callee) && callee.split(".").at(-1) === name;

function appOf(
  call: PythonCall,
  all: readonly PythonCall[],
  source: AppSource,
): Omit<App, "env"> | undefined {
  const { callee, line } = call;
  const { file } = source.python;
  const place = { file, line, name: basename(file, extname(file)) };
  if (isOfHydra(callee, "main")) return { kind: "main", ...place, ...mainConfig(call, source) };
  if (isOfHydra(callee, SEARCH_PATH_INITIALIZER))
    return {
      kind: "compose",
      ...place,
      ...NO_CONFIG,
      versionBase: call.named.has("version_base")
        ? readArgument(call, "version_base", versionPosition(callee), source).value
        : undefined,
      unread: unreadable(
        call,
        source,
        `${SEARCH_PATH_INITIALIZER} takes several config directories`,
        "name the first, and the others as its search path: -cp DIR -cn NAME hydra.searchpath=[file://OTHER]",
      ),
    };
  const initializer = INITIALIZERS.find((name) => isOfHydra(callee, name));
  if (initializer === undefined) return undefined;
  const composing = all.find((other) => isOfHydra(other.callee, "compose"));
  const path = readArgument(call, pathArgument(initializer), 0, source);
  const name = composing === undefined ? NONE : readArgument(composing, "config_name", 0, source);
  const base = readArgument(call, "version_base", versionPosition(initializer), source);
  const unread = path.unread ?? name.unread;
  const written = initializer === "initialize" ? pathOrDefault(path, base) : path.value;
  return {
    kind: "compose",
    ...place,
    configPath: written == null ? null : initializedPath(initializer, written, source),
    configName: name.value ?? null,
    versionBase: base.value,
    ...(unread !== undefined && { unread }),
  };
}

/** Of Hydra 1.4. */
const SEARCH_PATH_INITIALIZER = "initialize_config_search_path";
const INITIALIZERS = ["initialize", "initialize_config_dir", "initialize_config_module"] as const;
type Initializer = (typeof INITIALIZERS)[number];

const pathArgument = (initializer: Initializer): string =>
  initializer === "initialize"
    ? "config_path"
    : initializer === "initialize_config_dir"
      ? "config_dir"
      : "config_module";

/** The index of the argument `version_base` of what initializes Hydra. */
export const versionPosition = (callee: string): number =>
  callee.split(".").at(-1) === "initialize" ? 3 : 2;

const initializedPath = (initializer: Initializer, path: string, { python }: AppSource): string =>
  initializer === "initialize_config_module"
    ? `pkg://${path}`
    : initializer === "initialize"
      ? besideFile(path, python)
      : resolve(python.cwd, path);

const besideFile = (path: string, { file }: PythonPlace): string =>
  path.includes("://") ? path : resolve(dirname(file), path);

/** Without a version base the config directory defaults to that of the file; from 1.2 on there is no default. */
function pathOrDefault(path: Argument, base: Argument): string | null {
  const isOld = base.value === undefined || base.value === "1.1";
  return path.value === undefined ? (isOld ? "." : null) : path.value;
}

/** Resolves arguments as `@hydra.main` does. */
function mainConfig(
  call: PythonCall,
  source: AppSource,
): Pick<App, "configPath" | "configName" | "versionBase" | "unread"> {
  if (call.isDecorator && !call.isCalled)
    return {
      ...NO_CONFIG,
      versionBase: undefined,
      unread: unreadable(call, source, "@hydra.main is not called", "write @hydra.main(...)"),
    };
  const path = readArgument(call, "config_path", 0, source);
  const name = readArgument(call, "config_name", 1, source);
  const base = readArgument(call, "version_base", 2, source);
  const others = call.named.get("**");
  const unread =
    path.unread ??
    name.unread ??
    (others === undefined ? undefined : uncomputable(call, "its arguments", others, source));
  const written = pathOrDefault(path, base);
  return {
    configPath: written === null ? null : besideFile(written, source.python),
    configName: name.value ?? null,
    versionBase: base.value,
    ...(unread !== undefined && { unread }),
  };
}

const NO_CONFIG = { configPath: null, configName: null } as const;

const withoutExtension = (name: string | null) => name?.replace(/\.yaml$/, "");

/** A text, null for None, undefined if the argument is not given. */
interface Argument {
  readonly value: string | null | undefined;
  readonly unread?: ConfigError;
}

const NONE: Argument = { value: undefined };

function readArgument(
  call: PythonCall,
  name: string,
  position: number,
  source: AppSource,
): Argument {
  const argument = call.named.get(name) ?? call.positional[position];
  if (argument === undefined) return NONE;
  if (argument.kind === "text") return { value: argument.text };
  if (argument.kind === "none") return { value: null };
  return { value: undefined, unread: uncomputable(call, name, argument, source) };
}

const uncomputable = (
  call: PythonCall,
  name: string,
  argument: PythonValue,
  source: AppSource,
): ConfigError =>
  unreadable(
    call,
    source,
    `${name} of ${call.callee} cannot be read without running Python${argument.kind === "unknown" ? `: ${argument.source}` : ""}`,
    "say it in hydraconf.yaml: apps: {NAME: {file: FILE, config_path: DIR, config_name: NAME}}; or use -cp DIR -cn NAME",
  );

function unreadable(
  { line }: PythonCall,
  { text }: AppSource,
  message: string,
  hint: string,
): ConfigError {
  return new ConfigError({
    code: "app.unsupported",
    message,
    origin: lineOrigin(text, line),
    hint,
  });
}

/** A line of a source without its indentation. */
export function lineOrigin(source: SourceText, line: number): FileOrigin {
  const lines = source.text.split("\n");
  const preceding = lines.slice(0, line - 1).join("\n");
  const start = line === 1 ? 0 : preceding.length + 1;
  const text = lines[line - 1] ?? "";
  const indent = text.length - text.trimStart().length;
  return { kind: "file", source, start: start + indent, end: start + text.trimEnd().length };
}

/** `hydraMain({ configPath: "conf", configName: "config" }, task)` */
function scriptApps(source: string, file: string): readonly App[] {
  return [...source.matchAll(/\bhydraMain\(\s*\{/g)].map(({ index }) => {
    const options = balanced(source, source.indexOf("{", index));
    const option = (name: string): string | null | undefined => {
      const [, quote, value] =
        new RegExp(`\\b${name}\\s*:\\s*(?:(["'\`])([^"'\`$]*)\\1|null\\b)`).exec(options) ?? [];
      return quote === undefined ? (options.includes(`${name}: null`) ? null : undefined) : value;
    };
    const path = option("configPath");
    return {
      kind: "script",
      file,
      line: source.slice(0, index).split("\n").length,
      name: option("name") ?? basename(file, extname(file)),
      configPath: path == null ? null : resolve(dirname(file), option("base") ?? ".", path),
      configName: option("configName") ?? null,
      versionBase: option("versionBase") ?? null,
      env: {},
    };
  });
}

/** The text from a bracket to its closing one; brackets in strings may extend it. */
function balanced(source: string, from: number): string {
  let depth = 0;
  for (let offset = from; offset < source.length; offset++) {
    if (source[offset] === "{") depth++;
    if (source[offset] === "}" && --depth === 0) return source.slice(from, offset + 1);
  }
  return source.slice(from);
}

/** Folders that are not searched for programs. */
const SKIPPED =
  /^(\..*|node_modules|__pycache__|site-packages|dist|build|venv|env|outputs|multirun|tmp|coverage|wandb|mlruns|tests?|docs?|data|.*\.egg-info)$/;
const MOST_DEPTH = 4;
const MOST_FOLDERS = 2_000;

/** All programs below a directory, nearest first, except in virtual environments and hidden folders. */
export const findApps = (directory: string, place: AppPlace): readonly App[] => [
  ...appsBelow(directory, place),
];

/** Likewise, as they are found. */
function* appsBelow(directory: string, place: AppPlace): Generator<App> {
  const bytes = Buffer.allocUnsafe(MOST_BYTES);
  let level = [resolve(directory)];
  let seen = 0;
  for (let depth = 0; depth <= MOST_DEPTH && level.length > 0 && seen < MOST_FOLDERS; depth++) {
    const below: string[] = [];
    for (const folder of level) {
      seen++;
      const prefix = folder.endsWith(sep) ? folder : folder + sep;
      for (const entry of entriesOf(folder)) {
        const { name } = entry;
        if (entry.isFile()) {
          if (SOURCE.test(name)) yield* appsIn(prefix + name, place, bytes);
        } else if (entry.isDirectory() && !SKIPPED.test(name)) {
          const path = prefix + name;
          if (!isVirtualEnvironment(path)) below.push(path);
        }
      }
    }
    level = below;
  }
}

const isVirtualEnvironment = (path: string): boolean => existsSync(join(path, "pyvenv.cfg"));

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}

/** The result of a search for the program of a directory. */
export type AppSearch =
  | { readonly kind: "found"; readonly app: App }
  | { readonly kind: "none" }
  | { readonly kind: "several"; readonly apps: readonly App[] };

/**
 * The programs of a directory, as far as their configs are known; programs with the same configs count as one.
 *
 * @param options.listsAll false: of several, those up to the second suffice, which ends the search
 */
export function searchApp(
  place: AppPlace,
  settings: Settings,
  { listsAll = true }: { readonly listsAll?: boolean } = {},
): AppSearch {
  const found: App[] = [];
  for (const app of appsFor(place, settings)) {
    found.push(app);
    if (!listsAll && app.kind !== "compose" && haveOtherConfigs(candidatesOf(found))) break;
  }
  const apps = candidatesOf(found);
  const [app] = apps;
  if (app === undefined) return { kind: "none" };
  return haveOtherConfigs(apps) ? { kind: "several", apps } : { kind: "found", app };
}

function* appsFor(place: AppPlace, settings: Settings): Iterable<App> {
  const named = Object.values(settings.apps ?? {});
  if (settings.app !== undefined) yield namedApp(settings.app, place, settings);
  else if (named.length > 0) for (const entry of named) yield appFrom(entry, place);
  else yield* appsBelow(place.cwd, place);
}

/** A source that composes by itself is the program only where nothing has a command line. */
function candidatesOf(apps: readonly App[]): readonly App[] {
  const mains = apps.filter(({ kind }) => kind !== "compose");
  return mains.length > 0 ? mains : apps;
}

const haveOtherConfigs = ([first, ...others]: readonly App[]): boolean =>
  others.some(
    ({ configName, configPath }) =>
      configPath !== first?.configPath ||
      withoutExtension(configName) !== withoutExtension(first?.configName ?? null),
  );

/**
 * The program of `--app` or of the settings: a file, or a name of `apps`.
 *
 * @throws ConfigError `app.unsupported` if it is not a program of Hydra
 */
export function namedApp(
  { folder, origin, text }: Pick<PlacedText, "folder" | "text"> & { readonly origin?: FileOrigin },
  place: AppPlace,
  settings: Settings,
): App {
  const { apps = {} } = settings;
  const entry = Object.hasOwn(apps, text) ? apps[text] : undefined;
  if (entry !== undefined) return appFrom(entry, place);
  const file = resolve(folder, text);
  if (!existsSync(file))
    throw new ConfigError({
      code: "app.unsupported",
      message: `There is no program '${text}'`,
      key: "--app",
      nearest: nearest(text, Object.keys(apps)),
      ...(origin && { origin }),
      hint: "give the file of the program, or a name of `apps` in hydraconf.yaml",
    });
  const [app] = declaredApps(file, place, settings);
  if (app !== undefined) return app;
  throw new ConfigError({
    code: "app.unsupported",
    message: `No @hydra.main, initialize or hydraMain was found in '${text}'`,
    key: "--app",
    ...(origin && { origin }),
    hint: "say it in hydraconf.yaml: apps: {NAME: {file: FILE, config_path: DIR, config_name: NAME}}",
  });
}

/**
 * Settings take precedence over the program's source.
 *
 * @throws ConfigError `app.unsupported` for a file that does not exist
 */
function appFrom(entry: AppEntry, place: AppPlace): App {
  const { config_name, config_path, file, origin, version_base } = entry;
  if (!existsSync(file))
    throw new ConfigError({
      code: "app.unsupported",
      message: `There is no program '${file}'`,
      origin,
      hint: "paths in `apps` are relative to the settings file",
    });
  const [read] = appsIn(file, place);
  const base: App = read ?? {
    kind: "main",
    file,
    line: 1,
    name: basename(file, extname(file)),
    ...NO_CONFIG,
    versionBase: null,
    env: {},
  };
  const isDeclared = config_path !== undefined && config_name !== undefined;
  const { unread, ...fields } = base;
  return {
    ...fields,
    ...(config_path !== undefined && { configPath: config_path }),
    ...(config_name !== undefined && {
      configName: config_name,
    }),
    ...(version_base !== undefined && { versionBase: version_base }),
    ...(unread !== undefined && !isDeclared && { unread }),
  };
}

/** The error that asks the user to choose a program. */
export function severalApps(apps: readonly App[], cwd: string): ConfigError {
  const lines = new Map<string, App>();
  for (const app of apps) getOrCreate(lines, app.file, () => app);
  const list = [...lines.values()].map(
    (app) => `  ${relative(cwd, app.file)}  (${configOf(app, cwd)})`,
  );
  const first = [...lines.values()].find(({ unread }) => unread === undefined);
  return new ConfigError({
    code: "app.unsupported",
    message: `Several programs are here, with different configs:\n${firstFew(list, MOST_SHOWN, "\n")}`,
    key: "--app",
    hint: `choose one: --app ${first === undefined ? "FILE" : relative(cwd, first.file)}; or name it in hydraconf.yaml: app: FILE`,
  });
}

const MOST_SHOWN = 12;

function configOf({ configName, configPath, unread }: App, cwd: string): string {
  if (unread !== undefined) return "its config cannot be read without running it";
  const directory =
    configPath === null
      ? "no directory"
      : configPath.includes("://")
        ? configPath
        : relative(cwd, configPath) || ".";
  return `${directory}, ${configName ?? "no primary config"}`;
}
