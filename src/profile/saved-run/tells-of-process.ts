import type { JsonText } from "../../report/json/json-text.ts";

/** Quotes inside of names are escaped, so that only a report's own scope looks like this. */
const PROCESS_SCOPE = /"scope": ?"process:/;
/** What is kept of the text so far: a match that a piece cuts in two has less on either side. */
const TAIL = '"scope": "process:'.length - 1;

/** Whether a report file, of any size and also a damaged one, has the report of a process. */
export function tellsOfProcess(whole: JsonText): boolean {
  let tail = "";
  for (const piece of whole()) {
    const text = tail + piece;
    if (PROCESS_SCOPE.test(text)) return true;
    tail = text.slice(-TAIL);
  }
  return false;
}
