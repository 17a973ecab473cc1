/** What Hydra logs at the level DEBUG before it runs, sweeps or helps. */
import type { Composition } from "../../engine/compose/index.ts";
import type { Composer } from "../job/composer.ts";
import { hydraLogging } from "../job/job-context.ts";
import { createLogging, type Logging } from "../job/logging/logging.ts";
import type { SweepRegistry, SweepSession } from "../sweep/registry.ts";

/** Hydra's logger name, which log configs and `hydra.verbose` may use. */
const LOGGER = "hydra._internal.hydra";

/** A composition with its overrides. */
interface Composed {
  readonly composer: Composer;
  readonly composition: Composition;
  readonly overrides: readonly string[];
  /** Removes secrets before tables are laid out. */
  readonly redact: ((text: string) => string) | undefined;
}

/**
 * Writes the output of `--info all` to Hydra's own log if that logs debug records: before a run, a sweep or a help, as
 * Hydra does.
 */
export async function logInfo(
  { composer, composition, overrides, redact }: Composed,
  registry: () => Promise<SweepRegistry>,
  logging: Logging,
): Promise<void> {
  const log = logging.logger(LOGGER);
  if (!log.isEnabledFor("DEBUG")) return;
  const { openInfo, TOPICS } = await import("./info.ts");
  const topic = openInfo(
    () => composer,
    await registry(),
    () => overrides,
    redact,
    composition,
  );
  const all = TOPICS.find(({ name }) => name === "all");
  for (const { level, text } of all?.show(topic) ?? []) log[level](text);
}

/**
 * Opens Hydra's own log before help is shown, as Hydra does: so a wrong log config is reported, and Hydra's DEBUG
 * messages appear.
 *
 * @throws ConfigError `app.unsupported`, and of interpolations
 */
export async function logHelp(session: SweepSession, composition: Composition): Promise<void> {
  const logging = createLogging({ console: session.invocation.console });
  try {
    hydraLogging(composition, session, logging)();
    await session.logInfo(composition, session.overrides, logging);
  } finally {
    logging.close();
  }
}
