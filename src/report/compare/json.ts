import { jsonPieces } from "../json/json-writer.ts";
import type { Comparison } from "./comparison.ts";

/** Version of the comparison's JSON; `major.minor`, a minor only adds. */
export const COMPARISON_CONTRACT = "hydraconf.comparison/1.3";

/** Those that are read: all that came before, too. */
export const COMPARISON_CONTRACTS: readonly string[] = [
  "hydraconf.comparison/1.0",
  "hydraconf.comparison/1.1",
  "hydraconf.comparison/1.2",
  COMPARISON_CONTRACT,
];

/**
 * Everything, for programs, in pieces: of two large reports it is longer than one string can be.
 * Times are milliseconds; an infinite limit does not occur.
 */
export const comparisonJsonPieces = ({
  names,
  reports,
  config,
  gates,
}: Comparison): Iterable<string> =>
  jsonPieces({ contract: COMPARISON_CONTRACT, names, ...reports, config, gates });
