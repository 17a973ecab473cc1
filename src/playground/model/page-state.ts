/** The state of the page, as its link holds it. */
import { fits, text } from "../../foundation/system/shape.ts";
import type { Edit, Edits } from "./changed-files.ts";

/** What is looked at: the part of the state that a link holds. */
export interface PageState {
  readonly configName: string;
  /** The line of overrides. */
  readonly line: string;
  /** The line that it is compared with; null for none. */
  readonly comparedLine: string | null;
  readonly tab: string;
  /** The file that is open; null for none. */
  readonly file: string | null;
  readonly edits: Edits;
}

/** Browsers and chat programs cut longer links. */
const MOST_EDITS = 8_000;

/** The part of a link after `#`. Changed files are in it while they are small. */
export function linkOf(state: PageState): string {
  const { comparedLine, configName, edits, file, line, tab } = state;
  const fields = new URLSearchParams({ config: configName, overrides: line, tab });
  if (comparedLine !== null) fields.set("compared", comparedLine);
  if (file !== null) fields.set("file", file);
  const changed = JSON.stringify(edits);
  if (Object.keys(edits).length > 0 && changed.length <= MOST_EDITS) fields.set("edits", changed);
  return fields.toString();
}

/** Whether a link can hold the changed files. */
export const fitsLink = (edits: Edits): boolean => JSON.stringify(edits).length <= MOST_EDITS;

/** What a link says; of a damaged one what can be read. */
export function stateIn(hash: string): Partial<PageState> {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const field = (name: string) => fields.get(name) ?? undefined;
  const [configName, line, tab] = [field("config"), field("overrides"), field("tab")];
  const [comparedLine, file, edits] = [field("compared"), field("file"), editsIn(field("edits"))];
  return {
    ...(configName !== undefined && { configName }),
    ...(line !== undefined && { line }),
    ...(tab !== undefined && { tab }),
    ...(comparedLine !== undefined && { comparedLine }),
    ...(file !== undefined && { file }),
    ...(edits !== undefined && { edits }),
  };
}

function editsIn(link: string | undefined): Edits | undefined {
  if (link === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(link);
    if (typeof value !== "object" || value === null) return undefined;
    return Object.fromEntries(
      Object.entries(value).flatMap(([path, edit]): [string, Edit][] =>
        fits<Edit>(edit, { text, version: text }) ? [[path, edit]] : [],
      ),
    );
  } catch {
    return undefined;
  }
}
