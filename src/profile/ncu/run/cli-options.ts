/** `pipeline.ncu.ncu_cli`, key by key: each option of ncu is a data object. */

import { ConfigError } from "../../../values/errors.ts";
import { nearest } from "../../../values/nearest.ts";
import { ncuKernelPattern } from "../../kernel-selection/index.ts";
import type { NcuCapabilities } from "./capabilities.ts";
import { metricsOf, type NcuCliConfig, namesOf } from "./ncu-config.ts";
import { isRangeMode, type ReplayMode } from "./pass-plan.ts";

interface CliOption {
  /** Below `pipeline.ncu.ncu_cli`. */
  readonly key: string;
  readonly flag: string;
  /** Its values, one use of the flag each; none leaves it to ncu. */
  readonly values: (config: NcuCliConfig) => readonly string[];
  /** Why ncu would refuse it in a mode, or null. */
  readonly illegal?: (
    mode: ReplayMode,
    config: NcuCliConfig,
    ncu: NcuCapabilities,
  ) => string | null;
}

const one = (value: string | number | null): readonly string[] =>
  value === null ? [] : [String(value)];

const NO_KERNELS =
  "a range is measured as a whole, its kernels are not told apart; use replay_mode=kernel or application";

const notInRanges =
  (reason: string): NonNullable<CliOption["illegal"]> =>
  (mode) =>
    isRangeMode(mode) ? reason : null;

/** In the order of the command line. NVTX filters and files come with the pass. */
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
    // ncu takes the option once only.
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
  {
    key: "kernel_exclude",
    flag: "",
    values: () => [],
    illegal: notInRanges(NO_KERNELS),
  },
  { key: "launch_skip", flag: "--launch-skip", values: (config) => one(config.launch_skip) },
  { key: "launch_count", flag: "--launch-count", values: (config) => one(config.launch_count) },
  { key: "clock_control", flag: "--clock-control", values: (config) => one(config.clock_control) },
  { key: "cache_control", flag: "--cache-control", values: (config) => one(config.cache_control) },
  {
    key: "nvtx.exclude",
    flag: "",
    values: () => [],
    illegal: notInRanges(
      "ncu cannot leave ranges out of a range; name the wanted ones in nvtx.include",
    ),
  },
  { key: "extra_args", flag: "", values: () => [], illegal: illegalExtras },
];

/** Metrics that ncu refuses for ranges (found out from ncu 2024.1 itself). */
const isPerInstruction = (metric: string): boolean =>
  /^sass__(thread_)?inst_executed_/.test(metric) || metric === "inst_executed";

interface ModeRule {
  readonly modes: readonly ReplayMode[];
  readonly why: string;
  /** The one value that is meant; none means them all. */
  readonly value?: string;
}

/** Options, or values of them, that ncu takes in some replay modes only. */
const MODES_OF: ReadonlyMap<string, ModeRule> = new Map<string, ModeRule>([
  ["--kernel-id", { modes: ["kernel", "application"], why: NO_KERNELS }],
  ["--kernel-name", { modes: ["kernel", "application"], why: NO_KERNELS }],
  [
    "--nvtx-exclude",
    {
      modes: ["kernel", "application"],
      why: "ranges cannot be left out of a range",
    },
  ],
  [
    "--profile-from-start",
    {
      modes: ["kernel", "application"],
      why: "ranges say themselves where profiling starts",
    },
  ],
  ["--app-replay-match", { modes: ["application"], why: "it belongs to application replay" }],
  ["--app-replay-mode", { modes: ["application"], why: "it belongs to application replay" }],
  ["--app-replay-buffer", { modes: ["application"], why: "it belongs to application replay" }],
  [
    "--graph-profiling",
    { modes: ["kernel"], why: "whole graphs need kernel replay", value: "graph" },
  ],
  [
    "--filter-mode",
    {
      modes: ["kernel", "application"],
      why: "per-launch-config counts launches of kernels, which ranges do not have",
      value: "per-launch-config",
    },
  ],
  ["--range-replay-options", { modes: ["range"], why: "it belongs to range replay" }],
]);

function illegalExtras(
  mode: ReplayMode,
  { extra_args }: NcuCliConfig,
  ncu: NcuCapabilities,
): string | null {
  for (const [at, argument] of extra_args.entries()) {
    const [name = writtenName(argument)] = optionsMeant(argument, ncu);
    const rule = MODES_OF.get(name);
    if (rule === undefined || rule.modes.includes(mode)) continue;
    if (rule.value === undefined || rule.value === valueGiven(argument, extra_args[at + 1]))
      return `${name}: ${rule.why}`;
  }
  return null;
}

/** Of `--name=value`, or of `--name value`. */
function valueGiven(argument: string, next: string | undefined): string | undefined {
  const at = argument.indexOf("=");
  return at < 0 ? next : argument.slice(at + 1);
}

/** What the driver sets itself: a second use would take the results away from it. */
const OWN_OPTIONS: ReadonlyMap<string, string> = new Map([
  ["-o", "the report's place is the run directory; hydra.run.dir changes it"],
  ["--export", "the report's place is the run directory; hydra.run.dir changes it"],
  ["-i", "reports are read after the run"],
  ["--import", "deep-profile import FILE reads a report that exists"],
  ["-f", "use pipeline.ncu.ncu_cli.force_overwrite"],
  ["--force-overwrite", "use pipeline.ncu.ncu_cli.force_overwrite"],
  ["--metrics", "use pipeline.ncu.ncu_cli.metrics"],
  ["--replay-mode", "use pipeline.ncu.ncu_cli.replay_mode"],
  [
    "--nvtx-include",
    "use pipeline.ncu.ncu_cli.nvtx.include, which takes ncu's own expressions, too",
  ],
  ["--log-file", "ncu's messages are read from its log"],
  ["--quiet", "ncu's messages are read from its log"],
  ["--csv", "tables are made from the report after the run"],
  ["--page", "tables are made from the report after the run"],
  ["--mode", "ncu starts the program and stays with it"],
  ["--nvtx", "it is always given: without it no region would be known"],
]);

