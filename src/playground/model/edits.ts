/** Changed files of the page, beside those on the disk. */
import type { TreeFile } from "../tree-document.ts";

/** A changed text, and the version of the file that the change began with. */
export type Edit = Omit<TreeFile, "path">;

/** By path. */
export type Edits = Readonly<Record<string, Edit>>;

/** The files that the page shows, and its edits. */
export interface EditedFiles {
  readonly files: readonly TreeFile[];
  readonly edits: Edits;
}

/** Undefined for no file of these. */
const fileAt = (files: readonly TreeFile[], path: string): TreeFile | undefined =>
  files.find((file) => file.path === path);

export function withoutEdit(edits: Edits, path: string): Edits {
  const { [path]: _, ...others } = edits;
  return others;
}

/** The edits after a text was typed: an edit keeps the version that it began with, whatever was read from the disk since. */
export function withText({ edits, files }: EditedFiles, path: string, text: string): Edits {
  const file = fileAt(files, path);
  if (file === undefined) return edits;
  if (text === file.text) return withoutEdit(edits, path);
  return { ...edits, [path]: { text, version: edits[path]?.version ?? file.version } };
}

/** The files and edits after a text was saved. What was typed meanwhile is an edit of what was saved. */
export function withSaved({ edits, files }: EditedFiles, saved: TreeFile): EditedFiles {
  const { path, text, version } = saved;
  const now = edits[path]?.text;
  return {
    files: files.map((file) => (file.path === path ? saved : file)),
    edits:
      now === undefined || now === text
        ? withoutEdit(edits, path)
        : { ...edits, [path]: { text: now, version } },
  };
}

/**
 * The files and edits after the files were read again. A changed file that is gone from the disk stays, and an edit that is on the disk
 * as well is none.
 */
export function withRead(page: EditedFiles, read: readonly TreeFile[]): EditedFiles {
  const gone = page.files.filter(
    ({ path }) => page.edits[path] !== undefined && fileAt(read, path) === undefined,
  );
  const files = [...read, ...gone].sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files, edits: editsOf(files, page.edits) };
}

/** The edits of these files that change something. */
export const editsOf = (files: readonly TreeFile[], edits: Edits): Edits =>
  Object.fromEntries(
    Object.entries(edits).filter(([path, { text }]) => {
      const file = fileAt(files, path);
      return file !== undefined && file.text !== text;
    }),
  );

/** The edits of files that are not on the disk as they were when the edit began. */
export const conflictsOf = (edits: Edits, read: readonly TreeFile[]): readonly string[] =>
  Object.keys(edits).filter((path) => fileAt(read, path)?.version !== edits[path]?.version);
