import { jsonPieces } from "../json/json-writer.ts";
import type { Comparison } from "./comparison.ts";

/** Version of the comparison's JSON, `major.minor`; a minor version only adds. */
export const COMPARISON_CONTRACT = "hydraconf.comparison/1.3";

/** The versions that can be read, including all earlier ones. */
export const COMPARISON_CONTRACTS: readonly string[] = [
  "hydraconf.comparison/1.0",
  "hydraconf.comparison/1.1",
  "hydraconf.comparison/1.2",
  COMPARISON_CONTRACT,
];

/**
 * Everything, for programs, in pieces: for two large reports it can be longer than a string may be.
 * Times are milliseconds; an infinite limit does not occur.
 */
export const comparisonJsonPieces = ({
  names,
  reports,
  config,
  gates,
}: Comparison): Iterable<string> =>
  jsonPieces({ contract: COMPARISON_CONTRACT, names, ...reports, config, gates });