/**
 * Refuses what ncu would refuse, and what this version of ncu does not know, before anything runs.
 *
 * @throws ConfigError `profile.ncu_option` that names the key, the reason and what to do
 */
export function checkOptions(config: NcuCliConfig, ncu: NcuCapabilities): void {
  const mode = config.replay_mode;
  if (!ncu.accepts("--replay-mode", mode))
    throw refusal(
      "replay_mode",
      `ncu ${ncu.version} has no ${mode} replay`,
      "update Nsight Compute, or choose replay_mode=kernel",
    );
  for (const { key, illegal, values, flag } of CLI_OPTIONS) {
    const used = values(config).length > 0 || isSet(key, config);
    const reason = used ? (illegal?.(mode, config, ncu) ?? null) : null;
    if (reason !== null)
      throw refusal(
        key,
        `not possible in ${mode} replay: ${reason}`,
        `pipeline.ncu.ncu_cli.${key}=${key === "kernel_exclude" || key === "extra_args" ? "[]" : "null"}, or another pipeline.ncu.ncu_cli.replay_mode`,
      );
    if (used && flag !== "") requireOption(key, flag, ncu);
  }
  for (const key of ["clock_control", "cache_control"] as const) requireValue(key, config, ncu);
  const taken = takenOptions(config);
  for (const argument of config.extra_args) checkExtra(argument, ncu, taken);
}

/** Of the keys that are no option of ncu's. */
function isSet(key: string, config: NcuCliConfig): boolean {
  switch (key) {
    case "nvtx.exclude":
      return namesOf(config.nvtx.exclude).length > 0;
    case "kernel_exclude":
      return config.kernel_exclude.length > 0;
    case "extra_args":
      return config.extra_args.length > 0;
    default:
      return false;
  }
}

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

/** ncu takes these several times, and all others once. */
const REPEATABLE: ReadonlySet<string> = new Set(["--set", "--section"]);

/** Options that keys of the config give already, and what to do instead of giving them once more. */
const takenOptions = (config: NcuCliConfig): ReadonlyMap<string, string> =>
  new Map(
    CLI_OPTIONS.filter(
      ({ flag, values }) => flag !== "" && !REPEATABLE.has(flag) && values(config).length > 0,
    ).map(({ key, flag }) => [flag, `use pipeline.ncu.ncu_cli.${key}; ncu takes ${flag} once`]),
  );

function checkExtra(
  argument: string,
  ncu: NcuCapabilities,
  taken: ReadonlyMap<string, string>,
): void {
  const meant = optionsMeant(argument, ncu);
  for (const name of meant) {
    const own = OWN_OPTIONS.get(name) ?? (meant.length === 1 ? taken.get(name) : undefined);
    if (own !== undefined) throw refusal("extra_args", `${name} is not passed on`, own);
  }
  const written = writtenName(argument);
  if (meant.length > 1)
    throw refusal(
      "extra_args",
      `${written} is ambiguous: ${[...meant].sort().join(", ")}`,
      "write the option in full",
    );
  if (meant.length === 1 || !written.startsWith("--")) return;
  const near = nearest(written, [...ncu.options]);
  throw new ConfigError({
    code: "profile.ncu_option",
    key: "pipeline.ncu.ncu_cli.extra_args",
    message: `pipeline.ncu.ncu_cli.extra_args: ncu ${ncu.version} has no option ${written}`,
    ...(near !== undefined && { nearest: near }),
    hint: "ncu --help lists its options",
  });
}

/** An option as written: `--name` of `--name=value`, `-o` of `-ofile`. */
const writtenName = (argument: string): string =>
  /^-[a-z]/.test(argument) ? argument.slice(0, 2) : (argument.split("=")[0] ?? argument);

/** Of what the config has keys for. */
const SHORT_OPTIONS: ReadonlyMap<string, string> = new Map([
  ["-k", "--kernel-name"],
  ["-c", "--launch-count"],
  ["-s", "--launch-skip"],
]);

/**
 * The options that an argument may mean: ncu takes unambiguous beginnings of their names, and short
 * names with the value behind them. None for values, and for what there is not.
 */
function optionsMeant(argument: string, { options }: NcuCapabilities): readonly string[] {
  const written = writtenName(argument);
  const long = SHORT_OPTIONS.get(written);
  if (long !== undefined) return [long];
  if (options.has(written) || OWN_OPTIONS.has(written)) return [written];
  if (!written.startsWith("--") || written === "--") return [];
  const known = new Set([...options, ...OWN_OPTIONS.keys()]);
  return [...known].filter((option) => option.startsWith(written));
}

const refusal = (key: string, message: string, hint: string): ConfigError =>
  new ConfigError({
    code: "profile.ncu_option",
    key: `pipeline.ncu.ncu_cli.${key}`,
    message: `pipeline.ncu.ncu_cli.${key}: ${message}`,
    hint,
  });

/** The options that the config asks for, as arguments. */
export const configArguments = (config: NcuCliConfig): readonly string[] => [
  ...CLI_OPTIONS.flatMap(({ flag, values }) =>
    flag === "" ? [] : values(config).flatMap((value) => [flag, value]),
  ),
  ...config.extra_args,
];
