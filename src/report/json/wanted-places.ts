import { pointerTokens } from "../../schema/json-document.ts";

/** The places in a document that JSON pointers name, as a tree to descend along with the document. */
export interface WantedPlace {
  /** Undefined if only something below is wanted. */
  pointer?: string;
  readonly below: Map<string, WantedPlace>;
}

/** The root of the tree of wanted places: the document itself. */
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

/** The place of a member or an item; undefined if nothing there is wanted. */
export const below = (place: WantedPlace | undefined, name: string): WantedPlace | undefined =>
  place?.below.get(name);
