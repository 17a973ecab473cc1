import type { NcuResult } from "../../../../../src/profiler/model/counters.ts";
import { streamNcuReport } from "../../../../../src/profiler/tools/ncu/rep/read-report.ts";

/** Everything that our own reader finds in a report, at once. */
export function readNcuReport(file: string) {
  const results: NcuResult[] = [];
  return { ...streamNcuReport(file, (result) => results.push(result)), results };
}
