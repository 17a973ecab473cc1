/** Loads the launchers and sweepers that plugins provide. */
import { createClaims } from "../../engine/compose/config-plugin.ts";
import {
  anything,
  fn,
  listOf,
  type OptionChecks,
  optional,
  shape,
  text,
  trueOrFalse,
} from "../../engine/values/check-options.ts";
import { ConfigError } from "../../engine/values/errors.ts";
import type { LauncherDefinition } from "../launch/launcher.ts";
import { basicLauncher } from "../launch/local/basic-launcher.ts";
import { RESERVED_FOLDERS } from "../record/layout.ts";
import type { SweepRegistry } from "../sweep/registry.ts";
import { basicSweeper } from "../sweep/sweepers/basic-sweeper.ts";
import type { SweeperDefinition } from "../sweep/sweepers/sweeper.ts";
import type { Plugin, Provided } from "./contract/plugin.ts";

const LAUNCHER: OptionChecks<LauncherDefinition> = {
  name(by, name, value) {
    text(by, name, value);
    const isName = /^[a-z][a-z0-9_-]*$/.test(String(value));
    if (isName && !RESERVED_FOLDERS.includes(String(value))) return;
    throw new ConfigError({
      code: "plugin.invalid",
      message: `${by}: ${name} cannot be '${String(value)}'`,
      hint: `use small letters, digits and dashes, and none of: ${RESERVED_FOLDERS.join(", ")}`,
    });
  },
  targets: listOf("strings", text),
  settings: optional(listOf("strings", text)),
  insteadOf: optional(fn),
  retries: optional(fn),
  jobId: optional(fn),
  inThisProcess: anything,
  settingsByJob: anything,
  prunes: anything,
  runsElsewhere: optional(trueOrFalse),
  open: fn,
  backend: optional(fn),
  scheduledTask: optional(fn),
};

const SWEEPER: OptionChecks<SweeperDefinition> = {
  targets: listOf("strings", text),
  settings: optional(listOf("strings", text)),
  insteadOf: optional(fn),
  open: fn,
};

/**
 * Loads the launchers and sweepers of plugins, in addition to Hydra's own.
 *
 * @throws ConfigError `plugin.clash` for names that two plugins provide, `value.wrong_type` and `plugin.invalid` for
 * malformed launchers or sweepers
 */
export async function loadRegistry(plugins: readonly Plugin[]): Promise<SweepRegistry> {
  const claims = createClaims();
  const launchers: LauncherDefinition[] = [basicLauncher];
  const sweepers: SweeperDefinition[] = [basicSweeper];
  claims.take("launcher", basicLauncher.name, "hydra");
  for (const target of basicLauncher.targets) claims.take("launcher", target, "hydra");
  for (const target of basicSweeper.targets) claims.take("sweeper", target, "hydra");
  for (const plugin of plugins) {
    const by = `plugin '${plugin.name}'`;
    const ofPlugin = await listed(plugin.launchers);
    listOf("launchers", shape(LAUNCHER))(by, "launchers", ofPlugin);
    for (const launcher of ofPlugin) {
      for (const name of [launcher.name, ...launcher.targets])
        claims.take("launcher", name, plugin.name);
      launchers.push(launcher);
    }
    const more = await listed(plugin.sweepers);
    listOf("sweepers", shape(SWEEPER))(by, "sweepers", more);
    for (const sweeper of more) {
      for (const target of sweeper.targets) claims.take("sweeper", target, plugin.name);
      sweepers.push(sweeper);
    }
  }
  const python = plugins.findLast((plugin) => plugin.python !== undefined)?.python;
  return { launchers, sweepers, ...(python && { python }) };
}

const listed = async <T>(provided: Provided<T> = []): Promise<readonly T[]> =>
  typeof provided === "function" ? provided() : provided;
