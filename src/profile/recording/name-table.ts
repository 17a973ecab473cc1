import { createColumn, words } from "../columns/column.ts";
import { createIdIndex } from "../columns/id-index.ts";
import { createLongList } from "../columns/long-list.ts";
import { DEFAULT_DOMAIN, recordFlag } from "./format.ts";
import type { NoteCollector } from "./notes.ts";
import type { RecordReader } from "./record-reader.ts";

/** Texts and domains of one stream: records name them by numbers that earlier records gave. */
export interface NameTable {
  readonly text: (id: number) => string;
  /** The text, demangled where the recording says how. */
  readonly kernel: (id: number) => string;
  readonly domain: (id: number) => string;
  /** Takes a record of the type `string`. */
  readonly readString: (record: RecordReader) => void;
  /** Takes a record of the type `domain`. */
  readonly readDomain: (record: RecordReader) => void;
  /** Takes a record of the type `demangled`. */
  readonly readDemangled: (record: RecordReader) => void;
}

export function createNameTable(notes: NoteCollector): NameTable {
  /** There can be a million texts; a Map of them would take most of the time and half of the memory. */
  const ids = createIdIndex();
  const texts = createLongList<string>();
  /** By the number of a text: 1 + the id of the same text demangled, 0 where there is none. */
  const demangled = createColumn(words);
  const domains = new Map<number, string>([[DEFAULT_DOMAIN, ""]]);
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

  /** NVTX does not say what encoding a `char*` has; UTF-8 in practice, else shown as Latin-1. */
  const decode = (bytes: Uint8Array): string => {
    try {
      return utf8.decode(bytes);
    } catch {
      notes.count("names that are not UTF-8, read as Latin-1");
      return Buffer.from(bytes).toString("latin1");
    }
  };
  const text = (id: number): string => {
    const number = ids.find(id);
    const known = number === null ? undefined : texts.at(number);
    if (known !== undefined) return known;
    notes.count("names whose text is missing from the recording");
    return `(unknown name ${id})`;
  };

  return {
    text,
    kernel: (id) => {
      const number = ids.find(id);
      const better = number === null ? 0 : demangled.get(number);
      return text(better === 0 ? id : better - 1);
    },
    domain: (id) => {
      const known = domains.get(id);
      if (known !== undefined) return known;
      notes.count("domains whose name is missing from the recording");
      return `(unknown domain ${id})`;
    },
    readString: (record) => {
      const id = record.u32();
      const length = record.u32();
      // Ids are never reused.
      if (ids.add(id) === texts.length()) texts.push(decode(record.bytes(length)));
      if ((record.flags() & recordFlag.truncated) !== 0) notes.count("names cut at 64 KiB");
    },
    readDomain: (record) => {
      domains.set(record.u32(), text(record.u32()));
    },
    readDemangled: (record) => {
      const number = ids.find(record.u32());
      if (number !== null) demangled.set(number, record.u32() + 1);
    },
  };
}
