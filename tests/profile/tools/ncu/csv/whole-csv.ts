import type { NcuResult } from "../../../../../src/profile/model/counters.ts";
import {
  type CsvOptions,
  streamNcuCsvFile,
} from "../../../../../src/profile/tools/ncu/csv/read-csv.ts";
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
