import type { Comparison } from "./comparison.ts";

/** Version of the comparison's JSON; `major.minor`, a minor only adds. */
export const COMPARISON_CONTRACT = "hydraconf.comparison/1.0";

/** Everything, for programs. Times are milliseconds; an infinite limit does not occur. */
export const renderComparisonJson = ({ names, reports, config, gates }: Comparison): string =>
  `${JSON.stringify({ contract: COMPARISON_CONTRACT, names, ...reports, config, gates }, null, 2)}\n`;
