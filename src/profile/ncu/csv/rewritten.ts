/**
 * Tables of ncu that another program has saved again: pandas, a spreadsheet. They follow the rules of CSV, which ncu
 * does not, and have other separators, fewer quotes, and an index in front of the columns.
 */

import { TextDecoder } from "node:util";

interface Rewriting {
  readonly separator: string;
  /** Columns in front of ncu's own. */
  readonly added: number;
  /** Where its header begins in the text. */
  readonly at: number;
}

/** How much of a text is looked at: a header stands at the beginning. */
const HEAD_CHARACTERS = 1 << 16;

const PRINTED = /^\ufeff?"ID","Process ID",/m;
const REWRITTEN =
  /^(\ufeff?(?:"?(?:Unnamed: [\d.]+|index|level_\d)?"?([,;\t])){0,4})"?ID"?([,;\t])"?Process ID"?\3/m;

/** Null where a text is ncu's own, or no table of it. */
function rewritingOf(head: string): Rewriting | null {
  if (PRINTED.test(head)) return null;
  const match = REWRITTEN.exec(head);
  if (match === null) return null;
  const [, before = "", , separator = ","] = match;
  return { separator, added: before.split(separator).length - 1, at: match.index };
}

/** Whether a text begins like such a table. */
export const isRewritten = (head: Uint8Array): boolean =>
  rewritingOf(new TextDecoder().decode(head.subarray(0, HEAD_CHARACTERS))) !== null;

/** A table as ncu prints it: every cell quoted, commas between them; all else passes as it is. */
export async function* asPrinted(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  let records: RecordReader | null = null;
  let isDecided = false;
  const decide = (): string | null => {
    isDecided = true;
    const text = decoder.decode(Buffer.concat(waiting), { stream: true });
    const rewriting = rewritingOf(text.slice(0, HEAD_CHARACTERS));
    if (rewriting === null) return null;
    records = createRecordReader(rewriting);
    return records.push(text.slice(rewriting.at));
  };
  for await (const chunk of input) {
    if (isDecided) {
      yield records === null ? chunk : Buffer.from(push(records, decoder, chunk));
      continue;
    }
    // The chunk's memory may be used again.
    waiting.push(Buffer.from(chunk));
    bytes += chunk.length;
    if (bytes < HEAD_CHARACTERS) continue;
    const printed = decide();
    yield printed === null ? Buffer.concat(waiting) : Buffer.from(printed);
    waiting = [];
  }
  if (!isDecided) {
    const printed = decide();
    yield printed === null ? Buffer.concat(waiting) : Buffer.from(printed);
  }
  if (records !== null) yield Buffer.from((records as RecordReader).end());
}

const push = (records: RecordReader, decoder: TextDecoder, chunk: Uint8Array): string =>
  records.push(decoder.decode(chunk, { stream: true }));

interface RecordReader {
  /** Takes more text, cut anywhere; returns the records that are complete, as ncu prints them. */
  readonly push: (text: string) => string;
  readonly end: () => string;
}

/** pandas makes floats of numbers in a column in which one is missing, as in the row of units. */
const WHOLE_NUMBERS = new Set(["ID", "Process ID", "Context", "Stream", "Device"]);

function createRecordReader({ separator, added }: Rewriting): RecordReader {
  let headers: readonly string[] | null = null;
  let cells: string[] = [];
  let cell = "";
  let state: "plain" | "quoted" | "quote in quoted" = "plain";

  const printed = (): string => {
    const own = [...cells, cell].slice(added);
    cells = [];
    cell = "";
    if (own.every((text) => text === "")) return own.length > 1 ? rowOf(own) : "";
    headers ??= own;
    return rowOf(own);
  };
  const rowOf = (own: readonly string[]): string =>
    `${own.map((text, place) => quoted(WHOLE_NUMBERS.has(headers?.[place] ?? "") ? text.replace(/^(\d+)\.0$/, "$1") : text)).join(",")}\n`;
  const take = (character: string): string => {
    if (state === "quoted") {
      if (character === '"') state = "quote in quoted";
      else cell += character;
      return "";
    }
    if (state === "quote in quoted" && character === '"') {
      cell += '"';
      state = "quoted";
      return "";
    }
    state = "plain";
    if (character === separator) {
      cells.push(cell);
      cell = "";
    } else if (character === "\n") return printed();
    else if (character === '"' && cell === "") state = "quoted";
    else if (character !== "\r") cell += character;
    return "";
  };
  return {
    push(text) {
      let out = "";
      for (const character of text) out += take(character);
      return out;
    },
    end: () => (cells.length > 0 || cell !== "" ? printed() : ""),
  };
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
