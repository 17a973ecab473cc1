import { createTargets, type Targets } from "../../instantiate/index.ts";
import { fromCode } from "../../values/origin.ts";
import { fromObject } from "../../values/plain-objects.ts";
import { pyStr } from "../../values/python-text.ts";
import type { Logging } from "../logging/logging.ts";
import type { Callback } from "./callback.ts";

const LOG_JOB_RETURN = "hydra.experimental.callbacks.LogJobReturnCallback";

/**
 * The targets of a program, and beside them the callbacks of Hydra's own that need no Python.
 *
 * @see https://hydra.cc/docs/1.3/experimental/callbacks/
 */
export function withHydraCallbacks(targets: Targets, logging: Logging): Targets {
  const own = createTargets({ [LOG_JOB_RETURN]: () => logJobReturn(logging) });
  const ofHydra = (name: string): boolean =>
    own.names.includes(name) && !targets.names.includes(name);
  return {
    ...targets,
    resolve: (name) => (ofHydra(name) ? own : targets).resolve(name),
    load: (name) => (ofHydra(name) ? own : targets).load(name),
  };
}

/** Logs what a job returned or threw, as the last record of its log. */
function logJobReturn(logging: Logging): Callback {
  const log = logging.logger(LOG_JOB_RETURN);
  return {
    onJobEnd: ({ result }) => {
      if (result.status === "failed") log.error("", result.error);
      else log.info(`Succeeded with return value: ${pythonText(result.returnValue)}`);
    },
  };
}

/** As Python prints it; what is no plain data as JavaScript does. */
function pythonText(value: unknown): string {
  try {
    return value === undefined ? "None" : pyStr(fromObject(value, fromCode("task")));
  } catch {
    return String(value);
  }
}
