import type { SourceText } from "../origin.ts";
import { refusal } from "./refusal.ts";

/** YAML's printable characters; with the `u` flag half a surrogate pair matches on its own. */
const UNACCEPTABLE = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/** Refuses control characters, half surrogate pairs, U+FFFE and U+FFFF anywhere in the text. */
export function checkPrintable(source: SourceText): void {
  const found = UNACCEPTABLE.exec(source.text);
  if (found === null) return;
  const code = (source.text.codePointAt(found.index) ?? 0).toString(16).padStart(4, "0");
  throw refusal(source, {
    problem: `unacceptable character #x${code}: special characters are not allowed`,
    start: found.index,
    hint: 'in double quotes, write it as an escape, e.g. "\\x07"',
  });
}
