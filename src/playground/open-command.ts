/** `hydraconf open`: shows a config tree in a browser. The page and its server are in a package of their own. */
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type CommandLine, commandHelp, usage } from "../app/command-line/command-line.ts";
import { type ParsedCommand, parseCommandLine } from "../app/command-line/parse.ts";
import { portError, portOf } from "../app/command-line/port.ts";
import { listenForInterrupt } from "../app/job/process/interrupt.ts";
import type { Invocation } from "../app/job/process/invocation.ts";
import type { Settings } from "../app/plugins/load-settings.ts";
import { loadSettings } from "../app/plugins/settings-files.ts";
import { DEFAULT_DIALECT, DIALECT_NAMES, type DialectName } from "../engine/values/dialect.ts";
import { ConfigError, nearest } from "../engine/values/errors.ts";
import { readablePath } from "../foundation/system/files.ts";
import { importFile } from "../foundation/system/import-file.ts";
import { findPackage, type PackageInfo } from "../foundation/system/package-root.ts";
import { requireIn } from "../foundation/system/require-in.ts";
import { shellCommand } from "../foundation/text/shell-words.ts";
import { type App, findApps, namedApp, searchApp, severalApps } from "../python/apps.ts";
import type { PlaygroundRequest } from "./server/serve.ts";
import type { ProgramLine } from "./tree-document.ts";

/** The package with the page. */
const PACKAGE = "hydraconf-playground";

export const OPEN_LINE: CommandLine = {
  name: "hydraconf open",
  takes: { shown: "[DIR|FILE]", expected: "at most one directory or file", most: 1 },
  about: `Shows the config tree in DIR (default: the program's, conf) in a browser of this machine, or that around the primary config
FILE: its files, the options of its groups, the config that overrides compose, where each value comes from, and what another
line changes. Everything is computed in the page. Nothing is run, and nothing is written without --write. The page is the
package ${PACKAGE}.`,
  options: {
    "config-name": {
      short: "cn",
      value: "NAME",
      help: "the primary config (default: the program's, config)",
    },
    app: { value: "FILE", help: "the program whose tree it is, or its name in hydraconf.yaml" },
    "version-base": {
      value: "VERSION",
      choices: DIALECT_NAMES,
      help: "behave as this version of Hydra (default: as the program says)",
    },
    write: { help: "let the page save changed files" },
    port: { value: "PORT", help: "a fixed port, e.g. for ssh -L; by default any that is free" },
  },
  epilogue: `  hydraconf open                        the tree of the program here, or conf/
  hydraconf open configs --write        another directory, whose files may be changed
  hydraconf open configs/train.yaml     that directory, with its primary config train

The address that it prints has a secret part, and is for this machine alone. Ctrl-C ends it.

Exit code: 1 no tree, or ${PACKAGE} is not installed, 2 wrong usage, 130 Ctrl-C.`,
};

/** `hydraconf open`. @returns the exit code */
export async function runOpen(args: readonly string[], invocation: Invocation): Promise<number> {
  const parsed = parseCommandLine(OPEN_LINE, args);
  const { console } = invocation;
  if (parsed.has("help")) {
    console.stdout(commandHelp(OPEN_LINE));
    return 0;
  }
  const port = portOf(parsed.value("port"), "hydraconf open --port 8080");
  const { settings } = await loadSettings([], invocation, { trustCommand: "hydraconf trust" });
  const tree = treeToOpen(parsed, invocation, settings);
  const serve = await loadPlayground();
  const interrupt = listenForInterrupt();
  try {
    await serve({
      ...tree,
      canWrite: parsed.has("write"),
      port,
      signal: interrupt.signal,
      onAddress(address) {
        console.stdout(`${address}\n`);
        console.stderr(`${tree.title} in a browser of this machine; Ctrl-C ends it\n`);
      },
    });
  } catch (error) {
    throw portError(error, port);
  } finally {
    interrupt.release();
  }
  return interrupt.exitCode() ?? 0;
}

type OpenedTree = Pick<
  PlaygroundRequest,
  "configName" | "dialect" | "directory" | "place" | "program" | "title"
>;

