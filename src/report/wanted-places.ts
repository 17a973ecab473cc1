import { pointerTokens } from "../schema/pointer.ts";

/** The places in a document that JSON pointers name, as a tree: whoever walks the document walks along. */
export interface WantedPlace {
  /** Undefined where only something below is wanted. */
  pointer?: string;
  readonly below: Map<string, WantedPlace>;
}

/** The document itself, above all places that are wanted. */
export function wantedPlaces(pointers: Iterable<string>): WantedPlace {
  const document: WantedPlace = { below: new Map() };
  for (const pointer of pointers) {
    let place = document;
    for (const name of pointerTokens(pointer)) {
      const next = below(place, name) ?? { below: new Map() };
      place.below.set(name, next);
      place = next;
    }
    place.pointer = pointer;
  }
  return document;
}

/** The place of a member or an item; undefined where nothing there is wanted. */
export const below = (place: WantedPlace | undefined, name: string): WantedPlace | undefined =>
  place?.below.get(name);
