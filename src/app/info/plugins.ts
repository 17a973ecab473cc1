import { LAUNCHERS } from "../launchers/index.ts";
import { SWEEPERS } from "../sweep/index.ts";
import { title } from "./table.ts";

/**
 * What there is of each kind of Hydra's plugins, under Hydra's names: configs name launchers and
 * sweepers by them.
 */
export function pluginsText(): string {
  const kinds: readonly (readonly [string, readonly string[]])[] = [
    [
      "ConfigSource",
      ["FileConfigSource", "ImportlibResourcesConfigSource", "StructuredConfigSource"],
    ],
    ["CompletionPlugin", ["BashCompletion", "FishCompletion", "ZshCompletion"]],
    ["Launcher", classNames(LAUNCHERS)],
    ["Sweeper", classNames(SWEEPERS)],
  ];
  const parts = kinds.map(([kind, names]) => {
    const heading = `${kind}:`;
    const lines = [heading, "-".repeat(heading.length), ...names.map((name) => `\t${name}`)];
    return lines.map((line) => `\t${line}\n`).join("");
  });
  return `${title("Installed Hydra Plugins")}${parts.join("")}`;
}

const classNames = (kinds: readonly { readonly targets: readonly string[] }[]) =>
  kinds.flatMap(({ targets }) => targets.map((target) => target.split(".").at(-1) ?? target));
