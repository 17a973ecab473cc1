import type { PbfReader } from "pbf";

/** What to do with the fields of a message, by number; others are skipped. */
export type FieldReaders<T> = Readonly<Record<number, (into: T, pbf: PbfReader) => void>>;

/** Reads an embedded message at the reader's place. */
export const readEmbedded = <T>(pbf: PbfReader, fields: FieldReaders<T>, into: T): T =>
  pbf.readMessage((tag, result, reader) => fields[tag]?.(result, reader), into);

/** Reads a message that fills the reader. */
export const readWhole = <T>(pbf: PbfReader, fields: FieldReaders<T>, into: T): T =>
  pbf.readFields((tag, result, reader) => fields[tag]?.(result, reader), into);

/** Reads a text into the property of this name. */
export const readText =
  <K extends string>(name: K) =>
  (into: Record<K, string | null>, pbf: PbfReader): void => {
    into[name] = pbf.readString();
  };

/** Reads an integer into the property of this name. */
export const readInteger =
  <K extends string>(name: K) =>
  (into: Record<K, number | null>, pbf: PbfReader): void => {
    into[name] = pbf.readVarint();
  };
