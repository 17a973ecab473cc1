/** `watchConfig`: a config that follows its files. */
import { type FSWatcher, statSync, watch } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type AsyncComposeOptions, composeWaiting } from "./compose-async.ts";
import type { Config } from "./engine/compose/config.ts";
import { diskAccess } from "./engine/compose/sources/file-source.ts";
import {
  checkOptions,
  count,
  fn,
  type OptionChecks,
  optional,
} from "./engine/values/check-options.ts";
import type { Difference } from "./engine/values/diff.ts";

/** A config that has changed. */
export interface ConfigChange<Data> {
  readonly config: Config<Data>;
  readonly previous: Config<Data>;
  /** Each value that differs, with both origins; secrets are masked. */
  readonly differences: readonly Difference[];
}

/** Who is told what becomes of a watched config. */
export interface ConfigListeners<Data> {
  /** A changed file gave a config with other values. */
  readonly onChange: (change: ConfigChange<Data>) => void;
  /** A changed file gave no config: the last good one stays. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds without a further change until files are read. Default: 50. */
  readonly delay?: number;
}

/** A config that follows its files. */
export interface WatchedConfig<Data> {
  /** The last good config. */
  readonly config: Config<Data>;
  /** Composes now, whatever has changed, and tells the listeners. */
  refresh(): Promise<void>;
  /** Ends watching. */
  close(): void;
}

const LISTENERS: OptionChecks<ConfigListeners<unknown>> = {
  onChange: fn,
  onError: fn,
  delay: optional(count),
};

/** Milliseconds. */
const DELAY = 50;

interface WatchedDirectory {
  readonly watcher: FSWatcher;
  /** A directory that was replaced has another one. */
  readonly inode: number;
}

/** @throws ConfigError if the first composition fails */
export async function watchFiles<Data>(
  options: AsyncComposeOptions,
  listeners: ConfigListeners<Data>,
): Promise<WatchedConfig<Data>> {
  checkOptions("watchConfig", listeners, LISTENERS, "watchConfig(options, { onChange, onError })");
  const cwd = options.cwd ?? process.cwd();
  const { delay = DELAY, onChange, onError } = listeners;
  const directories = new Map<string, WatchedDirectory>();
  let asked: ReadonlySet<string> = new Set();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> | undefined;
  let isClosed = false;

  const compose = async (): Promise<Config<Data>> => {
    const paths = new Set<string>();
    try {
      return await composeWaiting(
        options,
        diskAccess((path) => paths.add(resolve(cwd, path))),
      );
    } finally {
      // Of a broken tree, the files that were not reached count, too.
      asked = new Set([...asked, ...paths]);
    }
  };
  const schedule = (): void => {
    if (isClosed) return;
    clearTimeout(timer);
    timer = setTimeout(() => void refresh().catch(onError), delay);
  };
  const isOurs = (directory: string, name: string | null): boolean =>
    name === null ||
    // As Kubernetes replaces files: by a link to another directory.
    name.startsWith("..") ||
    asked.has(directory) ||
    asked.has(join(directory, name)) ||
    [...asked].some((path) => path.startsWith(`${join(directory, name)}/`));
  /** @returns whether there is a directory that was not watched before */
  const follow = (): boolean => {
    let isNew = false;
    for (const directory of new Set([...asked].map(existingDirectory))) {
      const inode = inodeOf(directory);
      const watched = directories.get(directory);
      if (inode === undefined || watched?.inode === inode) continue;
      watched?.watcher.close();
      const watcher = watch(directory, (event, name) => {
        // The directory itself is gone, and the next one at its path may get its inode: nothing but this tells them apart.
        if (event === "rename" && name === basename(directory)) forget();
        else if (isOurs(directory, name)) schedule();
      });
      const forget = (): void => {
        watcher.close();
        if (directories.get(directory)?.watcher === watcher) directories.delete(directory);
        schedule();
      };
      watcher.on("error", forget);
      directories.set(directory, { watcher, inode });
      isNew = true;
    }
    return isNew;
  };
  const close = (): void => {
    isClosed = true;
    clearTimeout(timer);
    for (const { watcher } of directories.values()) watcher.close();
    directories.clear();
  };

  let config = await compose();
  const update = async (): Promise<void> => {
    const composed = await compose().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    if (isClosed) return;
    // What changed before a directory was watched is seen by another look.
    if (follow()) schedule();
    if ("error" in composed) return onError(composed.error);
    const previous = config;
    const differences = previous.diff(composed.value);
    config = composed.value;
    if (differences.length > 0) onChange({ config, previous, differences });
  };
  const refresh = async (): Promise<void> => {
    const previous = running;
    const current = (async () => {
      // Whoever asked for it has its error.
      await previous?.catch(() => {});
      if (!isClosed) await update();
    })();
    running = current;
    await current;
  };
  try {
    if (follow()) schedule();
  } catch (error) {
    close();
    throw error;
  }
  return {
    get config() {
      return config;
    },
    refresh,
    close,
  };
}

/** The directory of a path, or the nearest one around it that exists. */
function existingDirectory(path: string): string {
  if (inodeOf(path) !== undefined && statSync(path).isDirectory()) return path;
  const parent = dirname(path);
  return parent === path || basename(path) === "" ? parent : existingDirectory(parent);
}

const inodeOf = (path: string): number | undefined =>
  statSync(path, { throwIfNoEntry: false })?.ino;
