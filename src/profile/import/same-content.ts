import { fileHash } from "../../system/file-hash.ts";
import { getOrCreate } from "../../system/get-or-create.ts";
import type { ImportSource } from "./importer.ts";

/** The files that hold the same as one before them, each with the first of those. Only files of the same size are read for it. */
export async function copiesAmong(
  sources: readonly ImportSource[],
): Promise<ReadonlyMap<ImportSource, ImportSource>> {
  const bySize = new Map<number, ImportSource[]>();
  for (const source of sources)
    if (!source.isDirectory) getOrCreate(bySize, source.bytes, () => []).push(source);
  const copies = new Map<ImportSource, ImportSource>();
  for (const sameSize of bySize.values()) {
    if (sameSize.length === 1) continue;
    const firsts = new Map<string, ImportSource>();
    for (const source of sameSize) {
      const first = getOrCreate(firsts, await fileHash(source.path), () => source);
      if (first !== source) copies.set(source, first);
    }
  }
  return copies;
}
