/** Files of profilers that hold too little to make reports from, and what to give instead. */
import type { ImportSource } from "./importer.ts";

const RAW_CSV = "ncu --import FILE.ncu-rep --csv --page raw --print-units base";

/** By the beginning of the text. */
const KNOWN: readonly (readonly [begins: RegExp, hint: string])[] = [
  [
    /^==(PROF|ERROR|WARNING)== /,
    `this is what ncu says on the terminal; give its report (.ncu-rep), or a table of it: ${RAW_CSV}`,
  ],
  [
    /^"?(Launch Settings|Session)"?\r?\n/,
    `this is the session page of ncu, which has no results; give the report, or a table of it: ${RAW_CSV}`,
  ],
  [
    // The header of every table has times with their unit.
    /^[^\n]*\b(Time|Start|Duration|Avg) \(ns\)/,
    "this is a table of nsys stats, which no longer says when things happened; give the recording: FILE.nsys-rep, or what nsys export --type sqlite FILE.nsys-rep makes of it",
  ],
];

/** The remedy where a file is known that cannot be imported. */
export function remedyFor({ bytes, head, isDirectory }: ImportSource): string | undefined {
  if (isDirectory) return undefined;
  if (bytes === 0)
    return "ncu writes an empty table when no kernel matches its filters, and still ends with exit code 0";
  const text = new TextDecoder("latin1").decode(head);
  return KNOWN.find(([begins]) => begins.test(text))?.[1];
}
