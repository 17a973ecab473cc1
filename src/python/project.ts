/** Chooses the configs that a command in a project's directory composes. */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DIALECT_FLAG, keysOfHelp } from "../app/cli/arguments/hydra-flags.ts";
import type { AdaptableCall, Adaptation } from "../app/cli/main.ts";
import type { Invocation } from "../app/job/process/invocation.ts";
import type { Settings } from "../app/plugins/load-settings.ts";
import { packageFolders } from "../app/plugins/python/interpreter.ts";
import { DIALECT_NAMES } from "../engine/values/dialect.ts";
import { ConfigError } from "../engine/values/errors.ts";
import { readablePath, realPlace } from "../foundation/system/files.ts";
import { getOrCreate, once } from "../foundation/system/get-or-create.ts";
import {
  type App,
  type AppPlace,
  type AppSearch,
  namedApp,
  searchApp,
  severalApps,
} from "./apps.ts";
import { shownCommand } from "./program-command-line.ts";
import { currentStore, storedExport } from "./store-export.ts";

/** The default config. */
const CONFIG = join("conf", "config.yaml");

const hasOwnTree = (cwd: string): boolean => existsSync(join(cwd, CONFIG));

/** The environment for composition: variables of the settings where the environment has none. */
export const projectEnv = (env: Invocation["env"], settings: Settings): Invocation["env"] => ({
  ...settings.env,
  ...definedIn(env),
});

const definedIn = (env: Invocation["env"]): Invocation["env"] =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));

/**
 * Finds the program whose configs `hydraconf` composes in this directory.
 *
 * @throws ConfigError `app.unsupported` if several programs are possible, or a required value is known only to Python
 */
export async function adaptToProject(adaptable: AdaptableCall): Promise<Adaptation> {
  const call = withCompletedFlags(adaptable);
  const { invocation, parsed, settings } = call;
  // Help for a KEY is about the configs of a program; help for the command must work without one.
  const isAside =
    ["hydra-help", "shell-completion"].some((id) => parsed.flags.has(id)) ||
    (parsed.flags.has("help") && keysOfHelp(parsed).length === 0);
  const env = projectEnv(invocation.env, settings);
  refuseProgram(parsed, invocation.argv);
  try {
    const place = { cwd: invocation.cwd, env };
    // A config tree here stands above several programs, whichever they are.
    const listsAll = !hasOwnTree(place.cwd);
    const search = once(() => searchApp(place, settings, { listsAll }));
    const app = chosenApp(call, place, search);
    if (app === undefined) {
      const store = storeFor(onlyApp(search()), call, env);
      return { env, ...(store && { options: { store } }) };
    }
    const hidden = hiddenTree(app, call);
    if (hidden !== undefined && app.unread !== undefined)
      throw new ConfigError({
        ...app.unread.details,
        hint: `${app.unread.details.hint ?? ""}; for ${CONFIG} here: -cp conf`,
      });
    const tree = treeOptions(app, call, env);
    const notes = [...(tree.notes ?? []), ...(hidden ?? [])];
    // The code of `hydraconf completion` names the Python program of the line; a user names one in the line.
    const { flags } = adaptable.parsed;
    const completesPython = flags.has("shell-completion") && flags.has("app");
    return {
      env: tree.env,
      ...(notes.length > 0 && { notes }),
      options: {
        ...tree.options,
        jobName: app.name,
        ...(completesPython && { subcommands: [], base: dirname(app.file) }),
      },
      completesPython,
    };
  } catch (error) {
    if (isAside) return { env };
    throw error;
  }
}

/**
 * What to say where a program that was found, and that nobody named, counts more than the default config of this directory, which is
 * another; undefined where it does not.
 */
export function hiddenTree(
  { configPath, file }: App,
  { invocation: { cwd }, parsed, settings }: AdaptableCall,
): readonly string[] | undefined {
  const isNamed = ["app", "config-path"].some((id) => parsed.flags.has(id));
  if (isNamed || settings.app !== undefined || !hasOwnTree(cwd)) return undefined;
  if (configPath !== null && realPlace(configPath) === realPlace(join(cwd, "conf")))
    return undefined;
  return [
    `the configs of ${readablePath(file, cwd)} are composed, not ${CONFIG} of this directory: -cp conf composes that, --app ${readablePath(file, cwd)} leaves this note out`,
  ];
}

/** A line that is completed has its own flags, such as `--app`. */
export const withCompletedFlags = (call: AdaptableCall): AdaptableCall => {
  const { completedFlags, parsed } = call;
  if (completedFlags === undefined) return call;
  return { ...call, parsed: { ...parsed, flags: new Map([...completedFlags, ...parsed.flags]) } };
};

/** Refuses a program after `--`: the user probably means `hydraconf run`. */
function refuseProgram(
  { flags, rest = [] }: AdaptableCall["parsed"],
  argv: readonly string[],
): void {
  const [word] = rest;
  // Our shell code for completion passes the words of the line there.
  if (flags.has("shell-completion")) return;
  if (word === undefined || /^[-+~]|=/.test(word)) return;
  throw new ConfigError({
    code: "app.usage",
    message: `'${word}' is not an override (KEY=VALUE)`,
    hint: `to run a program: ${shownCommand(["hydraconf", "run", ...argv])}`,
  });
}

function chosenApp(
  { parsed, settings, invocation }: AdaptableCall,
  place: AppPlace,
  search: () => AppSearch,
): App | undefined {
  const named = parsed.flags.get("app");
  if (typeof named === "string")
    return namedApp({ folder: invocation.cwd, text: named }, place, settings);
  if (parsed.flags.has("config-path")) return undefined;
  const found = search();
  if (found.kind === "found") return found.app;
  if (found.kind === "none" || hasOwnTree(place.cwd)) return undefined;
  throw severalApps(found.apps, place.cwd);
}

