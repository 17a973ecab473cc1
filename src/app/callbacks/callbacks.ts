import { ConfigError } from "../../values/errors.ts";
import type { ResolveContext } from "../../values/interpolation/context.ts";
import type { MapNode } from "../../values/node.ts";
import { plainAt } from "../job/hydra-values.ts";
import type { Callback, CallbackEvents, CallbackFactory } from "./callback.ts";

/** The callbacks of a program run. */
export interface Callbacks {
  /** Calls a method of each in turn; those of an end in reverse. Never throws. */
  notify<Name extends keyof CallbackEvents>(
    method: Name,
    event: CallbackEvents[Name],
  ): Promise<void>;
}

export const NO_CALLBACKS: Callbacks = { notify: async () => {} };

export interface CallbacksRequest {
  readonly root: MapNode;
  readonly context: ResolveContext;
  /** What a config may name as `_target_`. */
  readonly known: Readonly<Record<string, CallbackFactory>>;
  readonly onWarning: (message: string) => void;
}

/**
 * Makes the callbacks that `hydra.callbacks` lists. Each entry names one with `_target_`; the other
 * keys are its settings.
 *
 * @throws ConfigError `app.unsupported` for a name that the program does not know
 */
export function openCallbacks(request: CallbacksRequest): Callbacks {
  const { context, onWarning, root } = request;
  const listed = plainAt(root, "hydra.callbacks", context);
  const callbacks = Object.entries((listed ?? {}) as Record<string, unknown>).map(
    ([name, settings]) => ({ name, callback: open(name, settings, request) }),
  );
  if (callbacks.length === 0) return NO_CALLBACKS;
  return {
    async notify(method, event) {
      const order = method.endsWith("End") ? [...callbacks].reverse() : callbacks;
      for (const { name, callback } of order)
        try {
          await callback[method]?.(event);
        } catch (error) {
          onWarning(`Callback ${name}.${method} raised ${errorLine(error)}`);
        }
    },
  };
}

function open(name: string, settings: unknown, { known }: CallbacksRequest): Callback {
  const { _target_: target, ...rest } = (settings ?? {}) as Record<string, unknown>;
  const factory = Object.hasOwn(known, String(target)) ? known[String(target)] : undefined;
  if (factory !== undefined) return factory(rest);
  throw new ConfigError({
    code: "app.unsupported",
    message:
      target === undefined
        ? `The callback 'hydra.callbacks.${name}' names no _target_`
        : `The callback '${String(target)}' is not known to this program`,
    key: `hydra.callbacks.${name}._target_`,
    available: Object.keys(known),
    hint: "a program names its callbacks in hydraMain({ callbacks: { NAME: (settings) => ... } })",
  });
}

const errorLine = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);
