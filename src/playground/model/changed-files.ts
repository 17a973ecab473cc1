/** Changed files of the page, beside those on the disk. */
import type { TreeFile } from "../tree-document.ts";

/** A changed text as the editor has it, its lines ended by LF, and the version of the file that the change began with. */
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

const LINE_END = /\r\n?|\n/g;

/** A text as the editor has it. */
export const editable = (text: string): string => text.replace(LINE_END, "\n");

/**
 * An edited text as it is written: lines before and after what was changed end as those of the file do, the changed ones as most lines
 * of the file.
 */
export function withLineEnds(edited: string, file: string): string {
  const ends = file.match(LINE_END) ?? [];
  const most = mostOf(ends);
  const old = file.split(LINE_END);
  const lines = edited.split("\n");
  const shorter = Math.min(old.length, lines.length);
  let start = 0;
  while (start < shorter && old[start] === lines[start]) start += 1;
  let tail = 0;
  while (tail < shorter - start && old.at(-1 - tail) === lines.at(-1 - tail)) tail += 1;
  const endOf = (index: number): string | undefined =>
    index < start
      ? ends[index]
      : index >= lines.length - tail
        ? ends[index - lines.length + old.length]
        : undefined;
  const last = lines.length - 1;
  return lines
    .map((line, index) => (index === last ? line : line + (endOf(index) ?? most)))
    .join("");
}

/** The first of those that are the most. */
function mostOf(ends: readonly string[]): string {
  const counts = ["\n", "\r\n", "\r"].map((end) => ({
    end,
    count: ends.filter((other) => other === end).length,
  }));
  return counts.reduce((most, candidate) => (candidate.count > most.count ? candidate : most)).end;
}

export function withoutEdit(edits: Edits, path: string): Edits {
  const { [path]: _, ...others } = edits;
  return others;
}

/** The edits after a text was typed: an edit keeps the version that it began with, whatever was read from the disk since. */
export function withText({ edits, files }: EditedFiles, path: string, text: string): Edits {
  const file = fileAt(files, path);
  if (file === undefined) return edits;
  if (text === editable(file.text)) return withoutEdit(edits, path);
  return { ...edits, [path]: { text, version: edits[path]?.version ?? file.version } };
}

/** The files and edits after a text was saved. What was typed meanwhile is an edit of what was saved. */
export function withSaved({ edits, files }: EditedFiles, saved: TreeFile): EditedFiles {
  const { path, text, version } = saved;
  const now = edits[path]?.text;
  return {
    files: files.map((file) => (file.path === path ? saved : file)),
    edits:
      now === undefined || now === editable(text)
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

/** The edits of these files that change something. Those of a link may have any line ends. */
export const editsOf = (files: readonly TreeFile[], edits: Edits): Edits =>
  Object.fromEntries(
    Object.entries(edits).flatMap(([path, edit]): [string, Edit][] => {
      const file = fileAt(files, path);
      const text = editable(edit.text);
      return file === undefined || editable(file.text) === text ? [] : [[path, { ...edit, text }]];
    }),
  );

/** The edits of files that are not on the disk as they were when the edit began. */
export const conflictsOf = (edits: Edits, read: readonly TreeFile[]): readonly string[] =>
  Object.keys(edits).filter((path) => fileAt(read, path)?.version !== edits[path]?.version);
