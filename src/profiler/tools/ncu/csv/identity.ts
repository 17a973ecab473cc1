/** Reads which kernel, process and ranges a row of ncu's tables is about. */
import {
  GRAPH_NAME,
  type NcuResult,
  NO_RANGES,
  type NvtxRange,
  type NvtxState,
} from "../../../model/counters.ts";
import { type CellPlaces, cellText, rawCellText } from "./cells.ts";
import type { TableLayout } from "./ncu-columns.ts";

/** The properties of a result in its row, except metrics. */
export type ResultIdentity = Omit<NcuResult, "columns" | "values" | "rules" | "deviceName">;

/** Reads the columns that identify results. Texts that repeat from row to row are shared. */
export function createIdentityReader({ columns }: TableLayout) {
  const texts = new Map<string, string>();
  const states = new Map<string, NvtxState>();
  const share = (text: string): string => {
    const cached = texts.get(text);
    if (cached !== undefined) return cached;
    if (texts.size < MAX_SHARED) texts.set(text, text);
    return text;
  };

  const stateOf = (bytes: Buffer, places: CellPlaces): NvtxState => {
    const pushPop = rawCellText(bytes, places, columns.pushPop);
    const startEnd = rawCellText(bytes, places, columns.startEnd);
    if (pushPop === "" && startEnd === "") return NO_RANGES;
    const key = `${pushPop}\0${startEnd}`;
    const cached = states.get(key);
    if (cached !== undefined) return cached;
    const state = {
      pushPop: parsePushPopCell(pushPop).map(sharedRange),
      startEnd: parseStartEndCell(startEnd).map(sharedRange),
    };
    if (states.size < MAX_SHARED) states.set(key, state);
    return state;
  };
  const sharedRange = ({ domain, name }: NvtxRange): NvtxRange => ({
    domain: share(domain),
    name: share(name),
  });

  // ncu names a range `range`, without stream and block, and a graph `graph`, without block. The name alone is
  // ambiguous: a kernel may have it, too.
  return (bytes: Buffer, places: CellPlaces): ResultIdentity => {
    const text = (column: number) => share(cellText(bytes, places, column));
    const kernelName = text(columns.kernelName);
    const stream = orNull(text(columns.stream));
    const device = orNull(text(columns.device));
    const hasBlock = orNull(text(columns.blockSize)) !== null;
    return {
      kind: kernelName === "range" && stream === null && !hasBlock ? "range" : "kernel",
      id: Number(cellText(bytes, places, columns.id)),
      processId: Number(cellText(bytes, places, columns.processId)),
      processName: text(columns.processName),
      device: device === null ? null : `cuda:${Number(device)}`,
      // Tables of versions without graph support have neither device nor block.
      kernelName: kernelName === "graph" && device !== null && !hasBlock ? GRAPH_NAME : kernelName,
      context: orNull(text(columns.context)),
      stream,
      nvtx: stateOf(bytes, places),
    };
  };
}

const MAX_SHARED = 100_000;

const orNull = (text: string): string | null => (text === "" || text === "n/a" ? null : text);

/**
 * The two NVTX columns of ncu's CSV. An entry is `""DOMAIN:NAME:` and six fields for payload, colour
 * and message, then `""`; entries are separated by two spaces. A push/pop cell begins with the number
 * of the thread, an entry of a start/end cell with the number of the range:
 *
 *     1111  ""<default domain>:A:none:none:none:none:none:none""  ""Domain-A:inner:none: ... ""␠
 *      ""1:<default domain>:S1:none:none:none:none:none:none""␠
 *
 * Names may hold colons, quotes and newlines, and payloads JSON: an entry is read from both ends.
 */

/** ncu's name of NVTX's default domain. */
const DEFAULT_DOMAIN = "<default domain>";

/** Outermost first within a domain; ncu groups ranges by domain, so that the order across domains is lost. */
export function parsePushPopCell(cell: string): readonly NvtxRange[] {
  return entriesOf(cell).map((entry) => rangeOf(entry, cell));
}

/** Ordered by number, which is the order of opening. */
export function parseStartEndCell(cell: string): readonly NvtxRange[] {
  return entriesOf(cell)
    .map((entry) => {
      const colon = entry.indexOf(":");
      return { id: Number(entry.slice(0, colon)), range: rangeOf(entry.slice(colon + 1), cell) };
    })
    .sort((a, b) => a.id - b.id)
    .map(({ range }) => range);
}

/** An entry is enclosed in doubled quotes; two spaces separate entries. */
function entriesOf(cell: string): readonly string[] {
  const first = cell.indexOf('""');
  const last = cell.lastIndexOf('""');
  if (first < 0 || last <= first) return [];
  return cell.slice(first + 2, last).split('""  ""');
}

/** `DOMAIN:NAME` and six fields; a handle that ncu could not resolve leaves one of them empty. */
function rangeOf(entry: string, cell: string): NvtxRange {
  const attributes = attributesAt(entry);
  const head = attributes < 0 ? entry : entry.slice(0, attributes);
  const isDefault = head.startsWith(`${DEFAULT_DOMAIN}:`);
  const colon = isDefault ? DEFAULT_DOMAIN.length : head.indexOf(":");
  // Without a colon there is no domain: a range with an odd name is better than a lost range.
  if (colon < 0) return { domain: "", name: head === "" ? cell : head };
  return { domain: isDefault ? "" : head.slice(0, colon), name: head.slice(colon + 1) };
}

/** The last four of the six fields: type and value of the colour and of the message. */
const COLOUR_AND_MESSAGE =
  /:(?:none:none|RGB:0x[0-9a-fA-F]+):(?:(?:ASCII|UNICODE|REGISTERED):|(?:none:none|:?invalid handle|[^:]*:[^:]*)$)/;

/** `none:none`, `Uint64:42`: the six fields begin with the payload's type and value. */
const SIX_FIELDS = new RegExp(
  `:(?:none:none|(?:Uint64|Int64|Uint32|Int32|Double|Float):[^:]*)${COLOUR_AND_MESSAGE.source}`,
);
/** `Json:{"a":1}`: the value may hold any text. */
const JSON_PAYLOAD = /:Json(?:Registered)?:/;

/** Where the six fields begin: at the last match, unless a payload or message has further fields. */
function attributesAt(entry: string): number {
  const none = ":none:none:none:none:none:none";
  if (entry.endsWith(none)) return entry.length - none.length;
  const places = [entry.search(SIX_FIELDS), jsonFieldsAt(entry)].filter((place) => place >= 0);
  return places.length === 0 ? -1 : Math.min(...places);
}

/** If the first match fails, later ones fail, too: they have less text after them. */
function jsonFieldsAt(entry: string): number {
  const payload = JSON_PAYLOAD.exec(entry);
  if (payload === null) return -1;
  const value = entry.slice(payload.index + payload[0].length);
  return COLOUR_AND_MESSAGE.test(value) ? payload.index : -1;
}
