import type { RunMode } from "../../compose/index.ts";
import { isConfigError } from "../../values/errors.ts";
import { pyStr } from "../../values/python-text.ts";
import { selectNode } from "../../values/resolution/select.ts";
import type { Composer } from "../composer.ts";

export interface ChosenMode {
  readonly mode: RunMode;
  /** Overrides to add, so that the mode is recorded. */
  readonly overrides: readonly string[];
  readonly warning?: string;
}

/**
 * Whether there is one job or a sweep: `--multirun`, else `hydra.mode` of the config or an override,
 * else one job.
 */
export function chooseMode(
  overrides: readonly string[],
  isMultirun: boolean,
  composer: Composer,
): ChosenMode {
  const configured = configuredMode(overrides, composer);
  if (isMultirun)
    return configured === "multirun"
      ? { mode: "multirun", overrides: [] }
      : {
          mode: "multirun",
          overrides: ["hydra.mode=MULTIRUN"],
          ...(configured === "run" && {
            warning:
              "\n\tRunning Hydra app with --multirun, overriding with `hydra.mode=MULTIRUN`.",
          }),
        };
  if (configured !== undefined) return { mode: configured, overrides: [] };
  return { mode: "run", overrides: ["hydra.mode=RUN"] };
}

/**
 * Also undefined if the config cannot be composed: then the run itself reports why. Sweeps are not
 * refused here, because whether they are allowed depends on the mode.
 */
function configuredMode(overrides: readonly string[], composer: Composer): RunMode | undefined {
  try {
    const { root } = composer.compose(overrides, { mode: "multirun", anySweeps: true });
    const mode = selectNode(root, "hydra.mode", composer.context);
    if (mode === undefined || (mode.kind === "scalar" && mode.value === null)) return undefined;
    return pyStr(mode).endsWith("MULTIRUN") ? "multirun" : "run";
  } catch (error) {
    if (isConfigError(error)) return undefined;
    throw error;
  }
}
