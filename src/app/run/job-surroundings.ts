import { type Composition, createConfig } from "../../compose/index.ts";
import type { ComposedEvent } from "../callbacks/callback.ts";
import { openCallbacks } from "../callbacks/callbacks.ts";
import type { Session } from "../commands/command.ts";
import { eachOnce, warnOf } from "../errors/warn.ts";
import { logSettings } from "../job/log-settings.ts";
import type { JobSurroundings } from "../job/run-job.ts";
import type { Logging } from "../logging/logging.ts";
import { changesDirectoryByDefault } from "../version-base.ts";
import { placeOf } from "./job-place.ts";

/** What all jobs of one program run share. */
export async function surround(
  session: Session,
  composition: Composition,
  logging: Logging,
): Promise<JobSurroundings> {
  const { composer, invocation, options, parsed, task } = session;
  const own = new Set((options.flags ?? []).map((flag) => flag.id));
  return {
    program: options.name,
    task,
    logging,
    callbacks: await openCallbacks({
      root: composition.root,
      context: composer.context,
      logging,
      ...(options.targets !== undefined && { targets: options.targets }),
      onWarning: (message) => warnOf(message, invocation),
    }),
    ...placeOf(session),
    chdirByDefault: changesDirectoryByDefault(options.versionBase),
    warn: eachOnce((message) => warnOf(message, invocation)),
    flags: new Map([...parsed.flags].filter(([id]) => own.has(id))),
    restArgs: parsed.rest ?? [],
  };
}

/** Returns a function that directs Hydra's own messages, and those of jobs without a log of their own, to Hydra's log. */
export function hydraLogging(
  { root }: Composition,
  { composer, invocation, options }: Session,
  logging: Logging,
): () => void {
  // The program's logger exists before any config, like a module's logger in Python.
  logging.logger(options.name);
  const settings = logSettings(root, "hydra.hydra_logging", composer.context);
  return () => logging.configure(...settings(invocation.cwd));
}

/** What callbacks receive about a composition. */
export const composedEvent = (
  composition: Composition,
  overrides: readonly string[],
  { composer }: Session,
): ComposedEvent => ({
  config: createConfig(composition.root, composition, composer.context),
  configName: composition.configName,
  overrides,
});
