/** What a plugin is: the interface that ours and others' implement. */
import { CONFIG_PLUGIN, type ConfigPlugin } from "../../../engine/compose/config-plugin.ts";
import type { Targets } from "../../../engine/instantiate/targets.ts";
import {
  anything,
  listOf,
  type OptionCheck,
  optional,
  shape,
  withMethods,
  wrongArgument,
} from "../../../engine/values/check-options.ts";
import type { LauncherDefinition } from "../../launch/launcher.ts";
import type { ProjectPython, SweeperDefinition } from "../../sweep/sweepers/sweeper.ts";

/** What a plugin provides: a list, or a function that loads it when one of its items may be chosen. */
export type Provided<T> = readonly T[] | (() => Promise<readonly T[]>);

/**
 * A package's extension of Hydra: launchers and sweepers with their configs, resolvers, sources of configs, callbacks.
 * A plugin is data: none of its code runs before a config or a command asks for it. See docs/plugins.md.
 */
export interface Plugin extends ConfigPlugin {
  /** Additional launchers for `hydra.launcher._target_`. */
  readonly launchers?: Provided<LauncherDefinition>;
  /** Additional sweepers for `hydra.sweeper._target_`. */
  readonly sweepers?: Provided<SweeperDefinition>;
  /** Additional targets for `hydra.callbacks.NAME._target_`, from `createTargets`. */
  readonly callbacks?: Targets;
  /**
   * The project's Python interpreter, for sweepers that need one.
   * @internal
   */
  readonly python?: ProjectPython;
}

const provided: OptionCheck = (by, name, value) => {
  if (!Array.isArray(value) && typeof value !== "function")
    throw wrongArgument(by, name, "a list, or a function that loads it", value);
};

/** A whole plugin. */
export const plugin: OptionCheck = shape<Plugin>({
  ...CONFIG_PLUGIN,
  python: anything,
  launchers: optional(provided),
  sweepers: optional(provided),
  callbacks: optional(
    withMethods(["resolve", "load"], "callbacks", "createTargets({ name: function }) makes them"),
  ),
});

/** The plugins of a program. */
export const plugins: OptionCheck = listOf("plugins", plugin, "[...STANDARD_PLUGINS, mine]");