/** @throws ConfigError for no tree, and a program whose tree is unknown */
export function treeToOpen(
  parsed: ParsedCommand,
  { cwd, env }: Pick<Invocation, "cwd" | "env">,
  settings: Settings,
): OpenedTree {
  const asked = askedTree(parsed, cwd);
  const app = programOf(asked.directory, parsed, { cwd, env }, settings);
  const place = asked.directory ?? resolve(cwd, app?.configPath ?? "conf");
  if (!isDirectory(place))
    throw existsSync(place) ? notDirectory(place, cwd) : noTree(readablePath(place, cwd), cwd);
  const title = readablePath(place, cwd);
  if (asked.configName !== undefined) requireConfig(asked.configName, place, title, asked.lineOf);
  const configName =
    asked.configName ?? app?.configName?.replace(/\.yaml$/, "") ?? firstConfig(place, title);
  const dialect = DIALECT_NAMES.find((name) => name === parsed.value("version-base"));
  return {
    place,
    title,
    directory: basename(place),
    configName,
    dialect: dialect ?? dialectOf(app),
    program: app === undefined ? ourLine(title, configName) : programLine(app, configName, cwd),
  };
}

/** What the line names: a directory, and the primary config in it. */
interface AskedTree {
  readonly directory: string | undefined;
  readonly configName: string | undefined;
  /** The command line with another primary config, for a hint. */
  readonly lineOf: (configName: string) => string;
}

/** @throws ConfigError `app.usage` for two primary configs */
function askedTree(parsed: ParsedCommand, cwd: string): AskedTree {
  const [argument] = parsed.positionals;
  const named = parsed.value("config-name")?.replace(/\.yaml$/, "");
  const lineOf = (name: string) => `--config-name ${name}`;
  if (argument === undefined) return { directory: undefined, configName: named, lineOf };
  const path = resolve(cwd, argument);
  const isConfig = isFile(path) || (!existsSync(path) && isDirectory(dirname(path)));
  if (!path.endsWith(".yaml") || !isConfig) return { directory: path, configName: named, lineOf };
  if (named !== undefined)
    throw usage(
      `${argument} is the primary config, and so is that of --config-name`,
      "name one of them",
    );
  const shown = dirname(argument);
  return {
    directory: dirname(path),
    configName: basename(path, ".yaml"),
    lineOf: (name) => shellCommand(["hydraconf", "open", join(shown, `${name}.yaml`)]),
  };
}

/** The program of the line, of the directory that it names, or the only one here. */
function programOf(
  directory: string | undefined,
  parsed: ParsedCommand,
  place: Pick<Invocation, "cwd" | "env">,
  settings: Settings,
): App | undefined {
  const { cwd } = place;
  const named = parsed.value("app");
  if (named !== undefined) {
    const app = namedApp({ folder: cwd, text: named }, place, settings);
    // Of a directory that the line names only the command line is the program's.
    return directory === undefined ? withTree(app) : app;
  }
  if (directory !== undefined)
    return findApps(cwd, place).find(
      ({ configPath, unread }) =>
        configPath !== null && unread === undefined && isSame(configPath, directory),
    );
  const search = searchApp(place, settings);
  if (search.kind === "none") return undefined;
  if (search.kind === "several") {
    if (isDirectory(join(cwd, "conf"))) return undefined;
    throw severalApps(search.apps, cwd);
  }
  return withTree(search.app);
}

/**
 * The program, or undefined if its configs are in no directory.
 * @throws ConfigError `app.unsupported` if only running it would tell where they are
 */
function withTree(app: App): App | undefined {
  if (app.unread !== undefined) throw app.unread;
  return app.configPath === null || app.configPath.includes("://") ? undefined : app;
}

const isSame = (path: string, other: string): boolean =>
  path === other ||
  (isDirectory(path) && isDirectory(other) && realpathSync(path) === realpathSync(other));

const isDirectory = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

const isFile = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** @throws ConfigError `compose.missing_config` for a config that is no file of the tree */
function requireConfig(
  name: string,
  place: string,
  title: string,
  lineOf: AskedTree["lineOf"],
): void {
  if (isFile(join(place, `${name}.yaml`))) return;
  const folder = dirname(name);
  const inFolder = (name: string) => (folder === "." ? name : `${folder}/${name}`);
  const available = configNames(join(place, folder)).map(inFolder);
  const near = nearest(name, available);
  throw new ConfigError({
    code: "compose.missing_config",
    message: `There is no config '${name}' in '${title}'`,
    key: name,
    available,
    ...(near !== undefined && { nearest: near }),
    hint: `use ${lineOf(near ?? available[0] ?? "NAME")}`,
  });
}

