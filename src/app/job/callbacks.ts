/** Hydra's callbacks: made from `hydra.callbacks`, and called at the events of a run. */
import type { Config } from "../../engine/compose/index.ts";
import { instantiateAt } from "../../engine/instantiate/instantiate.ts";
import { createTargets, NO_TARGETS } from "../../engine/instantiate/module-targets.ts";
import type { Targets } from "../../engine/instantiate/targets.ts";
import { isRecord } from "../../engine/instantiate/view.ts";
import type { MapNode } from "../../engine/values/node.ts";
import { fromCode } from "../../engine/values/origin.ts";
import { fromObject } from "../../engine/values/plain-objects.ts";
import { pyStr } from "../../engine/values/python-text.ts";
import { asDeclared, type ResolveContext } from "../../engine/values/resolution/context.ts";
import { resolveAt, selectNode } from "../../engine/values/resolution/select.ts";
import { isError } from "../../foundation/system/builtin-types.ts";
import type { Job, JobResult } from "./job.ts";
import type { Logging } from "./logging/logging.ts";

/** The argument type of each callback method. */
export interface CallbackEvents {
  /** The config of a run or of a sweep was composed; not for the single jobs of a sweep. */
  readonly onComposeConfig: ComposedEvent;
  readonly onRunStart: ComposedEvent;
  readonly onRunEnd: ComposedEvent & { readonly result: JobResult };
  readonly onMultirunStart: ComposedEvent;
  /** `results` of the jobs that ran, in order. */
  readonly onMultirunEnd: ComposedEvent & { readonly results: readonly JobResult[] };
  /** Called around each job, in its environment and, with `hydra.job.chdir`, in its directory. */
  readonly onJobStart: JobEvent;
  readonly onJobEnd: JobEvent & { readonly result: JobResult };
}

/** A composed run or sweep. */
export interface ComposedEvent {
  /** The whole config, with its `hydra` node. */
  readonly config: Config;
  readonly configName: string | null;
  readonly overrides: readonly string[];
}

/** A single job and its composed config. */
export interface JobEvent {
  readonly config: Config;
  readonly job: Job;
}

/**
 * The methods are called at the points where Hydra calls its callbacks. They may be async: each is awaited. An error
 * that one throws is reported as a warning and stops nothing.
 *
 * A config lists callbacks as `hydra.callbacks.NAME`, with a `_target_` that the program registered
 * (`hydraMain({ targets })`) and that returns such an object.
 *
 * @see https://hydra.cc/docs/1.3/experimental/callbacks/
 */
export type Callback = {
  readonly [Name in keyof CallbackEvents]?: (event: CallbackEvents[Name]) => unknown;
};

/** The callbacks of a program run. */
export interface Callbacks {
  /** Calls one method of each callback in turn; `on...End` methods in reverse order. Never throws. */
  notify<Name extends keyof CallbackEvents>(
    method: Name,
    event: CallbackEvents[Name],
  ): Promise<void>;
  /** Whether any callback has one of these methods. */
  hasAny(methods: readonly (keyof CallbackEvents)[]): boolean;
}

const NO_CALLBACKS: Callbacks = { notify: async () => {}, hasAny: () => false };

export interface CallbacksRequest {
  readonly root: MapNode;
  readonly context: ResolveContext;
  /** The targets that a config may name as `_target_`. */
  readonly targets?: Targets;
  /** Where Hydra's own callbacks log. */
  readonly logging: Logging;
  readonly onWarning: (message: string) => void;
}

/**
 * Instantiates the callbacks that `hydra.callbacks` lists, in its order.
 *
 * @throws ConfigError `instantiate.*` for a target that the program did not register
 */
