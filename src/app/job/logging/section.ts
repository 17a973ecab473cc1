/** The plain data that a log config is made of, as Python reads it. */
export interface Section {
  readonly [key: string]: unknown;
}

/** Whether Python takes a value of a config for true. */
export const isTruthy = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.length > 0;
  return isSection(value) ? Object.keys(value).length > 0 : Boolean(value);
};

/** Whether a value is a map. */
export const isSection = (value: unknown): value is Section =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A map, or an empty one for anything else. */
export const section = (value: unknown): Section => (isSection(value) ? value : {});

/** The names in a text or list. */
export function namesOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.map(String) : [];
}
