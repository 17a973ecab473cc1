import type { Plugin } from "../../compose/plugins/plugin.ts";
import { toObject } from "../../values/plain-objects.ts";
import { LAUNCHERS } from "../launchers/index.ts";
import { SWEEPERS } from "../sweep/index.ts";
import { titleLines } from "./table.ts";

/**
 * What there is of each kind of Hydra's plugins, under Hydra's names: configs name launchers and
 * sweepers by them. Beside Hydra's own there are those that an active plugin has a config for.
 */
export function pluginLines(plugins: readonly Plugin[]): readonly string[] {
  const offered = new Set(plugins.flatMap(targetsOf));
  const classNames = (kinds: readonly { readonly targets: readonly string[] }[]) => {
    const targets = kinds.flatMap((kind) => kind.targets);
    const named = targets.filter((target) => target.startsWith(CORE) || offered.has(target));
    return [...new Set(named.map((target) => target.split(".").at(-1) ?? target))];
  };
  const kinds: readonly (readonly [string, readonly string[]])[] = [
    [
      "ConfigSource",
      ["FileConfigSource", "ImportlibResourcesConfigSource", "StructuredConfigSource"],
    ],
    ["CompletionPlugin", ["BashCompletion", "FishCompletion", "ZshCompletion"]],
    ["Launcher", classNames(LAUNCHERS)],
    ["Sweeper", classNames(SWEEPERS)],
  ];
  const parts = kinds.flatMap(([kind, names]) => {
    const lines = [...titleLines(`${kind}:`, "-"), ...names.map((name) => `\t${name}`)];
    return lines.map((line) => `\t${line}`);
  });
  return [...titleLines("Installed Hydra Plugins"), ...parts];
}

/** Where Hydra's own classes live. */
const CORE = "hydra._internal.";

/** What the configs of a plugin name in `_target_`. */
const targetsOf = ({ store = {} }: Plugin): readonly string[] =>
  Object.values(store).flatMap((entry) => {
    const value = "create" in entry ? toObject(entry.create()) : null;
    const target = (value as { readonly _target_?: unknown } | null)?._target_;
    return typeof target === "string" ? [target] : [];
  });
