/**
 * Names by their ids in `StringIds`, each read once and kept once. An export has a name of its own for
 * each of a million kernels at worst, and two more that nobody asks for.
 */
import { createIdIndex } from "../../columns/id-index.ts";
import { createLongList } from "../../columns/long-list.ts";
import type { ExportDatabase } from "./database.ts";

export interface NameReader {
  /** Reads what is not known yet of these ids, all at once; false: some of them have no name. */
  readonly load: (ids: ArrayLike<number>) => boolean;
  /** Null where there is none; NaN is no id. */
  readonly of: (id: number) => string | null;
}

export function createNameReader(database: ExportDatabase): NameReader {
  const known = createIdIndex();
  const texts = createLongList<string | null>();
  return {
    load(ids) {
      const wanted: number[] = [];
      let complete = true;
      for (let at = 0; at < ids.length; at++) {
        const id = ids[at] ?? Number.NaN;
        const number = isIndexed(id) ? known.find(id) : null;
        if (number !== null) complete &&= texts.at(number) !== null;
        else if (!isIndexed(id)) complete = false;
        else {
          known.add(id);
          wanted.push(id);
        }
      }
      for (const text of database.strings(wanted)) {
        complete &&= text !== null;
        texts.push(text);
      }
      return complete;
    },
    of(id) {
      if (Number.isNaN(id)) return null;
      const number = isIndexed(id) ? known.find(id) : null;
      return number === null ? database.string(id) : (texts.at(number) ?? null);
    },
  };
}

/** nsys counts ids up from 1; no other is known to occur. */
const isIndexed = (id: number): boolean => id >= 0 && id < 2 ** 32;
