import { END, isBlank } from "./characters.ts";
import { atDocumentMarker, type Cursor, charAt, column } from "./cursor.ts";

/** What kind of token begins at the cursor. */
export type TokenStart =
  | "end"
  | "directive"
  | "document start"
  | "document end"
  | "["
  | "{"
  | "]"
  | "}"
  | ","
  | "block entry"
  | "key"
  | "value"
  | "alias"
  | "anchor"
  | "tag"
  | "quoted"
  | "block scalar"
  | "plain";

/** Looks ahead by at most four characters; null where no token can start. */
export function tokenStart(cursor: Cursor, inFlow: boolean): TokenStart | null {
  const c = charAt(cursor);
  switch (c) {
    case END:
      return "end";
    case 0x25: // %
      return column(cursor) === 0 ? "directive" : null;
    case 0x2d: // -
      if (isMarker(cursor)) return "document start";
      return isBlank(charAt(cursor, 1)) ? "block entry" : "plain";
    case 0x2e: // .
      return isMarker(cursor) ? "document end" : "plain";
    case 0x5b:
      return "[";
    case 0x7b:
      return "{";
    case 0x5d:
      return "]";
    case 0x7d:
      return "}";
    case 0x2c:
      return ",";
    case 0x3f: // ?
      return inFlow || isBlank(charAt(cursor, 1)) ? "key" : "plain";
    case 0x3a: // :
      return inFlow || isBlank(charAt(cursor, 1)) ? "value" : "plain";
    case 0x2a: // *
      return "alias";
    case 0x26: // &
      return "anchor";
    case 0x21: // !
      return "tag";
    case 0x22: // "
    case 0x27: // '
      return "quoted";
    case 0x7c: // |
    case 0x3e: // >
      return inFlow ? null : "block scalar";
    case 0x09: // tab
    case 0x40: // @
    case 0x60: // `
      return null;
    default:
      return "plain";
  }
}

const isMarker = (cursor: Cursor): boolean =>
  column(cursor) === 0 && atDocumentMarker(cursor, isBlank);
