/** Groups of files that import each other, directly or through others, from the imports of each file. */
export function circlesIn(
  imports: ReadonlyMap<string, readonly string[]>,
): readonly (readonly string[])[];
