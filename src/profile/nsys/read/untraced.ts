/** Programs that launched kernels of which the file has none: an empty list of kernels would pass for a fact. */
import type { ExportDatabase } from "./database.ts";
import { remedyForNoKernels } from "./diagnostics.ts";
import { CALL_TABLES, GRAPH_TABLE, KERNEL_TABLE } from "./tables.ts";

const LAUNCHES =
  "nameId IN (SELECT id FROM StringIds WHERE value GLOB 'cu*LaunchKernel*' OR value GLOB 'cu*LaunchCooperative*')";

/** Some column: that there is a row is enough. */
const ROW = { start: "start" };

/**
 * What to say of it. Usual where nsys is older than the driver, and under WSL and in containers whose host
 * hides the GPU's clock: nsys ends with exit code 0 and has the calls, but not what ran.
 */
export function untracedNotes(database: ExportDatabase): readonly string[] {
  if (isPresent(database.rows(KERNEL_TABLE, ROW))) return [];
  if (database.tables.has(GRAPH_TABLE)) return [];
  if (!database.has("StringIds", "value")) return [];
  return CALL_TABLES.some((table) => hasLaunches(database, table))
    ? [
        `the program launched kernels, but nsys recorded none of them: ${remedyForNoKernels(database)}`,
      ]
    : [];
}

/** Of those that failed, as where a program finds no GPU, nothing ran. */
function hasLaunches(database: ExportDatabase, table: string): boolean {
  if (!database.has(table, "nameId")) return false;
  const succeeded = database.has(table, "returnValue") ? " AND returnValue = 0" : "";
  return isPresent(database.rows(table, ROW, `${LAUNCHES}${succeeded}`));
}

function isPresent(rows: Iterable<unknown>): boolean {
  for (const _ of rows) return true;
  return false;
}
