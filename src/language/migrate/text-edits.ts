/** Changes of texts at known places, which leave all else of a file as it is. */
import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { FileOrigin } from "../../engine/values/origin.ts";

/** A piece of a file, by offsets in UTF-16 code units, end exclusive. */
export interface FileSpan {
  /** Its absolute path. */
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** A piece of a file and what is to stand there. */
export interface Edit extends FileSpan {
  readonly text: string;
  /** An insertion whose order among others at the same place does not matter, such as an argument by its name. */
  readonly isUnordered?: true;
  /** What stands between such insertions at the same place, where their texts have none of it. */
  readonly separator?: string;
}

/** A file that gets another name in its folder. */
export interface Rename {
  readonly file: string;
  readonly name: string;
}

/** What makes one finding right: all of it, or nothing. */
export interface Fix {
  readonly edits: readonly Edit[];
  readonly renames?: readonly Rename[];
}

export const spanOf = ({ source, start, end }: FileOrigin, cwd: string): FileSpan => ({
  file: resolve(cwd, source.name),
  start,
  end,
});

/** The texts of files after fixes, by absolute path; null for a file that is renamed. */
export type EditedTexts = ReadonlyMap<string, string | null>;

/**
 * The files that fixes change. Equal edits count once, and an edit that overlaps an earlier one is left out with its
 * fix.
 */
export function editedTexts(fixes: readonly Fix[]): {
  readonly texts: EditedTexts;
  /** The fixes that could be made together. */
  readonly made: readonly Fix[];
} {
  const byFile = new Map<string, Edit[]>();
  const renames = new Map<string, Rename>();
  const made: Fix[] = [];
  for (const fix of fixes) {
    const fresh = fix.edits.filter((edit) => !byFile.get(edit.file)?.some(isSame(edit)));
    if (fresh.some((edit) => byFile.get(edit.file)?.some(overlaps(edit)))) continue;
    for (const edit of fresh) byFile.set(edit.file, [...(byFile.get(edit.file) ?? []), edit]);
    for (const rename of fix.renames ?? []) renames.set(rename.file, rename);
    made.push(fix);
  }
  const texts = new Map<string, string | null>();
  for (const [file, edits] of byFile)
    texts.set(file, editedText(readFileSync(file, "utf8"), edits));
  for (const { file, name } of renames.values()) {
    const text = texts.get(file) ?? readFileSync(file, "utf8");
    texts.set(file, null);
    texts.set(join(dirname(file), name), text);
  }
  return { texts, made };
}

/** A file of a fix that is no UTF-8: decoded and written again, its bytes would be others. */
export const undecodableFile = ({ edits, renames = [] }: Fix): string | undefined =>
  [...new Set([...edits, ...renames].map(({ file }) => file))].find(
    (file) => !isUtf8(readFileSync(file)),
  );

/** A fix that makes the edits of two for the same place; undefined if they contradict each other. */
export function joinedFix(left: Fix, right: Fix): Fix | undefined {
  const fresh = right.edits.filter((edit) => !left.edits.some(isSame(edit)));
  if (fresh.some((edit) => left.edits.some(overlaps(edit)))) return undefined;
  const renames = [
    ...(left.renames ?? []),
    ...(right.renames ?? []).filter(
      ({ file }) => !left.renames?.some((rename) => rename.file === file),
    ),
  ];
  if (fresh.length === 0 && renames.length === (left.renames?.length ?? 0)) return left;
  return { edits: [...left.edits, ...fresh], ...(renames.length > 0 && { renames }) };
}

const isSame =
  (edit: Edit) =>
  (other: Edit): boolean =>
    edit.file === other.file &&
    edit.start === other.start &&
    edit.end === other.end &&
    edit.text === other.text;

/** Two insertions at one place have no order, unless none is needed. */
const overlaps =
  (edit: Edit) =>
  (other: Edit): boolean =>
    edit.file === other.file &&
    (edit.start === other.start
      ? !(edit.isUnordered === true && other.isUnordered === true)
      : edit.start < other.end && other.start < edit.end);

/** A text with its edits made. */
export function editedText(text: string, edits: readonly Edit[]): string {
  let result = "";
  let offset = 0;
  let previous: Edit | undefined;
  for (const edit of [...edits].sort((left, right) => left.start - right.start)) {
    const separator = previous?.start === edit.start ? (edit.separator ?? "") : "";
    result += text.slice(offset, edit.start) + separator + edit.text;
    offset = edit.end;
    previous = edit;
  }
  return result + text.slice(offset);
}
