import { instantiateAt, NO_TARGETS, type Targets } from "../../instantiate/index.ts";
import type { MapNode } from "../../values/node.ts";
import { pyStr } from "../../values/python-text.ts";
import type { ResolveContext } from "../../values/resolution/context.ts";
import { asDeclared } from "../../values/resolution/context.ts";
import { resolveAt, selectNode } from "../../values/resolution/select.ts";
import type { Logging } from "../logging/logging.ts";
import type { Callback, CallbackEvents } from "./callback.ts";
import { withHydraCallbacks } from "./hydra-callbacks.ts";

/** The callbacks of a program run. */
export interface Callbacks {
  /** Calls a method of each in turn; those of an end in reverse. Never throws. */
  notify<Name extends keyof CallbackEvents>(
    method: Name,
    event: CallbackEvents[Name],
  ): Promise<void>;
  /** Whether any has one of these methods. */
  hasAny(methods: readonly (keyof CallbackEvents)[]): boolean;
}

const NO_CALLBACKS: Callbacks = { notify: async () => {}, hasAny: () => false };

export interface CallbacksRequest {
  readonly root: MapNode;
  readonly context: ResolveContext;
  /** What a config may name as `_target_`. */
  readonly targets?: Targets;
  /** Where callbacks of Hydra's own log. */
  readonly logging: Logging;
  readonly onWarning: (message: string) => void;
}

/**
 * Makes the callbacks that `hydra.callbacks` lists, in its order: each is instantiated.
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
    // Hydra warns of such a one at each of its events.
    const written = resolveAt(root, path, context);
    if (written.kind !== "map" || !written.entries.has("_target_"))
      onWarning(`Callback ${name} has no _target_: nothing is called`);
    callbacks.push({ name, callback: made as Callback });
  }
  return {
    hasAny: (methods) =>
      callbacks.some(({ callback }) => methods.some((method) => callback?.[method] !== undefined)),
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

const CALLBACKS = ["hydra", "callbacks"];

function namesOf(root: MapNode, context: ResolveContext): readonly string[] {
  const listed = selectNode(root, CALLBACKS.join("."), asDeclared(context));
  return listed?.kind === "map" ? [...listed.entries.values()].map(({ key }) => pyStr(key)) : [];
}

const errorLine = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);
