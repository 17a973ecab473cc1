/** What can be composed in a project: programs, their primary configs, and the options of their groups. */
import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type Composer, openComposer } from "../app/job/composer.ts";
import type { Invocation } from "../app/job/process/invocation.ts";
import type { Settings } from "../app/plugins/load-settings.ts";
import { packageFolders } from "../app/plugins/python/interpreter.ts";
import {
  allGroups,
  type ConfigPlugin,
  type Repository,
  type StoreEntry,
} from "../engine/compose/index.ts";
import type { Dialect } from "../engine/values/dialect.ts";
import { isConfigError } from "../engine/values/errors.ts";
import type { Reading } from "../engine/values/yaml/reader.ts";
import { getOrCreate } from "../foundation/system/get-or-create.ts";
import type { App } from "../python/apps.ts";
import { projectEnv } from "../python/project.ts";
import { storedExport } from "../python/store-export.ts";
import { textOf } from "./project-files.ts";

/** A primary config, with the place where its tree is. */
export interface PrimaryConfig {
  /** The program; undefined for a tree without one. */
  readonly app: App | undefined;
  /** The directory, or `pkg://...`, as the program says it; null for none, undefined for the default of the dialect. */
  readonly configPath: string | null | undefined;
  readonly configName: string | null;
  readonly configDir?: string;
  /** Other programs with the same configs and version, which are not composed again. */
  readonly alike?: readonly App[];
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

/** A directory that looks like a config tree, and the configs of it that look like primary ones. */
export interface ConfigTree {
  readonly directory: string;
  readonly names: readonly string[];
}

/** A defaults list, as Hydra alone has it; `defaults:` of other formats are maps. */
const DEFAULTS =
  /^defaults[ \t]*:[ \t]*(?:\[|(?:#[^\n]*)?\r?\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*-[ \t])/m;
const HEADER = /^#[ \t]*@package[ \t]/m;
const CONFIG = /\.yaml$/;

/** The config trees among the files of a project: the outermost directories of configs with a defaults list or a package header. */
export function configTrees(files: readonly string[]): readonly ConfigTree[] {
  const namesByDirectory = new Map<string, string[]>();
  // Nearest first: a directory comes before those in it.
  for (const file of files) {
    if (!CONFIG.test(file)) continue;
    const directory = dirname(file);
    const isBelow = [...namesByDirectory.keys()].some((outer) => directory.startsWith(`${outer}/`));
    const text = isBelow ? undefined : textOf(file);
    if (text === undefined || !(DEFAULTS.test(text) || HEADER.test(text))) continue;
    getOrCreate(namesByDirectory, directory, () => []).push(basename(file, ".yaml"));
  }
  return [...namesByDirectory].map(([directory, names]) => ({ directory, names }));
}

/** The configs that a program may name as its primary one: those of its directory with a defaults list, or else all. */
export function primaryNames(directory: string, files: readonly string[]): readonly string[] {
  const inDirectory = files.filter((file) => CONFIG.test(file) && dirname(file) === directory);
  const listing = inDirectory.filter((file) => DEFAULTS.test(textOf(file) ?? ""));
  return (listing.length > 0 ? listing : inDirectory).map((file) => basename(file, ".yaml"));
}

/** A choice of an option that a command line can make. */
export interface OptionChoice {
  readonly group: string;
  readonly override: string;
}

/**
 * Each option of each group once: as the override of every choice that the primary config makes of the group, and as an
 * addition where it makes none. Where the choice is a path, `db: a/b`, so are the options.
 *
 * @param choices the option of each group of the primary config, by override key
 */
export function optionChoices(
  repository: Repository,
  choices: ReadonlyMap<string, string | null>,
): readonly OptionChoice[] {
  // A folder that holds only folders is a group that has options by path.
  const groups = [...new Set(allGroups(repository).flatMap((group) => [...outer(group), group]))];
  const keysOf = (group: string): readonly string[] =>
    [...choices.keys()].filter((key) => key === group || key.startsWith(`${group}@`));
  const isByPath = (key: string): boolean => choices.get(key)?.includes("/") === true;
  const optionsOf = (group: string, key: string): readonly string[] => [
    ...ownOptions(repository, group),
    ...(isByPath(key)
      ? groups
          .filter((below) => below.startsWith(`${group}/`))
          .flatMap((below) =>
            ownOptions(repository, below).map(
              (option) => `${below.slice(group.length + 1)}/${option}`,
            ),
          )
      : []),
  ];
  const byPath = new Set(groups.filter((group) => keysOf(group).some(isByPath)));
  const isBelowPath = (group: string): boolean => outer(group).some((above) => byPath.has(above));
  return groups.flatMap((group) => {
    const keys = keysOf(group);
    if (keys.length > 0)
      return keys.flatMap((key) =>
        optionsOf(group, key)
          .filter((option) => choices.get(key) !== option)
          .map((option) => ({ group, override: `${key}=${option}` })),
      );
    return isBelowPath(group)
      ? []
      : ownOptions(repository, group).map((option) => ({ group, override: `+${group}=${option}` }));
  });
}

/** The groups that a group is in, the outermost first. */
const outer = (group: string): readonly string[] =>
  group.split("/").flatMap((_, end, parts) => (end === 0 ? [] : [parts.slice(0, end).join("/")]));

/** The options of a group; of Hydra's own groups only those that the tree adds. */
function ownOptions(repository: Repository, group: string): readonly string[] {
  if (!/^hydra(\/|$)/.test(group)) return repository.list(group, "config");
  const projectSources = repository.sources.filter(
    (source) => OWN_PROVIDER.test(source.provider) && source.isGroup(group),
  );
  return [...new Set(projectSources.flatMap((source) => source.list(group, "config")))].sort();
}

/** The primary directory, and those that flags and the config add. */
const OWN_PROVIDER = /^(main|command-line|hydra\.searchpath.*)$/;
