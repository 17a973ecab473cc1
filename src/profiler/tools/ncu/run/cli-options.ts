/** The options of `pipeline.ncu.ncu_cli`: a key is the option of ncu with its name, unless a table says otherwise. */

import { ncuKernelPattern } from "../../../analysis/kernel-selection.ts";
import {
  isRangeMode,
  measuresTogether,
  metricsOf,
  type NcuCliConfig,
  namesOf,
  type ReplayMode,
} from "../../profiler-config.ts";
import type { NcuCapabilities } from "./capabilities.ts";
import {
  checkExtraOptions,
  illegalExtras,
  modeRefusal,
  NO_KERNELS,
  refusal,
} from "./extra-options.ts";

/** A key of `pipeline.ncu.ncu_cli` that is an option of ncu. */
type Key = Exclude<keyof NcuCliConfig, (typeof NO_OPTIONS)[number]>;

interface CliOption {
  readonly key: Key;
  readonly flag: string;
  /** The values, each with its own use of the flag; empty leaves the option to ncu. */
  readonly values: readonly string[];
  readonly illegal?: Illegal;
}

/** How an option differs from the rule: the key with dashes, its values one by one, in every mode. */
interface Peculiarity {
  readonly flag?: string;
  readonly values?: (config: NcuCliConfig) => readonly string[];
  readonly illegal?: Illegal;
  /** ncu accepts it several times, and all others once. */
  readonly isRepeatable?: true;
  /** ncu's help lists its values, which differ between versions. */
  readonly hasListedValues?: true;
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

const notInRanges =
  (reason: string): Illegal =>
  (mode) =>
    isRangeMode(mode) ? reason : null;

const PECULIARITIES: Readonly<Partial<Record<Key, Peculiarity>>> = {
  set: { isRepeatable: true },
  sections: { flag: "--section", isRepeatable: true },
  metrics: {
    // ncu accepts the option only once.
    values: (config) => {
      const metrics = metricsOf(config);
      return metrics.length === 0 ? [] : [metrics.join(",")];
    },
    illegal: (_mode, config) => {
      const refused = metricsOf(config).filter(isPerInstruction);
      return measuresTogether(config) && refused.length > 0
        ? `${refused.join(", ")} is counted per instruction of a kernel, which ranges and graphs do not have`
        : null;
    },
  },
  kernel_name: {
    values: ({ kernel_name }) => (kernel_name === null ? [] : [ncuKernelPattern(kernel_name)]),
  },
  graph_profiling: { hasListedValues: true },
  app_replay_mode: { hasListedValues: true },
  clock_control: { hasListedValues: true },
  cache_control: { hasListedValues: true },
};

/** Keys that are no options, or are added per pass. All others are options of ncu with their name. */
const NO_OPTIONS = [
  "nvtx",
  "kernel_exclude",
  "force_overwrite",
  "export",
  "extra_args",
] as const satisfies readonly (keyof NcuCliConfig)[];

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
  for (const option of optionsOf(config)) {
    requireOption(option, ncu);
    requireValue(option, ncu);
  }
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
  for (const { key, flag, values, illegal } of optionsOf(config))
    refuseIf(illegal?.(mode, config, ncu) ?? modeRefusal(flag, values[0] ?? "", mode), key, "null");
  for (const { key, isSet, none, illegal } of OTHER_KEYS)
    if (isSet(config)) refuseIf(illegal(mode, config, ncu), key, none);
}

/** The options that the config sets, in its order. */
const optionsOf = (config: NcuCliConfig): readonly CliOption[] =>
  (Object.keys(config) as readonly (keyof NcuCliConfig)[])
    .filter(isOption)
    .map((key) => optionOf(key, config))
    .filter(({ values }) => values.length > 0);

const isOption = (key: keyof NcuCliConfig): key is Key =>
  !(NO_OPTIONS as readonly string[]).includes(key);

function optionOf(key: Key, config: NcuCliConfig): CliOption {
  const { flag = dashed(key), illegal, values } = PECULIARITIES[key] ?? {};
  return {
    key,
    flag,
    values: values?.(config) ?? textsOf(config[key]),
    ...(illegal && { illegal }),
  };
}

/** Trees of earlier versions lack newer keys. */
const textsOf = (value: string | number | readonly string[] | null = null): readonly string[] =>
  typeof value === "number" ? [String(value)] : namesOf(value);

const dashed = (key: string): string => `--${key.replaceAll("_", "-")}`;

function requireOption({ key, flag }: CliOption, ncu: NcuCapabilities): void {
  if (ncu.options.has(flag)) return;
  throw refusal(
    key,
    `ncu ${ncu.version} has no option ${flag}`,
    `pipeline.ncu.ncu_cli.${key}=null`,
  );
}

function requireValue({ flag, key, values: [value = ""] }: CliOption, ncu: NcuCapabilities): void {
  if (PECULIARITIES[key]?.hasListedValues === undefined || ncu.accepts(flag, value)) return;
  throw refusal(
    key,
    `ncu ${ncu.version} has no ${flag} ${value}`,
    `pipeline.ncu.ncu_cli.${key}=null leaves it to ncu`,
  );
}

/** Options that keys of the config already set, with the alternative to setting them again. */
const takenOptions = (config: NcuCliConfig): ReadonlyMap<string, string> =>
  new Map(
    optionsOf(config)
      .filter(({ key }) => PECULIARITIES[key]?.isRepeatable === undefined)
      .map(({ key, flag }) => [flag, `use pipeline.ncu.ncu_cli.${key}; ncu takes ${flag} once`]),
  );

/** The options of the config as arguments. */
export const configArguments = (config: NcuCliConfig): readonly string[] => [
  ...optionsOf(config).flatMap(({ flag, values }) => values.flatMap((value) => [flag, value])),
  ...config.extra_args,
];
