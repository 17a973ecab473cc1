/** What can be composed in a project: programs, their primary configs, and the options of their groups. */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Composer, openComposer } from "../app/job/composer.ts";
import type { Invocation } from "../app/job/process/invocation.ts";
import type { Settings } from "../app/plugins/load-settings.ts";
import { packageFolders } from "../app/plugins/python/interpreter.ts";
import type { ConfigPlugin, StoreEntry } from "../engine/compose/index.ts";
import { allGroups, type Repository } from "../engine/compose/index.ts";
import type { Dialect } from "../engine/values/dialect.ts";
import { isConfigError } from "../engine/values/errors.ts";
import type { Reading } from "../engine/values/yaml/reader.ts";
import type { App } from "../python/apps.ts";
import { projectEnv } from "../python/project.ts";
import { storedExport } from "../python/store-export.ts";

/** A primary config, with the place where its tree is. */
export interface PrimaryConfig {
  /** The program; undefined for a tree without one. */
  readonly app: App | undefined;
  /** The directory, or `pkg://...`, as the program says it; null for none, undefined for the default of the dialect. */
  readonly configPath: string | null | undefined;
  readonly configName: string | null;
  readonly configDir?: string;
}

/** What composers of a project share. */
export interface ProjectPlace {
  readonly invocation: Invocation;
  readonly settings: Settings;
  readonly plugins: readonly ConfigPlugin[];
}

/** How a primary config is read. */
export interface TreeReading {
  readonly dialect: Dialect;
  readonly overlay?: Reading["overlay"];
}

/** A composer of a primary config that prints nothing. */
export function openPrimary(
  { app, configDir, configName, configPath }: PrimaryConfig,
  { invocation, plugins, settings }: ProjectPlace,
  { dialect, overlay }: TreeReading,
): Composer {
  const { cwd } = invocation;
  const env = { ...projectEnv(invocation.env, settings), ...app?.env };
  const store = app === undefined ? undefined : storeOf(app, cwd);
  const path = configPath === undefined ? defaultPath(app, dialect) : configPath;
  return openComposer(
    {
      jobName: app?.name ?? "app",
      configPath: path,
      configName,
      plugins,
      dialect,
      packageRoots: () => [
        ...(app === undefined ? [] : [dirname(app.file)]),
        ...packageFolders(settings, { cwd, env }),
      ],
      ...(configDir !== undefined && { configDir }),
      ...(overlay !== undefined && { overlay }),
      ...(store !== undefined && { store }),
    },
    { ...invocation, env, console: SILENT },
  );
}

const defaultPath = (app: App | undefined, { defaultConfigPath }: Dialect): string | null =>
  app === undefined || defaultConfigPath === null
    ? null
    : resolve(dirname(app.file), defaultConfigPath);

const SILENT = { stdout() {}, stderr() {} };

/** What the project's Python registers; undefined without an export, which `hydraconf python sync` makes. */
function storeOf({ file, kind }: App, cwd: string): ReadonlyMap<string, StoreEntry> | undefined {
  if (kind === "script") return undefined;
  try {
    return storedExport(cwd, file)?.store;
  } catch (error) {
    if (isConfigError(error)) return undefined;
    throw error;
  }
}

/** The default tree of a project without programs. */
export const DEFAULT_TREE = { directory: "conf", name: "config" } as const;

/** The primary config of `conf/`, where it is. */
export function plainTree(cwd: string): readonly PrimaryConfig[] {
  const { directory, name } = DEFAULT_TREE;
  return existsSync(join(cwd, directory, `${name}.yaml`))
    ? [{ app: undefined, configPath: join(cwd, directory), configName: name }]
    : [];
}

/** A choice of an option that a command line can make. */
export interface OptionChoice {
  readonly group: string;
  readonly override: string;
}

/**
 * Each option of each group once: as the override of every choice that the primary config makes of the group, and as an
 * addition where it makes none.
 *
 * @param choices the option of each group of the primary config, by override key
 */
export function optionChoices(
  repository: Repository,
  choices: ReadonlyMap<string, string | null>,
): readonly OptionChoice[] {
  return allGroups(repository).flatMap((group) => {
    const keys = [...choices.keys()].filter((key) => key === group || key.startsWith(`${group}@`));
    const options = ownOptions(repository, group);
    return keys.length === 0
      ? options.map((option) => ({ group, override: `+${group}=${option}` }))
      : keys.flatMap((key) =>
          options
            .filter((option) => choices.get(key) !== option)
            .map((option) => ({ group, override: `${key}=${option}` })),
        );
  });
}

/** The options of a group; of Hydra's own groups only those that the tree adds. */
function ownOptions(repository: Repository, group: string): readonly string[] {
  if (!/^hydra(\/|$)/.test(group)) return repository.list(group, "config");
  const own = repository.sources.filter(
    (source) => OWN_PROVIDER.test(source.provider) && source.isGroup(group),
  );
  return [...new Set(own.flatMap((source) => source.list(group, "config")))].sort();
}

/** The primary directory, and those that flags and the config add. */
const OWN_PROVIDER = /^(main|command-line|hydra\.searchpath.*)$/;
