import type { SourceFile } from "typescript";

/** Groups of files that import each other, directly or through others, from the imports of each file. */
export function circlesIn(
  imports: ReadonlyMap<string, readonly string[]>,
): readonly (readonly string[])[];

/** Exports of `src` that no other file imports, those of tests and scripts included. */
export function unusedExports(root: string): readonly string[];

/** The variables, parameters and functions of a file whose names only point, as `LINE: NAME`. */
export function pointingNames(source: SourceFile): readonly string[];

/** The measures of the tree of a revision, or why there are none. */
export function measuresAt(
  root: string,
  revision: string,
): { readonly measures: Readonly<Record<string, number>> } | { readonly problem: string };
