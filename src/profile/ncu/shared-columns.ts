import { getOrCreate } from "../../system/get-or-create.ts";
import { createMetricColumns, type MetricColumns } from "./results.ts";

/** Of a metric that is a text: the name of the GPU. */
export const DEVICE_NAME = "device__attribute_display_name";

/**
 * Results nearly always have the same metrics: they share one object then.
 *
 * @param units of each metric, or the rule that tells a unit from a metric's name
 */
export type SharedColumns = (
  names: readonly string[],
  units: readonly string[] | ((name: string) => string),
) => MetricColumns;

export function createSharedColumns(): SharedColumns {
  const known = new Map<string, MetricColumns>();
  return (names, units) => {
    const byRule = typeof units === "function";
    const key = (byRule ? names : [...names, ...units]).join("\0");
    return getOrCreate(known, key, () =>
      createMetricColumns(names, byRule ? names.map(units) : units),
    );
  };
}
