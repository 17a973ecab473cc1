import type { StoreEntry } from "../sources/memory-source.ts";

/**
 * What an installed plugin adds to Hydra, as data: groups of configs, and what is to be said where
 * its class cannot be launched. An engine has the plugins it was made with and no others.
 */
export interface Plugin {
  readonly name: string;
  /** YAML files on the search path, after the primary config's own directory. */
  readonly files?: PluginFiles;
  /** Typed configs in the config store, by config path: `hydra/launcher/joblib`. */
  readonly store?: Readonly<Record<string, StoreEntry>>;
  /** Classes that configs name in `_target_` and that nothing here can stand in for. */
  readonly refusals?: readonly LaunchRefusal[];
}

/** Config files that a plugin brings, as texts. */
export interface PluginFiles {
  /** Who puts them on the search path, and where they stand there after `pkg://`. */
  readonly provider: string;
  readonly path: string;
  /** The texts by config path: `hydra/job_logging/colorlog`. */
  readonly texts: Readonly<Record<string, string>>;
}

/** A launcher or sweeper that can be configured, and not run. */
export interface LaunchRefusal {
  /** `hydra.launcher._target_` or `hydra.sweeper._target_`. */
  readonly className: string;
  /** Why it does not launch, and what to use instead. */
  readonly reason: string;
}