/**
 * The program whose configs are composed for a program without configs of its own: that of the settings, else the one
 * that is here; undefined if there is none, if it cannot be chosen or read, or if it has no primary config.
 */
export function composedApp(
  { parsed, settings }: Pick<AdaptableCall, "parsed" | "settings">,
  place: AppPlace,
): App | undefined {
  if (settings.app !== undefined) return namedApp(settings.app, place, settings);
  if (parsed.flags.has("config-path")) return undefined;
  const app = onlyApp(searchApp(place, settings, { listsAll: false }));
  return app?.configName == null || app.unread !== undefined ? undefined : app;
}

/** How many programs of a directory a line of `hydraconf run` is completed for. */
const MOST_COMPLETED = 5;

/** The programs of a directory that the line of a `hydraconf run` may be for, nearest first: one for each config. */
export function completedApps(
  { parsed, settings }: Pick<AdaptableCall, "parsed" | "settings">,
  place: AppPlace,
): readonly App[] {
  if (parsed.flags.has("config-path")) return [];
  const search = searchApp(place, settings);
  if (search.kind === "none") return [];
  const all = search.kind === "found" ? [search.app] : search.apps;
  const byConfig = new Map<string, App>();
  for (const app of all) {
    const { configName, configPath, unread } = app;
    if (configName === null || unread !== undefined) continue;
    getOrCreate(byConfig, JSON.stringify([configPath, configName]), () => app);
  }
  return [...byConfig.values()].slice(0, MOST_COMPLETED);
}

const onlyApp = (search: AppSearch): App | undefined =>
  search.kind === "found" ? search.app : undefined;

/** What the project's Python registers, for a program in it or for any; undefined without an export. */
function storeFor(
  app: App | undefined,
  { invocation, parsed, settings }: Pick<AdaptableCall, "invocation" | "parsed" | "settings">,
  env: Invocation["env"],
): ReturnType<typeof currentStore> {
  const { console, cwd, worker } = invocation;
  if (app?.kind === "script") return undefined;
  // The process that began the sweep has looked whether it is current, and completion runs and prints nothing.
  if (worker !== undefined || parsed.flags.has("shell-completion"))
    return storedExport(cwd, app?.file)?.store;
  const about = { cwd, env, ...(app !== undefined && { program: app.file }) };
  return currentStore(settings, about, (message) => console.stderr(`UserWarning: ${message}\n`));
}

/**
 * How the configs of a program are composed. Without a program and without a config tree there is no config, and every
 * key is free.
 *
 * @throws ConfigError for a program whose configs only Python can determine
 */
export function treeOptions(
  app: App | undefined,
  call: AdaptableCall,
  env: Invocation["env"],
): Required<Pick<Adaptation, "env" | "options">> & Pick<Adaptation, "notes"> {
  const { invocation, parsed, settings } = call;
  const { cwd } = invocation;
  const place = { cwd, env };
  const packageRoots = () => [
    ...(app === undefined ? [] : [join(app.file, "..")]),
    ...packageFolders(settings, place),
  ];
  const isNamed = parsed.flags.has("config-path") || parsed.flags.has("config-name");
  if (app === undefined) {
    if (isNamed || hasOwnTree(cwd)) {
      const search = searchApp(place, settings, { listsAll: false });
      const store = storeFor(onlyApp(search), call, env);
      return { env, options: { packageRoots, ...(store && { store }) } };
    }
    refuseUnnamed(cwd);
    return { env, options: { configPath: null, configName: null, freeKeys: [""] } };
  }
  if (app.unread !== undefined && (!isNamed || app.isBroken === true)) throw app.unread;
  const store = storeFor(app, call, env);
  return {
    env: { ...env, ...app.env },
    options: {
      ...(store && { store }),
      configPath: app.configPath,
      configName: app.configName,
      packageRoots,
      ...versionBaseOf(app),
    },
    ...(isVersionOpen(app) &&
      !parsed.flags.has(DIALECT_FLAG.id) && { notes: [openVersion(app, cwd)] }),
  };
}

/** A program of Python that says nothing of its version; `None` is said. */
const isVersionOpen = ({ kind, unread, versionBase }: App): boolean =>
  kind !== "script" && versionBase === undefined && unread === undefined;

const openVersion = ({ file, line }: App, cwd: string): string =>
  `${readablePath(file, cwd)}:${line}: the program names no version_base, so Hydra 1.3 behaves as 1.1 and 1.4 as 1.4: write version_base="1.3", or "1.1" to keep it`;

/** A Python program without a version base behaves as with 1.1; a version without a dialect here gets the default. */
function versionBaseOf({
  kind,
  versionBase,
}: App): Pick<Adaptation["options"] & {}, "versionBase"> {
  if (versionBase === undefined) return kind === "script" ? {} : { versionBase: "1.1" };
  return DIALECT_NAMES.some((name) => name === versionBase)
    ? { versionBase: String(versionBase) }
    : {};
}

/** If `conf` exists without the default config, the user probably forgot the name of the config. */
function refuseUnnamed(cwd: string): void {
  const names = yamlNames(resolve(cwd, "conf"));
  if (names.length === 0) return;
  throw new ConfigError({
    code: "compose.missing_config",
    message: "conf/ has no config.yaml",
    key: "--config-name",
    available: names,
    hint: `name the primary config: -cn ${names[0]}`,
  });
}

function yamlNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".yaml"))
      .map((name) => name.slice(0, -".yaml".length))
      .sort();
  } catch {
    return [];
  }
}
