/** The options of `pipeline.ncu.ncu_cli`: each option of ncu is a data object. */

import { ncuKernelPattern } from "../../../analysis/kernel-selection.ts";
import {
  isRangeMode,
  metricsOf,
  type NcuCliConfig,
  namesOf,
  type ReplayMode,
} from "../../config.ts";
import type { NcuCapabilities } from "./capabilities.ts";
import { checkExtraOptions, illegalExtras, NO_KERNELS, refusal } from "./extra-options.ts";

interface CliOption {
  /** The key below `pipeline.ncu.ncu_cli`. */
  readonly key: string;
  readonly flag: string;
  /** The values, each with its own use of the flag; empty leaves the option to ncu. */
  readonly values: (config: NcuCliConfig) => readonly string[];
  readonly illegal?: Illegal;
}

/** Why ncu would refuse the option in a mode, or null. */
type Illegal = (mode: ReplayMode, config: NcuCliConfig, ncu: KnownOptions) => string | null;

type KnownOptions = Pick<NcuCapabilities, "options">;

/** A key without an option of its own. */
interface OtherKey {
  readonly key: string;
  readonly isSet: (config: NcuCliConfig) => boolean;
  /** The value of an unset key in the config. */
  readonly none: "null" | "[]";
  readonly illegal: Illegal;
}

const one = (value: string | number | null): readonly string[] =>
  value === null ? [] : [String(value)];

const notInRanges =
  (reason: string): Illegal =>
  (mode) =>
    isRangeMode(mode) ? reason : null;

/** In the order of the command line. NVTX filters and files are added per pass. */
const CLI_OPTIONS: readonly CliOption[] = [
  {
    key: "target_processes",
    flag: "--target-processes",
    values: (config) => one(config.target_processes),
  },
  { key: "replay_mode", flag: "--replay-mode", values: (config) => [config.replay_mode] },
  { key: "set", flag: "--set", values: (config) => namesOf(config.set) },
  { key: "sections", flag: "--section", values: (config) => namesOf(config.sections) },
  {
    key: "metrics",
    flag: "--metrics",
    // ncu accepts the option only once.
    values: (config) => {
      const metrics = metricsOf(config);
      return metrics.length === 0 ? [] : [metrics.join(",")];
    },
    illegal: (mode, config) => {
      const refused = metricsOf(config).filter(isPerInstruction);
      return isRangeMode(mode) && refused.length > 0
        ? `${refused.join(", ")} is counted per instruction of a kernel, which ranges do not have`
        : null;
    },
  },
  {
    key: "kernel_name",
    flag: "--kernel-name",
    values: (config) => one(config.kernel_name).map(ncuKernelPattern),
    illegal: notInRanges(NO_KERNELS),
  },
  {
    key: "kernel_name_base",
    flag: "--kernel-name-base",
    values: (config) => one(config.kernel_name_base),
  },
  { key: "launch_skip", flag: "--launch-skip", values: (config) => one(config.launch_skip) },
  { key: "launch_count", flag: "--launch-count", values: (config) => one(config.launch_count) },
  { key: "clock_control", flag: "--clock-control", values: (config) => one(config.clock_control) },
  { key: "cache_control", flag: "--cache-control", values: (config) => one(config.cache_control) },
];

const OTHER_KEYS: readonly OtherKey[] = [
  {
    key: "kernel_exclude",
    isSet: ({ kernel_exclude }) => kernel_exclude.length > 0,
    none: "[]",
    illegal: notInRanges(NO_KERNELS),
  },
  {
    key: "nvtx.exclude",
    isSet: ({ nvtx }) => namesOf(nvtx.exclude).length > 0,
    none: "null",
    illegal: notInRanges(
      "ncu cannot exclude ranges inside a range; name the wanted ones in nvtx.include",
    ),
  },
  {
    key: "extra_args",
    isSet: ({ extra_args }) => extra_args.length > 0,
    none: "[]",
    illegal: illegalExtras,
  },
];

