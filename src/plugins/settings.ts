/** The settings files in which users name plugins for the commands: of the user, of a project and of a command line. */
import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { refuseClashes } from "../compose/config-plugin.ts";
import type { Flag } from "../job/options.ts";
import type { Invocation } from "../job/process/invocation.ts";
import { ConfigError } from "../values/errors.ts";
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

/**
 * The plugins of a command: its own, and those that settings files name. Without a settings file nothing is loaded.
 *
 * @param named the value of `--settings`
 * @throws ConfigError `plugin.*` for invalid settings, plugins that cannot be loaded, and names that two of them
 * provide
 */
export async function withSettings(
  own: readonly Plugin[],
  place: Pick<Invocation, "cwd" | "env">,
  named: string | true | undefined,
): Promise<readonly Plugin[]> {
  return (await loadSettings(own, place, named)).plugins;
}

/** The plugins together with all other settings. */
export async function loadSettings(
  own: readonly Plugin[],
  place: Pick<Invocation, "cwd" | "env">,
  named: string | true | undefined,
): Promise<{ readonly plugins: readonly Plugin[]; readonly settings: Settings }> {
  const files = settingsFiles(place, named);
  if (files.length === 0) return { plugins: own, settings: {} };
  const { readSettings, settingsPlugins } = await import("./load-settings.ts");
  const settings = readSettings(files);
  const plugins = [...own, ...(await settingsPlugins(settings, place))];
  refuseClashes(plugins);
  return { plugins, settings };
}

/**
 * The existing settings files in order of precedence, the strongest last: `hydraconf/settings.yaml` in the user's
 * folder of configs; of the project, `hydraconf.yaml` in the working directory or above it, up to the root of the
 * repository or, outside of one, of the package; and the one of the command line. Does not read them.
 *
 * @param named the value of `--settings`
 * @throws ConfigError `plugin.settings` for a file that another user can change, and for a named one that does not
 * exist
 */
function settingsFiles(
  { cwd, env }: Pick<Invocation, "cwd" | "env">,
  named: string | true | undefined,
): readonly string[] {
  const found = [userFile(env), projectFile(cwd)].filter(
    (file) => file !== undefined && existsSync(file),
  ) as string[];
  for (const file of found) refuseForeign(file);
  if (typeof named !== "string") return found;
  const file = resolve(cwd, named);
  if (!existsSync(file))
    throw new ConfigError({
      code: "plugin.settings",
      message: `The settings file '${file}' does not exist`,
      key: "--settings",
    });
  return [...found.filter((other) => other !== file), file];
}

/** As in the XDG Base Directory Specification, a relative path is ignored. */
function userFile(env: Invocation["env"]): string {
  const { HOME, XDG_CONFIG_HOME } = env;
  const folder = XDG_CONFIG_HOME?.startsWith("/")
    ? XDG_CONFIG_HOME
    : join(HOME ?? homedir(), ".config");
  return join(folder, "hydraconf", "settings.yaml");
}

/** If there is no project root above, only the working directory counts: `/tmp`, for example, is not a project. */
function projectFile(cwd: string): string | undefined {
  const above = [cwd];
  for (let at = cwd; at !== dirname(at); at = dirname(at)) above.push(dirname(at));
  const nearest = (name: string) => above.findIndex((folder) => existsSync(join(folder, name)));
  const repository = nearest(".git");
  const marks = ["package.json", "pyproject.toml", "setup.py"].map(nearest).filter((at) => at >= 0);
  const root = repository >= 0 ? repository : marks.length === 0 ? 0 : Math.min(...marks);
  return above
    .slice(0, root + 1)
    .flatMap((folder) => PROJECT_SETTINGS.map((name) => join(folder, name)))
    .find((file) => existsSync(file));
}

const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;

/**
 * Refuses a settings file that any user of the machine can change or create, because settings run code.
 * @throws ConfigError `plugin.settings`
 */
function refuseForeign(file: string): void {
  const own = process.getuid?.();
  if (own === undefined) return;
  const { mode, uid } = statSync(file);
  const folder = statSync(dirname(file));
  const isOpenFolder = (folder.mode & OTHERS_WRITE) !== 0;
  const isOwn = uid === own || uid === 0;
  // In a sticky folder everybody can create files, but only the owner can replace one.
  const isForeign = isOpenFolder && ((folder.mode & STICKY) === 0 || !isOwn);
  if ((mode & OTHERS_WRITE) === 0 && !isForeign) return;
  throw new ConfigError({
    code: "plugin.settings",
    message: `The settings file '${file}' is not used: every user of this machine can ${isForeign ? "replace" : "change"} it, and it runs code`,
    hint: `take that right away (chmod o-w), or name the file yourself: --settings ${file}`,
  });
}
