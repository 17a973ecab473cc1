import { DEFAULT_DOMAIN, recordFlag } from "./format.ts";
import type { NoteCollector } from "./notes.ts";
import type { RecordReader } from "./record-reader.ts";

/** Texts and domains of one stream: records name them by numbers that earlier records gave. */
export interface NameTable {
  readonly text: (id: number) => string;
  readonly domain: (id: number) => string;
  /** Takes a record of the type `string`. */
  readonly readString: (record: RecordReader) => void;
  /** Takes a record of the type `domain`. */
  readonly readDomain: (record: RecordReader) => void;
}

export function createNameTable(notes: NoteCollector): NameTable {
  const texts = new Map<number, string>();
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
    const known = texts.get(id);
    if (known !== undefined) return known;
    notes.count("names whose text is missing from the recording");
    return `(unknown name ${id})`;
  };

  return {
    text,
    domain: (id) => {
      const known = domains.get(id);
      if (known !== undefined) return known;
      notes.count("domains whose name is missing from the recording");
      return `(unknown domain ${id})`;
    },
    readString: (record) => {
      const id = record.u32();
      const length = record.u32();
      texts.set(id, decode(record.bytes(length)));
      if ((record.flags() & recordFlag.truncated) !== 0) notes.count("names cut at 64 KiB");
    },
    readDomain: (record) => {
      domains.set(record.u32(), text(record.u32()));
    },
  };
}
