import type { Composer, CompositionChanges } from "../composer.ts";
import type { Logging } from "../logging/logging.ts";

/** Hydra's name, which log configs and `hydra.verbose` may use. */
const LOGGER = "hydra._internal.hydra";

/**
 * What `--info all` shows, into Hydra's own log where that takes debug records: before a run, a sweep or a
 * help, as Hydra does.
 */
export async function logInfo(
  composer: Composer,
  overrides: readonly string[],
  changes: CompositionChanges,
  logging: Logging,
): Promise<void> {
  const log = logging.logger(LOGGER);
  if (!log.isEnabledFor("DEBUG")) return;
  const { openLook, TOPICS } = await import("./topics.ts");
  const look = openLook(() => composer, overrides, changes);
  const all = TOPICS.find(({ name }) => name === "all");
  for (const { level, text } of all?.show(look) ?? []) log[level](text);
}
