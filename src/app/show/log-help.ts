import type { Composition } from "../../compose/index.ts";
import type { Session } from "../commands/command.ts";
import type { CompositionChanges } from "../composer.ts";
import { logInfo } from "../info/log-info.ts";
import { createLogging } from "../logging/logging.ts";
import { hydraLogging } from "../run/job-surroundings.ts";

/**
 * Opens Hydra's own log before help is shown, as Hydra does: so a wrong log config is reported, and Hydra's
 * DEBUG messages appear.
 *
 * @throws ConfigError `app.unsupported`, and of interpolations
 */
export async function logHelp(
  session: Session,
  composition: Composition,
  changes: CompositionChanges,
): Promise<void> {
  const logging = createLogging({ console: session.invocation.console });
  try {
    hydraLogging(composition, session, logging)();
    await logInfo(session.composer, session.overrides, changes, logging);
  } finally {
    logging.close();
  }
}
