/** Calls of CUDA (`CUPTI_ACTIVITY_KIND_RUNTIME`) and of the system (`OSRT_API`) in an export. */
import { getOrCreate } from "../../../../foundation/system/get-or-create.ts";
import {
  createHostCalls,
  type HostApi,
  type HostCallTable,
  type RecordedHostCalls,
} from "../../../model/host-calls.ts";
import type { ExportDatabase } from "./database.ts";
import { createNameReader, processKey, RUNTIME_TABLE, threadId } from "./export-schema.ts";
import { integerAt, numberAt } from "./queries.ts";
import type { ExportClock } from "./recorded-session.ts";

const TABLES: readonly (readonly [table: string, api: HostApi])[] = [
  [RUNTIME_TABLE, "cuda"],
  ["OSRT_API", "os"],
];
const NEEDED = ["start", "end", "globalTid", "nameId"];

/** CUPTI names a function with the version of CUDA that has it in this form, as `cudaMalloc_v3020`. */
const VERSION = /_v\d{4,5}$/;

/** The calls of each process, by process key. A table without what is needed is passed over. */
export function readHostCalls(
  database: ExportDatabase,
  clock: ExportClock,
): ReadonlyMap<number, RecordedHostCalls> {
  const processes = new Map<number, HostCallTable>();
  const names = createNameReader(database);
  const columns = {
    key: processKey("globalTid"),
    thread: threadId("globalTid"),
    name: "nameId",
    start: clock.time("start"),
    end: clock.time("end"),
  };
  for (const [table, api] of TABLES) {
    if (!database.tables.has(table) || !NEEDED.every((column) => database.has(table, column)))
      continue;
    for (const { rows, numbers } of database.integers(table, { columns, rare: {} })) {
      names.load(numbers.name.subarray(0, rows));
      for (let row = 0; row < rows; row++) {
        const [startNs, endNs] = [numberAt(numbers.start, row), numberAt(numbers.end, row)];
        const name = names.nameOf(numberAt(numbers.name, row));
        // A call that did not return has no end.
        if (name === null || !(endNs >= startNs)) continue;
        getOrCreate(processes, integerAt(numbers.key, row) ?? 0, createHostCalls).add({
          api,
          name: name.replace(VERSION, ""),
          threadId: integerAt(numbers.thread, row) ?? 0,
          startNs,
          endNs,
        });
      }
    }
  }
  return new Map([...processes].map(([key, calls]) => [key, calls.finish()]));
}
