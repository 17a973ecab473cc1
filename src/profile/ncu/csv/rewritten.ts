/**
 * Tables of ncu that another program has saved again: pandas, a spreadsheet. They follow the rules of CSV, which ncu
 * does not, and have other separators, fewer quotes, and an index in front of the columns.
 */

import { TextDecoder } from "node:util";
import { lackingError } from "./lacking-error.ts";
import { asNcuOrders, knownColumns, lackingColumns } from "./layout.ts";

interface Rewriting {
  readonly separator: string;
  /** Columns in front of ncu's own. */
  readonly added: number;
  /** Where its header begins in the text. */
  readonly at: number;
}

/** How much of a text is looked at: a header stands at the beginning, and one of thousands of metrics is long. */
const HEAD_CHARACTERS = 1 << 20;

const PRINTED =
  /^\ufeff?(?:"ID","Process ID",|"Process ID","Process Name",|"Domain","Range:PL_Type)/m;
const SEPARATORS = [",", ";", "\t"];
/** Names of an index, which stands in front. */
const INDEX = /^(?:Unnamed: [\d.]+|index|level_\d)?$/;
/** A header has as many names of ncu's, or begins as ncu's do. */
const FEWEST_KNOWN = 3;
const MOST_ADDED = 4;

/** Null where a text is ncu's own, or no table of it. */
function rewritingOf(head: string): Rewriting | null {
  if (PRINTED.test(head)) return null;
  for (const { 0: line, index } of head.matchAll(/^.*(?:Process ID|Kernel Name|Metric Name).*$/gm))
    for (const separator of SEPARATORS) {
      const names = namesIn(line, separator);
      const first = names.findIndex((name) => !INDEX.test(name));
      if (first < 0 || first > MOST_ADDED || !isHeader(names.slice(first))) continue;
      return { separator, added: first, at: index };
    }
  return null;
}

const namesIn = (line: string, separator: string): readonly string[] =>
  line.split(separator).map((name) => name.trim().replace(/^\ufeff?"?|"$/g, ""));

const isHeader = (names: readonly string[]): boolean =>
  (names[0] === "ID" && names[1] === "Process ID") ||
  (knownColumns(names) >= FEWEST_KNOWN &&
    (names.includes("Kernel Name") || (names.includes("ID") && names.includes("Process ID"))));

/** Whether a text begins like such a table. */
export const isRewritten = (head: Uint8Array): boolean =>
  rewritingOf(new TextDecoder().decode(head.subarray(0, HEAD_CHARACTERS))) !== null;

/**
 * A table as ncu prints it: every cell quoted, commas between them, the columns in ncu's order; all else passes as it is.
 *
 * @param name what messages call it
 * @throws ConfigError `profile.input` where it lacks columns that results cannot be read without
 */
export async function* asPrinted(
  input: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<Uint8Array> {
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
    records = createRecordReader(rewriting, name);
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

/** Much longer than any row of ncu. Of a longer one, in a damaged file, the rest is dropped. */
const LONGEST_RECORD = 1 << 24;

const QUOTE = 0x22;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

function createRecordReader({ separator, added }: Rewriting, name: string): RecordReader {
  const between = separator.charCodeAt(0);
  let header: Header | null = null;
  let cells: string[] = [];
  let cell = "";
  let length = 0;
  let state: "plain" | "quoted" | "quote in quoted" = "plain";

  const add = (text: string) => {
    length += text.length;
    if (length <= LONGEST_RECORD) cell += text;
  };
  const endCell = () => {
    length++;
    if (length <= LONGEST_RECORD) cells.push(cell);
    cell = "";
  };
  const endRecord = (): string => {
    endCell();
    const own = cells.slice(added);
    cells = [];
    length = 0;
    if (own.length <= 1 && (own[0] ?? "") === "") return "";
    header ??= readHeader(own, name);
    return rowOf(own, header);
  };
  return {
    push(text) {
      let out = "";
      let at = 0;
      while (at < text.length) {
        if (state === "quoted") {
          const quote = text.indexOf('"', at);
          const end = quote < 0 ? text.length : quote;
          add(text.slice(at, end));
          if (quote >= 0) state = "quote in quoted";
          at = end + 1;
          continue;
        }
        if (state === "quote in quoted") {
          const isDoubled = text.charCodeAt(at) === QUOTE;
          state = isDoubled ? "quoted" : "plain";
          if (isDoubled) {
            add('"');
            at++;
          }
          continue;
        }
        const start = at;
        let byte = text.charCodeAt(at);
        while (at < text.length && byte !== between && byte !== LINE_FEED && byte !== QUOTE)
          byte = text.charCodeAt(++at);
        if (at > start) add(withoutReturn(text.slice(start, at)));
        if (at === text.length) break;
        at++;
        if (byte === between) endCell();
        else if (byte === LINE_FEED) out += endRecord();
        else if (cell === "") state = "quoted";
        else add('"');
      }
      return out;
    },
    end: () => (cells.length > 0 || cell !== "" ? endRecord() : ""),
  };
}

const withoutReturn = (text: string): string =>
  text.charCodeAt(text.length - 1) === CARRIAGE_RETURN ? text.slice(0, -1) : text;

interface Header {
  /** The places of the columns, as ncu orders them. */
  readonly order: readonly number[];
  /** Whether ncu's column has whole numbers. */
  readonly isWhole: readonly boolean[];
}

function readHeader(cells: readonly string[], name: string): Header {
  const names = cells.map((cell) => cell.trim());
  const lacking = isSummary(names) ? [] : lackingColumns(names);
  if (lacking.length > 0) throw lackingError(name, lacking);
  const order = asNcuOrders(names);
  return { order, isWhole: order.map((place) => WHOLE_NUMBERS.has(names[place] ?? "")) };
}

/** A page of averages has other columns, and says itself what is wrong with it. */
const isSummary = (names: readonly string[]): boolean =>
  names.includes("Invocations") || names.includes("Minimum");

/** A row that was cut stays short, and one with too many cells long. */
function rowOf(cells: readonly string[], { order, isWhole }: Header): string {
  let row = '"';
  for (let place = 0; place < cells.length; place++) {
    if (place > 0) row += '","';
    const text = cells[order[place] ?? place] ?? "";
    const cell = isWhole[place] === true ? text.replace(/^(\d+)\.0$/, "$1") : text;
    row += cell.includes('"') ? cell.replaceAll('"', '""') : cell;
  }
  return `${row}"\n`;
}
