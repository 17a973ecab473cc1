import type { NcuResult } from "../../../../../src/profiler/model/counters.ts";
import {
  type CsvOptions,
  streamNcuCsvFile,
} from "../../../../../src/profiler/tools/ncu/csv/read-csv.ts";
import type { NcuResults } from "../results.ts";

/** Everything that a table holds, at once. */
export async function readNcuCsv(file: string, options: CsvOptions = {}): Promise<NcuResults> {
  const results: NcuResult[] = [];
  const { sections, notes } = await streamNcuCsvFile(
    file,
    (result) => results.push(result),
    options,
  );
  return { results, sections, notes };
}
