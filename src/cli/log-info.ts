import type { Composition } from "../compose/index.ts";
import type { Composer, CompositionChanges } from "../job/composer.ts";
import { hydraLogging } from "../job/job-context.ts";
import { createLogging, type Logging } from "../job/logging/logging.ts";
import type { SweepRegistry, SweepSession } from "../sweep/registry.ts";

/** Hydra's name, which log configs and `hydra.verbose` may use. */
const LOGGER = "hydra._internal.hydra";

/**
 * What `--info all` shows, into Hydra's own log where that takes debug records: before a run, a sweep or a
 * help, as Hydra does.
 */
export async function logInfo(
  composer: Composer,
  registry: () => Promise<SweepRegistry>,
  overrides: readonly string[],
  changes: CompositionChanges,
  logging: Logging,
): Promise<void> {
  const log = logging.logger(LOGGER);
  if (!log.isEnabledFor("DEBUG")) return;
  const { openLook, TOPICS } = await import("./info.ts");
  const look = openLook(() => composer, await registry(), overrides, changes);
  const all = TOPICS.find(({ name }) => name === "all");
  for (const { level, text } of all?.show(look) ?? []) log[level](text);
}

/**
 * Opens Hydra's own log before help is shown, as Hydra does: so a wrong log config is reported, and Hydra's
 * DEBUG messages appear.
 *
 * @throws ConfigError `app.unsupported`, and of interpolations
 */
export async function logHelp(
  session: SweepSession,
  composition: Composition,
  changes: CompositionChanges,
): Promise<void> {
  const logging = createLogging({ console: session.invocation.console });
  try {
    hydraLogging(composition, session, logging)();
    await session.logInfo(session.overrides, changes, logging);
  } finally {
    logging.close();
  }
}
