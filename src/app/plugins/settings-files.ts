/** The settings files in which users name plugins for the commands: of the user, of a project and of a command line. */
import { existsSync, type Stats, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { refuseClashes } from "../../engine/compose/config-plugin.ts";
import { ConfigError } from "../../engine/values/errors.ts";
import { errorCode } from "../../foundation/system/files.ts";
import { userFolder } from "../../foundation/system/user-folder.ts";
import type { Flag } from "../job/options.ts";
import type { Invocation } from "../job/process/invocation.ts";
import type { Plugin } from "./contract/plugin.ts";
import type { Settings } from "./load-settings.ts";

/** The names of a project's settings file: the first existing one counts. */
export const PROJECT_SETTINGS = ["hydraconf.yaml", "hydraconf.settings.yaml"];

/** The program flag that takes a settings file. */
export const SETTINGS_FLAG: Flag = {
  id: "settings",
  names: ["--settings"],
  takes: "value",
  completes: "file",
  help: "A settings file, after those of the user and the project (docs/plugins.md)",
};

/** How a command treats what a project's settings file names. */
export interface SettingsRequest {
  /** The value of `--settings`. */
  readonly named?: string | true | undefined;
  /** What users type to trust a project; absent for a program that runs what settings name in any case. */
  readonly trustCommand?: string | undefined;
}

/** The settings of a command. */
export interface LoadedSettings {
  /** Entries that may not run say so (`refusal`). */
  readonly settings: Settings;
  /**
   * Loads the plugins: the command's own, and those that settings files name. Without a settings file nothing is loaded.
   *
   * @throws ConfigError `plugin.*` for plugins that cannot be loaded or may not run, and names that two of them provide
   */
  readonly plugins: () => Promise<readonly Plugin[]>;
  /** Like `plugins`, without those that may not run. */
  readonly trustedPlugins: () => Promise<readonly Plugin[]>;
  /** Why the project's settings may not run code. */
  readonly refusal?: ConfigError;
  /** The value of `HYDRACONF_TRUST` for other processes that run the same project. */
  readonly trust?: string;
}

/**
 * Reads the settings of a command. Nothing is run before plugins are loaded.
 *
 * @param standard the command's own plugins
 * @throws ConfigError `plugin.settings` for invalid settings
 */
export async function loadSettings(
  standard: readonly Plugin[],
  { cwd, env }: Pick<Invocation, "cwd" | "env">,
  { named, trustCommand }: SettingsRequest,
): Promise<LoadedSettings> {
  const place = { cwd, env };
  const { files, project } = settingsFiles(place, named);
  if (files.length === 0) {
    const plugins = async () => standard;
    return { settings: {}, plugins, trustedPlugins: plugins };
  }
  const { mergeSettings, readSettings, settingsPlugins } = await import("./load-settings.ts");
  const each = files.map(readSettings);
  const merged = mergeSettings(each);
  const load = async (settings: Settings): Promise<readonly Plugin[]> => {
    const plugins = [...standard, ...(await settingsPlugins(settings, place))];
    refuseClashes(plugins);
    return plugins;
  };
  const consents = async () => {
    if (project === undefined || trustCommand === undefined) return undefined;
    const { consentTo, withRefusal } = await import("./trust.ts");
    const settings = each[files.indexOf(project)] ?? {};
    const consent = consentTo({ file: project, settings }, { ...place, command: trustCommand });
    return consent.isGiven
      ? { settings: merged, ...(consent.passed !== undefined && { trust: consent.passed }) }
      : { settings: withRefusal(merged, project, consent.refusal), refusal: consent.refusal };
  };
  const { settings, ...consent } = (await consents()) ?? { settings: merged };
  const { plugins = [], ...others } = settings;
  const trusted = plugins.filter(({ refusal }) => refusal === undefined);
  return {
    settings,
    plugins: () => load(settings),
    trustedPlugins: () => load({ ...others, plugins: trusted }),
    ...consent,
  };
}

/**
 * The existing settings files in order of precedence, the strongest last: `hydraconf/settings.yaml` in the user's
 * folder of configs; of the project, `hydraconf.yaml` in the working directory or above it, up to the root of the
 * repository or, outside of one, of the package; and the one of the command line. Does not read them.
 *
 * @param named the value of `--settings`
 * @returns `project` only if it is not named on the command line, too
 * @throws ConfigError `plugin.settings` for a file that another user can change, and for a named one that does not
 * exist
 */
function settingsFiles(
  { cwd, env }: Pick<Invocation, "cwd" | "env">,
  named: string | true | undefined,
): { readonly files: readonly string[]; readonly project: string | undefined } {
  const project = projectSettingsFile(cwd);
  const user = join(userFolder(env), "settings.yaml");
  const found = [...(isThere(user) ? [user] : []), ...(project === undefined ? [] : [project])];
  for (const file of found) refuseForeign(file);
  if (typeof named !== "string") return { files: found, project };
  const file = resolve(cwd, named);
  if (!isThere(file))
    throw new ConfigError({
      code: "plugin.settings",
      message: `The settings file '${file}' does not exist`,
      key: "--settings",
    });
  return {
    files: [...found.filter((other) => other !== file), file],
    project: project === file ? undefined : project,
  };
}

/**
 * The settings file of the project around a directory. If there is no project root above, only the working directory counts: `/tmp`, for example, is not a
 * project.
 */
export function projectSettingsFile(cwd: string): string | undefined {
  const above = [cwd];
  for (let directory = cwd; directory !== dirname(directory); directory = dirname(directory))
    above.push(dirname(directory));
  const nearest = (name: string) => above.findIndex((folder) => existsSync(join(folder, name)));
  const repository = nearest(".git");
  const marks = ["package.json", "pyproject.toml", "setup.py"]
    .map(nearest)
    .filter((index) => index >= 0);
  const root = repository >= 0 ? repository : marks.length === 0 ? 0 : Math.min(...marks);
  return above
    .slice(0, root + 1)
    .flatMap((folder) => PROJECT_SETTINGS.map((name) => join(folder, name)))
    .find(isThere);
}

/** Absence, as far as this user can see. Any other problem of a file is told when it is read. */
const ABSENT: ReadonlySet<string | undefined> = new Set([
  "EACCES",
  "ENAMETOOLONG",
  "ENOENT",
  "ENOTDIR",
]);

function isThere(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return !ABSENT.has(errorCode(error));
  }
}

function statusOf(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch {
    return undefined;
  }
}

const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;

/**
 * Refuses a settings file that any user of the machine can change or create, because settings run code.
 * @throws ConfigError `plugin.settings`
 */
export function refuseForeign(file: string): void {
  const userId = process.getuid?.();
  if (userId === undefined) return;
  const status = statusOf(file);
  // Reading it tells what is wrong with it.
  if (status === undefined) return;
  const { mode, uid } = status;
  const folder = statSync(dirname(file));
  const isOpenFolder = (folder.mode & OTHERS_WRITE) !== 0;
  const isOwn = uid === userId || uid === 0;
  // In a sticky folder everybody can create files, but only the owner can replace one.
  const isForeign = isOpenFolder && ((folder.mode & STICKY) === 0 || !isOwn);
  if ((mode & OTHERS_WRITE) === 0 && !isForeign) return;
  throw new ConfigError({
    code: "plugin.settings",
    message: `The settings file '${file}' is not used: every user of this machine can ${isForeign ? "replace" : "change"} it, and it runs code`,
    hint: `take that right away (chmod o-w), or name the file yourself: --settings ${file}`,
  });
}
