/** Remarks about a recording, each kept once with how often it applied. */
export interface NoteCollector {
  /** Counts one more case of `what`, e.g. `pops without an open range`. */
  readonly count: (what: string) => void;
  readonly add: (note: string) => void;
  readonly list: () => string[];
}

export function createNotes(): NoteCollector {
  const notes = new Set<string>();
  const counts = new Map<string, number>();
  return {
    add: (note) => void notes.add(note),
    count: (what) => void counts.set(what, (counts.get(what) ?? 0) + 1),
    list: () => [...notes, ...[...counts].map(([what, count]) => `${what}: ${count}`)],
  };
}
