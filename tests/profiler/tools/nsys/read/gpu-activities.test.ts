import { expect, it } from "vitest";
import {
  type ExportDatabase,
  withExport,
} from "../../../../../src/profiler/tools/nsys/read/database.ts";
import { readGpu } from "../../../../../src/profiler/tools/nsys/read/gpu-activities.ts";
import { readClock } from "../../../../../src/profiler/tools/nsys/read/recorded-session.ts";
import { writeExport } from "../exports.ts";

const KERNEL = { start: 10, end: 20, deviceId: 0, contextId: 1, streamId: 7, correlationId: 1 };
const PROCESS = 5 * 2 ** 24;

/** The tables that are searched for the only process of a file, which reads them whole. */
function searchedWhole(kernel: Readonly<Record<string, number>>): readonly string[] {
  const file = writeExport({
    CUPTI_ACTIVITY_KIND_KERNEL: [kernel],
    CUPTI_ACTIVITY_KIND_RUNTIME: [{ start: 1, end: 2, globalTid: PROCESS, correlationId: 1 }],
  });
  return withExport(file, (database) => {
    const searched: string[] = [];
    const rows: ExportDatabase["rows"] = (table, columns, where) => {
      if (JSON.stringify(columns).includes("DISTINCT")) searched.push(table);
      return database.rows(table, columns, where);
    };
    readGpu({ ...database, rows }, readClock(database));
    return searched;
  });
}

it("tables are searched for the only process where rows do not say theirs, not for a table that is not there", () => {
  expect(searchedWhole({ ...KERNEL, globalPid: PROCESS })).toEqual([]);
  expect(searchedWhole(KERNEL)).toContain("CUPTI_ACTIVITY_KIND_RUNTIME");
});
