/** Metrics that have different names on different chips. */

/** Names without rollups: GB20x counts DRAM's bytes by operation, the other chips by direction. */
const PAIRS: readonly (readonly [name: string, other: string])[] = [
  ["dram__bytes_read", "dram__bytes_op_read"],
  ["dram__bytes_write", "dram__bytes_op_write"],
];

const OTHERS = new Map(PAIRS.flatMap(([name, other]) => [[name, other] as const, [other, name]]));

/** `dram__bytes_op_read.sum` of `dram__bytes_read.sum`, and the reverse; null for metrics with one name. */
export function otherName(metric: string): string | null {
  const [base = "", ...rollup] = metric.split(".");
  const other = OTHERS.get(base);
  return other === undefined ? null : [other, ...rollup].join(".");
}

/** The metrics by all of their names: a chip has one of each. */
export const withOtherNames = (metrics: readonly string[]): readonly string[] => [
  ...new Set(metrics.flatMap((metric) => [metric, otherName(metric) ?? metric])),
];
