/** Numbers names: the same name always has the same number. */
export interface NameNumbers {
  /** The number of a name; a new name gets the one that `add` returns. */
  readonly numberOf: (name: string) => number;
}

/** Up to this number of names a Map is fastest, although it takes 40 bytes per name, and twice that while it grows. */
const MOST_IN_MAP = 1 << 16;

/**
 * Most programs have hundreds of names. Some make a new one for each launch, a million of them: from
 * `MOST_IN_MAP` on, names are kept in a compact hash table.
 *
 * @param add stores a new name and returns its number
 * @param nameOf the name for a number that `add` returned
 */
export function createNameNumbers(
  add: (name: string) => number,
  nameOf: (number: number) => string,
): NameNumbers {
  const first = new Map<string, number>();
  let others: NameNumbers | null = null;
  return {
    numberOf(name) {
      if (others !== null) return others.numberOf(name);
      const existing = first.get(name);
      if (existing !== undefined) return existing;
      if (first.size === MOST_IN_MAP) {
        // From here on only the hash table is used: asking both would hash each name twice, and hashing is most of the
        // cost.
        others = createHashTable(add, nameOf, first);
        first.clear();
        return others.numberOf(name);
      }
      const number = add(name);
      first.set(name, number);
      return number;
    },
  };
}

/** Open addressing, at most half full: 12 to 24 bytes per name. */
function createHashTable(
  add: (name: string) => number,
  nameOf: (number: number) => string,
  first: Iterable<readonly [name: string, number: number]>,
): NameNumbers {
  let size = 0;
  /** A name's number + 1; 0 for a free slot. */
  let slots = new Uint32Array(4 * MOST_IN_MAP);
  let hashes = new Uint32Array(slots.length);

  const grow = (): void => {
    const larger = new Uint32Array(2 * slots.length);
    const theirHashes = new Uint32Array(larger.length);
    const mask = larger.length - 1;
    for (let from = 0; from < slots.length; from++) {
      if (slots[from] === 0) continue;
      let slot = (hashes[from] as number) & mask;
      while (larger[slot] !== 0) slot = (slot + 1) & mask;
      larger[slot] = slots[from] as number;
      theirHashes[slot] = hashes[from] as number;
    }
    slots = larger;
    hashes = theirHashes;
  };

  const numberOf = (name: string, numberNew: (name: string) => number): number => {
    const hash = hashOf(name);
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (; slots[slot] !== 0; slot = (slot + 1) & mask)
      if (hashes[slot] === hash) {
        const number = (slots[slot] as number) - 1;
        if (nameOf(number) === name) return number;
      }
    const number = numberNew(name);
    slots[slot] = number + 1;
    hashes[slot] = hash;
    if (++size * 2 > slots.length) grow();
    return number;
  };
  for (const [name, number] of first) numberOf(name, () => number);
  return { numberOf: (name) => numberOf(name, add) };
}

/** FNV-1a over UTF-16 code units, with a final mix because the lowest bits choose the slot. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
