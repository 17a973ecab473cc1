/** Notes that other code recognises, or that several writers share. */
import { agreeing, firstFew, grouped, partOf, plural } from "../../foundation/text/plural.ts";

// Labels that were unified by rules.

const RULES = " (rules: ";

/** @param words the rules in words, in order: reports with equal words have the same rules */
export const unifiedNote = (labels: number, unified: number, words: readonly string[]): string =>
  `labels unified by ${plural(words.length, "rule")}: ${plural(labels, "label")} became ${grouped(String(unified))}${RULES}${words.join(", ")})`;

const IS_UNIFIED = /^labels unified by /;

/** The rules of a report; null if it keeps the program's labels. */
export function rulesInNotes(notes: readonly string[]): string | null {
  const note = notes.find((candidate) => IS_UNIFIED.test(candidate));
  return note === undefined ? null : note.slice(note.indexOf(RULES) + RULES.length, -1);
}

export const isUnifiedNote = (note: string): boolean => IS_UNIFIED.test(note);

// Numbers of the median run of several.

export const medianRunNote = (runs: number): string =>
  `numbers are from the median run of ${runs}; repeats holds the spread over all runs`;

const IS_MEDIAN_RUN = /^numbers are from the median run of (\d+); /;

export const isMedianRunNote = (note: string): boolean => IS_MEDIAN_RUN.test(note);

/** Of how many runs the numbers of a report are those of the median one; null for a single run. */
export function medianOfRuns(notes: readonly string[]): number | null {
  const runs = notes.map((note) => Number(IS_MEDIAN_RUN.exec(note)?.[1] ?? 0));
  const most = Math.max(0, ...runs);
  return most === 0 ? null : most;
}

/** `, of the median run of 3`; empty for a single run. */
export function medianRunWords(notes: readonly string[]): string {
  const runs = medianOfRuns(notes);
  return runs === null ? "" : `, of the median run of ${runs}`;
}

// Repeated runs of which one failed: only those before it are measured.

export const completedNote = (completed: number, wanted: number): string =>
  `${completed} of ${plural(wanted, "run")} ${agreeing(completed, "was", "were")} completed`;

const COMPLETED = /^(\d+) of [\d,]+ runs (?:was|were) completed$/;

/** What the numbers of a failed run cover. @param notes those of its collection or report */
export function coveredWords(notes: readonly string[]): string {
  const completed = notes.map((note) => Number(COMPLETED.exec(note)?.[1] ?? 0));
  const count = Math.max(0, ...completed);
  return count === 0
    ? "what was recorded until then"
    : `the ${agreeing(count, "run that was", `${count} runs that were`)} completed`;
}

const MOST_NAMES = 8;

/** A note about jobs whose times were measured while others ran; empty without such jobs. */
export function concurrentJobsNote(jobs: readonly string[]): readonly string[] {
  if (jobs.length === 0) return [];
  const [plural, them] =
    jobs.length === 1 ? ["", "its time includes"] : ["s", "their times include"];
  return [
    `job${plural} ${named(jobs)} ran while another job of the sweep did, on the same machine: ${them} what that cost. ` +
      "Compare jobs that ran alone: hydra.launcher.n_jobs=1, or a node for each on Slurm",
  ];
}

const named = (jobs: readonly string[]): string =>
  jobs.length < 2 || jobs.length > MOST_NAMES + 1
    ? firstFew(jobs, MOST_NAMES)
    : `${jobs.slice(0, -1).join(", ")} and ${jobs.at(-1)}`;

// Regions that a report leaves out: by its selection, or because there are so many.

export const selectedNote = (leftOut: number, all: number): string =>
  `the selection leaves out ${partOf(leftOut, all, "region")}; totals cover all of them`;

const IS_SELECTED = /^the selection leaves out [\d,]+ of [\d,]+ regions?; /;

/** Whether the totals of a report cover more regions than it has. */
export const isPart = (notes: readonly string[]): boolean =>
  isLongestOnly(notes) || notes.some((note) => IS_SELECTED.test(note));

/** @param shown how many it has @param all how many its selection includes */
export const longestOnlyNote = (shown: number, all: number): string =>
  `only the ${grouped(String(shown))} longest of ${plural(all, "region")} are in this report; totals cover all of them. Label rules unify labels that name single calls (labels.rules; import and report: --label-rule 'REGEX=>TEXT')`;

const IS_LONGEST_ONLY = /^only the [\d,]+ longest of [\d,]+ regions are in this report; /;

/** Whether a region that the report does not have may have run. */
export const isLongestOnly = (notes: readonly string[]): boolean =>
  notes.some((note) => IS_LONGEST_ONLY.test(note));
