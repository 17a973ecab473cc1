import { keyComponents } from "../key-path.ts";

/** The key of a reference, taken apart. */
export interface ReferenceKey {
  /** Leading dots: none for a key that is looked up from the root, else how many levels up. */
  readonly levels: number;
  /** The text behind the dots. */
  readonly rest: string;
  /** Its components; none for the empty key, which leads to where the search starts. */
  readonly components: readonly string[];
}

/** @throws ConfigError as `keyComponents` */
export function referenceKey(text: string): ReferenceKey {
  let levels = 0;
  while (text[levels] === ".") levels++;
  const rest = text.slice(levels);
  return { levels, rest, components: rest === "" ? [] : keyComponents(rest) };
}
