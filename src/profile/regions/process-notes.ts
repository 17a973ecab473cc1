import { agreeing, firstFewOf, plural } from "../../text/plural.ts";
import { MAX_DEPTH, type ProcessAttribution } from "./attribute.ts";

/** What a reader must know about one process, each with its process id. */
export function processNotes(attribution: ProcessAttribution): readonly string[] {
  const { process, ignoredOperations, tooDeep, overlapping } = attribution;
  const own = [
    ...unclosedNote(attribution),
    ...(overlapping > 0
      ? [
          `${plural(overlapping, "range")} closed while an inner range was still open; such an inner range can take longer than the outer one`,
        ]
      : []),
    ...(tooDeep > 0
      ? [
          `${plural(tooDeep, "range")} nested deeper than ${MAX_DEPTH} levels ${agreeing(tooDeep, "counts", "count")} as part of the enclosing range`,
        ]
      : []),
    ...(ignoredOperations > 0
      ? [
          `${plural(ignoredOperations, "CPU operation is", "CPU operations are")} not counted because GPU kernels were recorded`,
        ]
      : []),
  ];
  return [...process.notes, ...own.map((note) => `process ${process.pid}: ${note}`)];
}

const MAX_NAMES = 5;
const MAX_NAME = 80;

/** Names the ranges that were open to the end: the first few, each once. */
function unclosedNote({ instances }: ProcessAttribution): readonly string[] {
  const unclosed = instances.filter(({ closed }) => !closed);
  if (unclosed.length === 0) return [];
  const names = [...new Set(unclosed.map(({ region }) => region.node.name))];
  return [neverClosed(unclosed.length, ` (${firstFewOf(names, MAX_NAMES, shorten)})`)];
}

const shorten = (name: string): string =>
  name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name;

/** @param which of the process's ranges, in brackets */
export const neverClosed = (count: number, which = ""): string =>
  `${plural(count, "range was", "ranges were")} never closed${which}; they are assumed to end with the last event of the process`;
