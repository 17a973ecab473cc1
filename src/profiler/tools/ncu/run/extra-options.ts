/** Refuses options of ncu that a run, or this ncu, cannot have. */
import { ConfigError, nearest } from "../../../../engine/values/errors.ts";
import type { NcuCliConfig, ReplayMode } from "../../profiler-config.ts";
import type { NcuCapabilities } from "./capabilities.ts";

/** The reason for refusing options that do not apply to ranges. */
export const NO_KERNELS =
  "ncu measures a range as a whole, without telling its kernels apart; use replay_mode=kernel or application";

/** The error of a key below `pipeline.ncu.ncu_cli` that this run, or this ncu, does not support. */
export const refusal = (key: string, message: string, hint: string): ConfigError =>
  new ConfigError({
    code: "profile.ncu_option",
    key: `pipeline.ncu.ncu_cli.${key}`,
    message: `pipeline.ncu.ncu_cli.${key}: ${message}`,
    hint,
  });

// `pipeline.ncu.ncu_cli.extra_args`: options that it must not contain, at all or in some replay modes.

/** Options that the driver sets itself: a second use would redirect the results. */
const OWN_OPTIONS: ReadonlyMap<string, string> = new Map([
  ["-o", "the report is written to the run directory; change that with hydra.run.dir"],
  ["--export", "the report is written to the run directory; change that with hydra.run.dir"],
  ["-i", "deep-profile reads the report after the run"],
  ["--import", "deep-profile import FILE reads an existing report"],
  ["-f", "use pipeline.ncu.ncu_cli.force_overwrite"],
  ["--force-overwrite", "use pipeline.ncu.ncu_cli.force_overwrite"],
  ["--metrics", "use pipeline.ncu.ncu_cli.metrics"],
  ["--replay-mode", "use pipeline.ncu.ncu_cli.replay_mode"],
  [
    "--nvtx-include",
    "use pipeline.ncu.ncu_cli.nvtx.include, which also takes ncu's own expressions",
  ],
  ["--log-file", "deep-profile reads ncu's messages from its log"],
  ["--quiet", "deep-profile reads ncu's messages from its log"],
  ["--csv", "deep-profile prints the tables from the report after the run"],
  ["--page", "deep-profile prints the tables from the report after the run"],
  ["--mode", "ncu must start the program and wait for it"],
  ["--nvtx", "it is always given: regions need it"],
]);

/**
 * Refuses options that are already set, that would redirect the results, or that this version of ncu does not know.
 *
 * @param taken options that keys of the config already set, with the alternative to setting them again
 * @throws ConfigError `profile.ncu_option`
 */
export function checkExtraOptions(
  { extra_args }: Pick<NcuCliConfig, "extra_args">,
  ncu: NcuCapabilities,
  taken: ReadonlyMap<string, string>,
): void {
  for (const argument of extra_args) checkExtra(argument, ncu, taken);
}

function checkExtra(
  argument: string,
  ncu: NcuCapabilities,
  taken: ReadonlyMap<string, string>,
): void {
  const meant = optionsMeant(argument, ncu);
  for (const name of meant) {
    const ownOption = OWN_OPTIONS.get(name) ?? (meant.length === 1 ? taken.get(name) : undefined);
    if (ownOption !== undefined) throw refusal("extra_args", `${name} cannot be given`, ownOption);
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
    nearest: near,
    hint: "ncu --help lists its options",
  });
}

interface ModeRule {
  readonly modes: readonly ReplayMode[];
  readonly why: string;
  /** The values to which the rule applies; absent: all. */
  readonly values?: readonly string[];
}

const KERNEL_MODES: readonly ReplayMode[] = ["kernel", "application"];
const RANGES_START_IT = "ranges themselves decide where profiling starts";

/** Options, or values of them, that ncu accepts only in some replay modes. */
const MODES_OF: ReadonlyMap<string, ModeRule> = new Map<string, ModeRule>([
  ["--kernel-id", { modes: KERNEL_MODES, why: NO_KERNELS }],
  ["--kernel-name", { modes: KERNEL_MODES, why: NO_KERNELS }],
  ["--nvtx-exclude", { modes: KERNEL_MODES, why: "ranges inside a range cannot be excluded" }],
  ["--profile-from-start", { modes: KERNEL_MODES, why: RANGES_START_IT }],
  ["--disable-profiler-start-stop", { modes: KERNEL_MODES, why: RANGES_START_IT }],
  [
    "--import-source",
    {
      modes: KERNEL_MODES,
      why: "source files belong to kernels, which a range does not tell apart",
      values: ["yes", "on", "1", "true"],
    },
  ],
  ["--rule", { modes: KERNEL_MODES, why: "ncu applies its rules to kernels only" }],
  ["--app-replay-match", { modes: ["application"], why: "it is only for application replay" }],
  ["--app-replay-mode", { modes: ["application"], why: "it is only for application replay" }],
  ["--app-replay-buffer", { modes: ["application"], why: "it is only for application replay" }],
  [
    "--graph-profiling",
    { modes: ["kernel"], why: "measuring whole graphs needs kernel replay", values: ["graph"] },
  ],
  [
    "--filter-mode",
    {
      modes: KERNEL_MODES,
      why: "per-launch-config counts kernel launches, which ranges do not have",
      values: ["per-launch-config"],
    },
  ],
  ["--range-replay-options", { modes: ["range"], why: "it is only for range replay" }],
]);

/** Why ncu would refuse an option with this value in a replay mode, or null. */
export function modeRefusal(name: string, value: string, mode: ReplayMode): string | null {
  const rule = MODES_OF.get(name);
  return rule === undefined || rule.modes.includes(mode) || rule.values?.includes(value) === false
    ? null
    : rule.why;
}

/** Why ncu would refuse one of them in a mode, or null. */
export function illegalExtras(
  mode: ReplayMode,
  { extra_args }: NcuCliConfig,
  ncu: Pick<NcuCapabilities, "options">,
): string | null {
  for (const [index, argument] of extra_args.entries()) {
    const [name = writtenName(argument)] = optionsMeant(argument, ncu);
    const value = valueGiven(argument, extra_args[index + 1]) ?? "";
    const why = modeRefusal(name, value, mode);
    if (why !== null) return `${name}: ${why}`;
  }
  return null;
}

/** The value in `--name=value` or `--name value`. */
function valueGiven(argument: string, next: string | undefined): string | undefined {
  const index = argument.indexOf("=");
  return index < 0 ? next : argument.slice(index + 1);
}

/** An option as written: `--name` of `--name=value`, `-o` of `-ofile`. */
const writtenName = (argument: string): string =>
  /^-[a-z]/.test(argument) ? argument.slice(0, 2) : (argument.split("=")[0] ?? argument);

/** Short names of options that the config has keys for. */
const SHORT_OPTIONS: ReadonlyMap<string, string> = new Map([
  ["-k", "--kernel-name"],
  ["-c", "--launch-count"],
  ["-s", "--launch-skip"],
]);

/**
 * The options that an argument may mean: ncu accepts unambiguous abbreviations, and short names directly followed by
 * the value. Empty for values and unknown options.
 */
function optionsMeant(
  argument: string,
  { options }: Pick<NcuCapabilities, "options">,
): readonly string[] {
  const written = writtenName(argument);
  const long = SHORT_OPTIONS.get(written);
  if (long !== undefined) return [long];
  if (options.has(written) || OWN_OPTIONS.has(written)) return [written];
  if (!written.startsWith("--") || written === "--") return [];
  const names = new Set([...options, ...OWN_OPTIONS.keys()]);
  return [...names].filter((option) => option.startsWith(written));
}
