/** What all jobs of one run share: logging, callbacks, the composer. */
import { eachOnce } from "../../engine/compose/compose.ts";
import { type Composition, createConfig } from "../../engine/compose/index.ts";
import { isConfigError } from "../../engine/values/errors.ts";
import { type ComposedEvent, openCallbacks } from "./callbacks.ts";
import type { Logging } from "./logging/logging.ts";
import { jobPlace } from "./plan-job.ts";
import { warnOf } from "./report-error.ts";
import { type JobContext, logSettings } from "./run-job.ts";
import type { Session } from "./session.ts";

/** Makes the context that all jobs of one program run share. */
export async function openJobContext(
  session: Session,
  composition: Composition,
  logging: Logging,
): Promise<JobContext> {
  const { composer, invocation, options, parsed, task } = session;
  const ownFlags = new Set((options.flags ?? []).map((flag) => flag.id));
  return {
    program: options.name,
    task,
    logging,
    callbacks:
      options.delegate?.sweepCallbacks(composition.root, composer.context) ??
      (await openCallbacks({
        root: composition.root,
        context: composer.context,
        logging,
        ...(options.targets !== undefined && { targets: options.targets }),
        onWarning: (message) => warnOf(message, invocation),
      })),
    isDelegated: options.delegate !== undefined,
    ...jobPlace(session),
    chdirByDefault: composer.context.dialect.changesDirectory,
    warn: eachOnce((message) => warnOf(message, invocation)),
    flags: new Map([...parsed.flags].filter(([id]) => ownFlags.has(id))),
    restArgs: parsed.rest ?? [],
  };
}

/** Returns a function that directs Hydra's own messages, and those of jobs without their own log, to Hydra's log. */
export function hydraLogging(
  { root }: Composition,
  { composer, invocation, options }: Session,
  logging: Logging,
): () => void {
  // They exist before any config, as the loggers of Python's modules do: one that disables existing loggers disables these.
  for (const name of [options.name, ...MODULES_WITH_LOGS]) logging.logger(name);
  const { cwd } = invocation;
  const read = () => logSettings(root, "hydra.hydra_logging", composer.context);
  if (options.delegate === undefined) {
    const settings = read();
    return () => logging.configure(...settings(cwd));
  }
  return () => {
    try {
      logging.configure(...read()(cwd));
    } catch (error) {
      if (!isConfigError(error)) throw error;
      // A config that only the delegate's language can use: the delegate's own log applies it.
      logging.configure(HYDRA_LOG, false, cwd);
    }
  };
}

/** What Hydra has imported before it configures any log, of what we log as. */
const MODULES_WITH_LOGS = [
  "hydra._internal.core_plugins.basic_launcher",
  "hydra._internal.core_plugins.basic_sweeper",
  "hydra_plugins.hydra_submitit_launcher.submitit_launcher",
];

/** Hydra's own `hydra/hydra_logging: default`. */
const HYDRA_LOG = {
  version: 1,
  formatters: { simple: { format: "[%(asctime)s][HYDRA] %(message)s" } },
  handlers: {
    console: {
      class: "logging.StreamHandler",
      formatter: "simple",
      stream: "ext://sys.stdout",
    },
  },
  root: { level: "INFO", handlers: ["console"] },
  disable_existing_loggers: false,
};

/** The event that callbacks receive about a composition. */
export const composedEvent = (
  composition: Composition,
  overrides: readonly string[],
  { composer }: Session,
): ComposedEvent => ({
  config: createConfig(composition.root, composition, composer.context),
  configName: composition.configName,
  overrides,
});