export async function openCallbacks(request: CallbacksRequest): Promise<Callbacks> {
  const { context, logging, onWarning, root } = request;
  const names = namesOf(root, context);
  if (names.length === 0) return NO_CALLBACKS;
  const targets = withHydraCallbacks(request.targets ?? NO_TARGETS, logging);
  const callbacks: { readonly name: string; readonly callback: Callback }[] = [];
  for (const name of names) {
    const path = [...CALLBACKS, name];
    const made = await instantiateAt({ root, context }, path, targets);
    // Hydra warns about a callback without `_target_` at each of its events.
    const written = resolveAt(root, path, context);
    if (written.kind !== "map" || !written.entries.has("_target_"))
      onWarning(`Callback ${name} has no _target_: nothing is called`);
    else if (isMistaken(made))
      onWarning(
        `Callback ${name} has none of the methods ${METHODS.join(", ")}: nothing is called`,
      );
    callbacks.push({ name, callback: made as Callback });
  }
  return {
    hasAny: (methods) => callbacks.some(({ callback }) => hasAnyOf(callback, methods)),
    async notify(method, event) {
      const order = method.endsWith("End") ? [...callbacks].reverse() : callbacks;
      for (const { name, callback } of order)
        try {
          await callback?.[method]?.(event);
        } catch (error) {
          onWarning(`Callback ${name}.${method} raised ${errorLine(error)}`);
        }
    },
  };
}

type Method = keyof CallbackEvents;

const METHODS: readonly Method[] = Object.keys({
  onComposeConfig: true,
  onRunStart: true,
  onRunEnd: true,
  onMultirunStart: true,
  onMultirunEnd: true,
  onJobStart: true,
  onJobEnd: true,
} satisfies Record<Method, true>) as Method[];

/** A target may give null or `{}` where there is nothing to call, but hardly means to with `_partial_` or misspelt methods. */
const isMistaken = (made: unknown): boolean =>
  made !== null &&
  made !== undefined &&
  !hasAnyOf(made, METHODS) &&
  !(isRecord(made) && Object.keys(made).length === 0);

const hasAnyOf = (callback: Callback | null | undefined, methods: readonly Method[]): boolean =>
  methods.some((method) => callback?.[method] !== undefined);

const CALLBACKS = ["hydra", "callbacks"];

function namesOf(root: MapNode, context: ResolveContext): readonly string[] {
  const listed = selectNode(root, CALLBACKS.join("."), asDeclared(context));
  return listed?.kind === "map" ? [...listed.entries.values()].map(({ key }) => pyStr(key)) : [];
}

const errorLine = (error: unknown): string =>
  isError(error) ? `${error.name}: ${error.message}` : String(error);

const LOG_JOB_RETURN = "hydra.experimental.callbacks.LogJobReturnCallback";

/**
 * The program's targets and those of Hydra's own callbacks that need no Python.
 *
 * @see https://hydra.cc/docs/1.3/experimental/callbacks/
 */
function withHydraCallbacks(targets: Targets, logging: Logging): Targets {
  return joinTargets(targets, createTargets({ [LOG_JOB_RETURN]: () => logJobReturn(logging) }));
}

/** Joins two sets of targets; the first wins where both have a name. */
export function joinTargets(first: Targets, second: Targets): Targets {
  const isOfSecond = (name: string): boolean =>
    second.names.includes(name) && !first.names.includes(name);
  const targetsOf = (name: string): Targets => (isOfSecond(name) ? second : first);
  return {
    ...first,
    names: [...first.names, ...second.names.filter(isOfSecond)],
    resolve: (name) => targetsOf(name).resolve(name),
    load: (name) => targetsOf(name).load(name),
  };
}

/** Logs what a job returned or threw, as the last record of the job's log. */
function logJobReturn(logging: Logging): Callback {
  const log = logging.logger(LOG_JOB_RETURN);
  return {
    onJobEnd: ({ result }) => {
      if (result.status === "failed") log.error("", result.error);
      else log.info(`Succeeded with return value: ${pythonText(result.returnValue)}`);
    },
  };
}

/** A value as Python prints it; a value that is not plain data as JavaScript prints it. */
function pythonText(value: unknown): string {
  try {
    return value === undefined ? "None" : pyStr(fromObject(value, fromCode("task")));
  } catch {
    return String(value);
  }
}
