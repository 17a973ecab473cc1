import { getOrCreate } from "../../system/get-or-create.ts";
import { grouped, plural } from "../../text/plural.ts";
import type { ProcessAttribution } from "./attribute.ts";
import { processNotes } from "./process-notes.ts";

/** So many processes may say the same before one of them speaks for all. */
const MAX_ALIKE = 8;
/** The most notes on processes that a report of many shows; each process's own report has all of its own. */
const MAX_NOTES = 64;

/**
 * What a reader must know about several processes: a run of thousands of them would bury the report
 * under what each says of itself.
 */
export function notesOfProcesses(processes: readonly ProcessAttribution[]): readonly string[] {
  const told = processes.flatMap((attribution) =>
    processNotes(attribution).map((note) => splitNote(note, attribution.process.pid)),
  );
  return upTo(MAX_NOTES, folded(told));
}

interface ToldNote {
  /** E.g. `process 12 (python3)`; empty where the note names none. */
  readonly who: string;
  readonly what: string;
}

function splitNote(note: string, pid: number): ToldNote {
  const start = new RegExp(`^process ${pid}(?: \\(.*?\\))?(?=: )`).exec(note)?.[0];
  return start === undefined
    ? { who: "", what: note }
    : { who: start, what: note.slice(start.length) };
}

/** In the order in which each was told first. */
function folded(notes: readonly ToldNote[]): readonly string[] {
  const alike = new Map<string, Set<string>>();
  for (const { who, what } of notes) getOrCreate(alike, what, () => new Set<string>()).add(who);
  const shown = new Set<string>();
  for (const { who, what } of notes) {
    const all = alike.get(what) ?? new Set([who]);
    const [first = who] = all;
    shown.add(
      all.size <= MAX_ALIKE
        ? `${who}${what}`
        : `${first} and ${grouped(String(all.size - 1))} others${what}`,
    );
  }
  return [...shown];
}

const upTo = (limit: number, notes: readonly string[]): readonly string[] =>
  notes.length <= limit
    ? notes
    : [
        ...notes.slice(0, limit),
        `${plural(notes.length - limit, "more note")} in the reports of the processes`,
      ];
