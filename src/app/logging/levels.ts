/** Python's levels of log records, by name. */
export const LEVELS = {
  CRITICAL: 50,
  FATAL: 50,
  ERROR: 40,
  WARNING: 30,
  WARN: 30,
  INFO: 20,
  DEBUG: 10,
  NOTSET: 0,
} as const;

export type LevelName = keyof typeof LEVELS;

/** A level as a config gives it: a name or a number; undefined for anything else. */
export function levelNumber(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  return isLevelName(value) ? LEVELS[value] : undefined;
}

const isLevelName = (value: unknown): value is LevelName =>
  typeof value === "string" && Object.hasOwn(LEVELS, value);
