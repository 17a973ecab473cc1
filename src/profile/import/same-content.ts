import { fileHash } from "../../system/files.ts";
import { getOrCreate } from "../../system/get-or-create.ts";
import type { ImportSource } from "./importer.ts";

/** The files that hold the same as one before them, each with the first of those. Only files of the same size and beginning are read for it. */
export async function copiesAmong(
  sources: readonly ImportSource[],
): Promise<ReadonlyMap<ImportSource, ImportSource>> {
  const alike = new Map<string, ImportSource[]>();
  for (const source of sources)
    if (!source.isDirectory) getOrCreate(alike, beginning(source), () => []).push(source);
  const copies = new Map<ImportSource, ImportSource>();
  for (const group of alike.values()) {
    if (group.length === 1) continue;
    const firsts = new Map<string, ImportSource>();
    for (const source of group) {
      const first = getOrCreate(firsts, await fileHash(source.path), () => source);
      if (first !== source) copies.set(source, first);
    }
  }
  return copies;
}

const beginning = ({ bytes, head }: ImportSource): string =>
  `${bytes} ${Buffer.from(head).toString("latin1")}`;
