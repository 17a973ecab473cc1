/** The name of a collector: its key under `pipeline`, and its folder in a run directory. */
export type CollectorName = "recorder" | "nsys" | "ncu";

/** In the order in which they run: each may use what those before it brought back. */
export const COLLECTOR_NAMES: readonly CollectorName[] = ["recorder", "nsys", "ncu"];
