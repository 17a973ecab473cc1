import type { CellPlaces } from "./cells.ts";

/** Turns the rows of one table into results. */
export interface PageReader {
  /** Bytes and places are valid only during the call. */
  readonly row: (bytes: Buffer, places: CellPlaces) => void;
  /** The table is over. */
  readonly end: () => void;
}
