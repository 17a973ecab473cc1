/**
 * What decides the numbers beside the program: a reader compares only what was measured alike. ncu's own
 * defaults differ by version ("Clock Control", "Cache Control" in its documentation), so that nothing
 * is said of them where the config leaves them to ncu.
 */

import type { NcuCliConfig, ReplayMode } from "../config/ncu-config.ts";
import type { NcuCapabilities } from "./run/capabilities.ts";

/** @param modes of the passes that brought results; not always the one that was asked for */
export const howMeasured = (
  { version }: Pick<NcuCapabilities, "version">,
  { replay_mode, clock_control, cache_control }: NcuCliConfig,
  modes: readonly ReplayMode[],
): readonly string[] => [
  `measured by ncu ${version} in ${modes.length === 0 ? replay_mode : [...new Set(modes)].join(" and ")} replay; command lines: ncu/cmd.txt; tables: locale C.UTF-8`,
  clockNote(clock_control),
  cacheNote(cache_control),
];

function clockNote(control: string | null): string {
  if (control === null) return "GPU clocks were controlled by ncu's default (clock_control=null)";
  if (control === "none" || control === "reset")
    return `GPU clocks were not locked (clock_control=${control}): times vary with temperature, power and other load`;
  return control === "base"
    ? "GPU clocks were locked to base (clock_control=base): times are longer than at the boost clocks of a normal run"
    : `GPU clocks were locked by ncu (clock_control=${control})`;
}

function cacheNote(control: string | null): string {
  if (control === null) return "GPU caches were controlled by ncu's default (cache_control=null)";
  return control === "all"
    ? "GPU caches were flushed before every replay pass (cache_control=all): each kernel or range started with cold caches"
    : `GPU caches were not flushed between replay passes (cache_control=${control}): a pass finds what the one before left there`;
}
