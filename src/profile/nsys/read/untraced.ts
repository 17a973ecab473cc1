/** Programs that launched kernels of which the file has none: an empty list of kernels would pass for a fact. */
import type { ExportDatabase } from "./database.ts";

const API_TABLES = ["CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"];
const LAUNCHES = "value GLOB 'cu*LaunchKernel*' OR value GLOB 'cu*LaunchCooperative*'";

/** Some column: that there is a row is enough. */
const ROW = { start: "start" };

/**
 * What to say of it. Usual where nsys is older than the driver, and under WSL and in containers whose host
 * hides the GPU's clock: nsys ends with exit code 0 and has the calls, but not what ran.
 */
export function untracedNotes(database: ExportDatabase): readonly string[] {
  if (isPresent(database.rows("CUPTI_ACTIVITY_KIND_KERNEL", ROW))) return [];
  if (database.tables.has("CUPTI_ACTIVITY_KIND_GRAPH_TRACE")) return [];
  const names = [...database.rows("StringIds", { id: "id" }, LAUNCHES)].map(({ id }) => id);
  if (names.length === 0) return [];
  const launched = API_TABLES.some(
    (table) =>
      database.has(table, "nameId") &&
      isPresent(database.rows(table, ROW, `nameId IN (${names.join(", ")})`)),
  );
  return launched
    ? [
        "the program launched kernels, but nsys recorded none of them: use an nsys as new as the driver; under WSL, add CuptiUseRawGpuTimestamps=false to the file that nsys -z names",
      ]
    : [];
}

function isPresent(rows: Iterable<unknown>): boolean {
  for (const _ of rows) return true;
  return false;
}
