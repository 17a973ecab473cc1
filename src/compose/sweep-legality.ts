import type { Override } from "../overrides/ast.ts";
import { isSweepValue } from "../overrides/ast.ts";
import { ConfigError } from "../values/errors.ts";
import { isHydraOverride } from "./hydra/runtime-node.ts";

/** `hydra.mode`: a single job, or a sweep. */
export type RunMode = "run" | "multirun";

export interface SweepLegality {
  readonly mode: RunMode;
  /** Whether the overrides were typed in a shell, where quotes must be escaped. */
  readonly fromShell: boolean;
}

/**
 * A run takes no sweeps, and a sweep does not vary Hydra's own configuration.
 *
 * @throws ConfigError `override.sweep_not_allowed`, at the override.
 */
export function checkSweeps(overrides: readonly Override[], { mode, fromShell }: SweepLegality) {
  for (const override of overrides) {
    const { value, origin } = override;
    if (value === undefined || !isSweepValue(value)) continue;
    const keys = value.kind === "zip" ? [override, ...value.columns] : [override];
    if (mode === "multirun" && !keys.some(isHydraOverride)) continue;
    const simple = value.kind === "choice" && value.simple;
    throw new ConfigError({
      code: "override.sweep_not_allowed",
      message:
        mode === "multirun"
          ? `Sweeping over Hydra's configuration is not supported : '${origin.text}'`
          : simple
            ? ambiguous(origin.text, fromShell)
            : `Sweep parameters '${origin.text}' requires --multirun`,
      origin,
      key: override.keyOrGroup,
      hint: remedy(override, { mode, fromShell }),
    });
  }
}

/** What would be refused in its turn is no remedy. */
function remedy(override: Override, { fromShell, mode }: SweepLegality): string {
  if (isHydraOverride(override))
    return mode === "multirun"
      ? "set Hydra's own configuration to one value per sweep"
      : "set Hydra's own configuration to one value: it cannot be swept over, even with --multirun";
  return fromShell
    ? "add --multirun to run one job for each value"
    : "compose once for each value, or use the mode multirun, which ignores sweeps";
}

function ambiguous(text: string, fromShell: boolean): string {
  const quoted = fromShell ? "key=\\'value1,value2\\'" : "key='value1,value2'";
  return [
    `Ambiguous value for argument '${text}'`,
    "1. To use it as a list, use key=[value1,value2]",
    `2. To use it as string, quote the value: ${quoted}`,
    "3. To sweep over it, add --multirun to your command line",
  ].join("\n");
}
