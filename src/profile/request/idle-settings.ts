import { parseOverrides } from "../../overrides/index.ts";
import { agreeing } from "../../text/plural.ts";

/** The recorder's settings also apply to what the others measure. */
const COLLECTORS = ["nsys", "ncu"] as const;
type Collector = (typeof COLLECTORS)[number];

/**
 * Notes about settings that the command line has for a collector that is off: most likely it was meant to be on.
 *
 * @param overrides those of the job, as typed
 */
export function idleSettings(
  pipeline: Readonly<Record<Collector, { readonly enable: boolean }>>,
  overrides: readonly string[],
): readonly string[] {
  const keys = parseOverrides(overrides).map(({ keyOrGroup }) => keyOrGroup);
  return COLLECTORS.filter((name) => !pipeline[name].enable).flatMap((name) => {
    const enable = `pipeline.${name}.enable`;
    const idle = keys.filter((key) => isAbout(name, key) && key !== enable);
    if (idle.length === 0) return [];
    return [
      `${idle.join(", ")} ${agreeing(idle.length, "has", "have")} no effect: ${enable} is false`,
    ];
  });
}

/** Presets of its settings, too. */
const isAbout = (name: Collector, key: string): boolean =>
  key.startsWith(`pipeline.${name}.`) || key === `profiling/${name}`;
