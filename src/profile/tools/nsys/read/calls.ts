/** The API calls that launched what ran on the GPUs: most calls launch nothing, and are not kept. */
import { createColumn, createIdIndex, doubles, words } from "../../../model/columns.ts";
import type { ExportDatabase } from "./database.ts";
import { integerAt, numberAt } from "./queries.ts";
import { CALL_TABLES, isReadable, processKey, threadId } from "./schema.ts";
import type { ExportClock } from "./session.ts";

export interface Call {
  readonly threadId: number;
  readonly startNs: number;
}

/** Calls of one process. */
export interface WantedCalls {
  /** Before the calls are read. */
  readonly want: (correlation: number) => void;
  /** Null: not requested, or not in the file. */
  readonly find: (correlation: number) => Call | null;
  readonly offer: (correlation: number, threadId: number, startNs: number) => void;
}

export function createWantedCalls(): WantedCalls {
  const wanted = createIdIndex();
  const threads = createColumn(words);
  const starts = createColumn(doubles, Number.NaN);
  return {
    want: wanted.add,
    find(correlation) {
      const at = wanted.find(correlation);
      if (at === null) return null;
      const startNs = starts.get(at);
      return Number.isNaN(startNs) ? null : { threadId: threads.get(at), startNs };
    },
    offer(correlation, threadId, startNs) {
      const at = wanted.find(correlation);
      // Of a runtime call and the driver call inside it, the outer one.
      if (at === null || starts.get(at) <= startNs) return;
      threads.set(at, threadId);
      starts.set(at, startNs);
    },
  };
}

/** Offers every call of the file to those of its process. */
export function readCalls(
  database: ExportDatabase,
  clock: ExportClock,
  processes: ReadonlyMap<number, WantedCalls>,
): void {
  if (processes.size === 0) return;
  const columns = {
    key: processKey("globalTid"),
    thread: threadId("globalTid"),
    correlation: "correlationId",
    start: clock.time("start"),
  };
  for (const table of CALL_TABLES.filter((name) => isReadable(database, name)))
    for (const { rows, of } of database.integers(table, { columns, rare: {} })) {
      const { key, thread, correlation, start } = of;
      for (let row = 0; row < rows; row++) {
        const id = numberAt(correlation, row);
        if (Number.isNaN(id)) continue;
        const calls = processes.get(integerAt(key, row) ?? 0);
        calls?.offer(id, integerAt(thread, row) ?? 0, integerAt(start, row) ?? 0);
      }
    }
}
