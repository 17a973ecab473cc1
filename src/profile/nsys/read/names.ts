/**
 * Names by their ids in `StringIds`, each read once and kept once. An export has a name of its own for
 * each of a million kernels at worst, and two more that nobody asks for.
 */
import { createIdIndex } from "../../id-index.ts";
import type { ExportDatabase, SqlValue } from "./database.ts";

export interface NameReader {
  /** Reads what is not known yet of these ids, all at once. */
  readonly load: (ids: Iterable<SqlValue>) => void;
  /** Null where there is none. */
  readonly of: (id: SqlValue) => string | null;
}

export function createNameReader(database: ExportDatabase): NameReader {
  const known = createIdIndex();
  const texts: (string | null)[] = [];
  return {
    load(ids) {
      const wanted: number[] = [];
      for (const id of ids)
        if (isIndexed(id) && known.find(id) === null) {
          known.add(id);
          wanted.push(id);
        }
      const found = database.strings(wanted);
      for (const id of wanted) texts.push(found.get(id) ?? null);
    },
    of(id) {
      const number = isIndexed(id) ? known.find(id) : null;
      return number === null ? database.string(id) : (texts[number] ?? null);
    },
  };
}

/** nsys counts ids up from 1; no other is known to occur. */
const isIndexed = (id: SqlValue): id is number =>
  typeof id === "number" && Number.isInteger(id) && id >= 0 && id < 2 ** 32;
