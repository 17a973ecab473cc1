/** Hydra's `version_base`: composition is always that of 1.3; see `HydraMainOptions.versionBase`. */
export type VersionBase = "1.1" | "1.2" | "1.3";

/** Until 1.2 a job worked in its run directory unless `hydra.job.chdir` said otherwise. */
export const changesDirectoryByDefault = (versionBase: VersionBase | undefined): boolean =>
  versionBase === "1.1";

/** What a program with this version base always prints. */
export const COMPATIBILITY_WARNING = `version_base="1.1" selects Hydra 1.1 compatibility behavior.`;

/** What it prints when a job changes its directory only because of this default. */
export const CHDIR_WARNING = `Future Hydra versions will no longer change working directory at job runtime by default.
See https://hydra.cc/docs/1.2/upgrades/1.1_to_1.2/changes_to_job_working_dir/ for more information.`;