/** Metrics that ncu refuses for ranges (tested with ncu 2024.1). */
const isPerInstruction = (metric: string): boolean =>
  /^sass__(thread_)?inst_executed_/.test(metric) || metric === "inst_executed";

/**
 * Refuses, before anything runs, options that ncu would refuse, and those that this version of ncu does not know.
 *
 * @throws ConfigError `profile.ncu_option` with the key, the reason and a hint
 */
export function checkOptions(config: NcuCliConfig, ncu: NcuCapabilities): void {
  const mode = config.replay_mode;
  if (!ncu.accepts("--replay-mode", mode))
    throw refusal(
      "replay_mode",
      `ncu ${ncu.version} has no ${mode} replay`,
      "update Nsight Compute, or choose replay_mode=kernel",
    );
  checkModes(config, ncu);
  for (const { key, flag } of optionsOf(config)) requireOption(key, flag, ncu);
  for (const key of ["clock_control", "cache_control"] as const) requireValue(key, config, ncu);
  checkExtraOptions(config, ncu, takenOptions(config));
}

/**
 * Refuses options that no version of ncu accepts in the replay mode.
 *
 * @param ncu the ncu of this machine, for resolving abbreviated options; without one, abbreviations are not resolved
 * @throws ConfigError `profile.ncu_option`
 */
export function checkModes(config: NcuCliConfig, ncu: KnownOptions = { options: new Set() }): void {
  const mode = config.replay_mode;
  const refuseIf = (reason: string | null | undefined, key: string, none: OtherKey["none"]) => {
    if (reason === null || reason === undefined) return;
    throw refusal(
      key,
      `not possible in ${mode} replay: ${reason}`,
      `pipeline.ncu.ncu_cli.${key}=${none}, or another pipeline.ncu.ncu_cli.replay_mode`,
    );
  };
  for (const { key, illegal } of optionsOf(config))
    refuseIf(illegal?.(mode, config, ncu), key, "null");
  for (const { key, isSet, none, illegal } of OTHER_KEYS)
    if (isSet(config)) refuseIf(illegal(mode, config, ncu), key, none);
}

/** The options that the config sets. */
const optionsOf = (config: NcuCliConfig): readonly CliOption[] =>
  CLI_OPTIONS.filter(({ values }) => values(config).length > 0);

function requireOption(key: string, flag: string, ncu: NcuCapabilities): void {
  if (ncu.options.has(flag)) return;
  throw refusal(
    key,
    `ncu ${ncu.version} has no option ${flag}`,
    `pipeline.ncu.ncu_cli.${key}=null`,
  );
}

function requireValue(
  key: "clock_control" | "cache_control",
  config: NcuCliConfig,
  ncu: NcuCapabilities,
): void {
  const value = config[key];
  const flag = `--${key.replaceAll("_", "-")}`;
  if (value === null || ncu.accepts(flag, value)) return;
  throw refusal(
    key,
    `ncu ${ncu.version} has no ${flag} ${value}`,
    `pipeline.ncu.ncu_cli.${key}=null leaves it to ncu`,
  );
}

/** ncu accepts these several times, and all others once. */
const REPEATABLE: ReadonlySet<string> = new Set(["--set", "--section"]);

/** Options that keys of the config already set, with the alternative to setting them again. */
const takenOptions = (config: NcuCliConfig): ReadonlyMap<string, string> =>
  new Map(
    optionsOf(config)
      .filter(({ flag }) => !REPEATABLE.has(flag))
      .map(({ key, flag }) => [flag, `use pipeline.ncu.ncu_cli.${key}; ncu takes ${flag} once`]),
  );

/** The options of the config as arguments. */
export const configArguments = (config: NcuCliConfig): readonly string[] => [
  ...CLI_OPTIONS.flatMap(({ flag, values }) => values(config).flatMap((value) => [flag, value])),
  ...config.extra_args,
];
