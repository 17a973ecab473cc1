import type { CellPlaces } from "./cells.ts";

/** Turns the rows of one table into results. */
export interface PageReader {
  /** Bytes and places are valid only during the call. */
  readonly row: (bytes: Buffer, places: CellPlaces) => void;
  /** The table is over. */
  readonly end: () => void;
  /** Whether results were read of a table that says of no metric what it is counted in. */
  readonly lacksUnits: () => boolean;
}
