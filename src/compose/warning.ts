import type { Origin } from "../values/origin.ts";

/** Something to tell the user that does not stop a composition. Warnings are data: the app prints. */
export interface CompositionWarning {
  readonly code: "missing_self" | "unavailable_source" | "schema_match";
  /** In Hydra's wording. */
  readonly message: string;
  readonly origin?: Origin;
}
