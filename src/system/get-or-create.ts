/** A value that is made when it is first asked for, and kept. */
export function once<T>(create: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: create() };
    return made.value;
  };
}

interface Store<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
}

/**
 * What a map has of a key; where it has nothing, that is made and kept. Loops over millions of results say it out: a
 * closure for each costs a tenth of their time.
 */
export function getOrCreate<K, V>(map: Store<K, V>, key: K, create: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const created = create();
  map.set(key, created);
  return created;
}
