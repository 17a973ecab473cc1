/** Settings that launchers share. */
import { field, STR } from "../../engine/compose/hydra/hydra-schema.ts";
import type { Setting } from "../job/settings.ts";

/** The reaction of a sweep to failed jobs. Running jobs always run to their end. */
export type FailurePolicy =
  /** As Hydra: the batch continues, and no other batch follows. */
  | { readonly kind: "finish_batch" }
  | { readonly kind: "continue" }
  /** No job starts after this many have failed. */
  | { readonly kind: "stop"; readonly after: number };

/** `continue`, `stop`, `stop_after:N`; Hydra's behaviour if it is null or absent. */
export const ON_FAILURE: Setting<FailurePolicy> = {
  field: field(STR, "continue"),
  help: "`continue`, `stop`, or `stop_after:N` failures: then no further job starts, and those that run finish",
  read(value, refuse) {
    if (value === undefined || value === null) return { kind: "finish_batch" };
    const text = String(value);
    if (text === "continue") return { kind: "continue" };
    if (text === "stop") return { kind: "stop", after: 1 };
    const after = Number(/^stop_after:\s*(\d+)$/.exec(text)?.[1] ?? 0);
    if (after > 0) return { kind: "stop", after };
    return refuse(`cannot be '${text}'`, { available: ["continue", "stop", "stop_after:N"] });
  },
};
