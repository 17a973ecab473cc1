import { ConfigError } from "../../values/errors.ts";
import type { ResolveContext } from "../../values/interpolation/context.ts";
import type { MapNode } from "../../values/node.ts";
import { plainAt } from "../job/hydra-values.ts";
import { type JobResult, wasStopped } from "../job/job.ts";

const KEY = "hydra.launcher.on_failure";

/** What a sweep does once jobs fail. Jobs that run already always run to their end. */
export type FailurePolicy =
  /** As Hydra: the batch goes on, and no other batch follows. */
  | { readonly kind: "finish_batch" }
  | { readonly kind: "continue" }
  /** No job starts after this many have failed. */
  | { readonly kind: "stop"; readonly after: number };

/**
 * `hydra.launcher.on_failure`: `continue`, `stop`, `stop_after:N`; Hydra's own way where it is null
 * or not there.
 *
 * @throws ConfigError `value.wrong_type` for anything else
 */
export function failurePolicy(root: MapNode, context: ResolveContext): FailurePolicy {
  const value = plainAt(root, KEY, context);
  if (value === undefined || value === null) return { kind: "finish_batch" };
  const text = String(value);
  if (text === "continue") return { kind: "continue" };
  if (text === "stop") return { kind: "stop", after: 1 };
  const after = Number(/^stop_after:\s*(\d+)$/.exec(text)?.[1] ?? 0);
  if (after > 0) return { kind: "stop", after };
  throw new ConfigError({
    code: "value.wrong_type",
    message: `${KEY} cannot be '${text}'`,
    key: KEY,
    available: ["continue", "stop", "stop_after:N"],
  });
}

/** Counts failures over the batches of a sweep and says whether it may go on. */
export interface FailureGate {
  count(result: JobResult): void;
  /** Whether another job may start. */
  mayStart(): boolean;
  /** Whether another batch may follow. */
  mayFollow(): boolean;
}

export function openGate(policy: FailurePolicy): FailureGate {
  let failed = 0;
  let stopped = false;
  const mayStart = () => !stopped && !(policy.kind === "stop" && failed >= policy.after);
  return {
    count(result) {
      if (wasStopped(result)) stopped = true;
      else if (result.status === "failed") failed++;
    },
    mayStart,
    mayFollow: () => mayStart() && !(policy.kind === "finish_batch" && failed > 0),
  };
}