/** `config`, or the first of another name. */
function firstConfig(place: string, title: string): string {
  const names = configNames(place);
  const name = names.includes("config") ? "config" : names[0];
  if (name !== undefined) return name;
  throw new ConfigError({
    code: "compose.missing_config",
    message: `'${title}' has no primary config`,
    hint: "name the directory with the primary config, as --config-path of the program does",
  });
}

/** A file that is no config where its directory was meant. */
function notDirectory(file: string, cwd: string): ConfigError {
  const shown = readablePath(file, cwd);
  const words = /\.(?:py|[cm]?[jt]s)$/.test(file)
    ? ["--app", shown]
    : [readablePath(dirname(file), cwd)];
  return new ConfigError({
    code: "compose.missing_config",
    message: `'${shown}' is a file, and the configs are in a directory`,
    hint: `use ${shellCommand(["hydraconf", "open", ...words])}`,
  });
}

function noTree(shown: string, cwd: string): ConfigError {
  const others = namesIn(cwd).filter(
    (name) => !name.startsWith(".") && configNames(join(cwd, name)).length > 0,
  );
  return new ConfigError({
    code: "compose.missing_config",
    message: `There is no directory '${shown}'`,
    ...(others.length > 0 && { available: others }),
    hint: `name the directory of the configs: hydraconf open ${others[0] ?? "DIR"}`,
  });
}

const configNames = (folder: string): readonly string[] =>
  namesIn(folder).flatMap((name) => /^(.*)\.yaml$/s.exec(name)?.[1] ?? []);

/** The sorted names in a directory; none if there is none. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

/** A program of Python that says nothing behaves as with 1.1. */
function dialectOf(app: App | undefined): DialectName {
  const { kind, versionBase } = app ?? {};
  const named = DIALECT_NAMES.find((name) => name === versionBase);
  if (named !== undefined) return named;
  return app === undefined || kind === "script" || versionBase === null
    ? DEFAULT_DIALECT.name
    : "1.1";
}

const ourLine = (title: string, configName: string): ProgramLine => ({
  words: ["hydraconf", ...(title === "conf" ? [] : ["-cp", title])],
  configName: "config",
  jobName: configName,
});

function programLine(app: App, configName: string, cwd: string): ProgramLine {
  const file = relative(cwd, app.file);
  return {
    words: [app.kind === "script" ? "node" : "python", file],
    configName: app.configName?.replace(/\.yaml$/, "") ?? configName,
    jobName: app.name,
  };
}

type Serve = (request: PlaygroundRequest) => Promise<void>;

/** @throws ConfigError `app.unsupported` if the package is not installed, or another version of it */
async function loadPlayground(): Promise<Serve> {
  const file = playgroundFile(findPackage());
  const { href } = pathToFileURL(file);
  const module = (await importFile(href)) as { readonly servePlayground: Serve };
  return module.servePlayground;
}

/**
 * The server of the page: in the package that is installed beside this one, or, in a clone, in its build. The working directory is not
 * searched: nothing of a project that the user only looks at is run.
 *
 * @param library the package hydraconf
 * @throws ConfigError `app.unsupported` if it is not installed, or in another version: neither knows what the other one of it needs
 */
export function playgroundFile(library: PackageInfo | undefined): string {
  if (library !== undefined) {
    const built = join(library.root, "dist", "playground", "index.js");
    if (existsSync(built)) return built;
    const found = installedPlayground(library.root);
    if (found?.version === library.version) return found.file;
    if (found !== undefined)
      throw new ConfigError({
        code: "app.unsupported",
        message: `${PACKAGE} is of version ${found.version}, and hydraconf of ${library.version}`,
        hint: `install both in one version: npm install hydraconf@${library.version} ${PACKAGE}@${library.version}`,
      });
  }
  throw new ConfigError({
    code: "app.unsupported",
    message: `The page of hydraconf open is the package ${PACKAGE}, which is not installed beside hydraconf`,
    hint: `install both in one place: npm install hydraconf ${PACKAGE}, or npm install -g for all projects`,
  });
}

function installedPlayground(
  root: string,
): { readonly file: string; readonly version: string } | undefined {
  const { resolve: find } = requireIn(root);
  try {
    const manifest = readFileSync(find(`${PACKAGE}/package.json`), "utf8");
    return { file: find(PACKAGE), version: String(JSON.parse(manifest).version) };
  } catch {
    return undefined;
  }
}
