import { BINARY } from "./binary.ts";
import { MAPPING, ORDERED_MAP, PAIRS, SEQUENCE, SET } from "./collections.ts";
import { FLOAT } from "./float.ts";
import { INTEGER } from "./integer.ts";
import { PATH, POSIX_PATH } from "./path.ts";
import { BOOLEAN, NULL, STRING, TIMESTAMP } from "./scalars.ts";
import type { TagConstructor } from "./tag-constructor.ts";

const ALL: readonly TagConstructor[] = [
  STRING,
  NULL,
  BOOLEAN,
  INTEGER,
  FLOAT,
  BINARY,
  TIMESTAMP,
  SEQUENCE,
  MAPPING,
  SET,
  ORDERED_MAP,
  PAIRS,
  PATH,
  POSIX_PATH,
];

/** Every tag that is accepted; any other is refused, as `SafeLoader` does. */
export const TAG_CONSTRUCTORS: ReadonlyMap<string, TagConstructor> = new Map(
  ALL.map((entry) => [entry.tag, entry]),
);
