import { streamNcuReport } from "../../../../src/profile/ncu/rep/read-report.ts";
import type { NcuResult } from "../../../../src/profile/ncu/results.ts";

/** Everything that our own reader finds in a report, at once. */
export function readNcuReport(file: string) {
  const results: NcuResult[] = [];
  return { ...streamNcuReport(file, (result) => results.push(result)), results };
}
