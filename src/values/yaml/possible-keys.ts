import { type Cursor, column } from "./cursor.ts";
import { refusal } from "./refusal.ts";

/**
 * A place where an implicit key may have started. Only the `:` behind it tells, so the token that
 * marks the key is put in front of it later. YAML 1.1 allows that on one line and within 1024
 * characters.
 */
export interface PossibleKey {
  /** How many tokens were made before this one. */
  readonly tokenNumber: number;
  /** A block of this indentation is open, so that anything but a key here is an error. */
  readonly required: boolean;
  readonly start: number;
  readonly line: number;
  readonly column: number;
}

/** The possible keys of a text, at most one per level of brackets; level 0 is the block context. */
export interface PossibleKeys {
  save(level: number, tokenNumber: number, required: boolean): void;
  /** Removes and returns the key of a level. */
  take(level: number): PossibleKey | undefined;
  /** Removes the key of a level. Throws where a key had to be. */
  forget(level: number): void;
  /** Removes all keys that are too far back to be one. Throws where a key had to be. */
  dropStale(): void;
  /** Removes the keys of all levels above this one. */
  leaveLevelsAbove(level: number): void;
  has(tokenNumber: number): boolean;
}

const MAX_KEY_LENGTH = 1024;

export function createPossibleKeys(cursor: Cursor): PossibleKeys {
  const keys: (PossibleKey | undefined)[] = [];

  function forget(level: number): void {
    const key = keys[level];
    if (key?.required === true) throw missingColon(cursor, key);
    keys[level] = undefined;
  }

  return {
    forget,
    save(level, tokenNumber, required) {
      forget(level);
      const { pos: start, line } = cursor;
      keys[level] = { tokenNumber, required, start, line, column: column(cursor) };
    },
    take(level) {
      const key = keys[level];
      keys[level] = undefined;
      return key;
    },
    dropStale() {
      for (let level = 0; level < keys.length; level++) {
        const key = keys[level];
        if (key === undefined || !isStale(cursor, key)) continue;
        if (key.required) throw missingColon(cursor, key);
        keys[level] = undefined;
      }
    },
    leaveLevelsAbove(level) {
      keys.length = Math.min(keys.length, level + 1);
    },
    has(tokenNumber) {
      for (let level = 0; level < keys.length; level++)
        if (keys[level]?.tokenNumber === tokenNumber) return true;
      return false;
    },
  };
}

/** Python counts characters; a pair of surrogates is one. */
function isStale(cursor: Cursor, key: PossibleKey): boolean {
  if (key.line !== cursor.line) return true;
  const units = cursor.pos - key.start;
  if (units <= MAX_KEY_LENGTH) return false;
  if (units > 2 * MAX_KEY_LENGTH) return true;
  return [...cursor.text.slice(key.start, cursor.pos)].length > MAX_KEY_LENGTH;
}

function missingColon({ source, text }: Cursor, key: PossibleKey) {
  const line = text.slice(key.start, key.start + 200);
  const end = line.search(/[\r\n\x85\u2028\u2029\0]/);
  return refusal(source, {
    context: "while scanning a simple key",
    problem: "could not find expected ':'",
    start: key.start,
    end: key.start + (end < 0 ? line.length : end),
  });
}
