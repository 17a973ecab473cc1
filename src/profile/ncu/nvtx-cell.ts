import type { NvtxRange } from "./results.ts";

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

/** What NVTX's default domain is called in a cell. */
const DEFAULT_DOMAIN = "<default domain>";

/** Outermost first within a domain; ncu groups domains, so that order across domains is lost. */
export function parsePushPopCell(cell: string): readonly NvtxRange[] {
  return entriesOf(cell).map((entry) => rangeOf(entry, cell));
}

/** In order of their numbers, which is the order of opening. */
export function parseStartEndCell(cell: string): readonly NvtxRange[] {
  return entriesOf(cell)
    .map((entry) => {
      const colon = entry.indexOf(":");
      return { id: Number(entry.slice(0, colon)), range: rangeOf(entry.slice(colon + 1), cell) };
    })
    .sort((a, b) => a.id - b.id)
    .map(({ range }) => range);
}

/** An entry starts behind two quotes and ends before two; between entries stand two spaces. */
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
  // Without a colon there is no domain: better a name than a lost range.
  if (colon < 0) return { domain: "", name: head === "" ? cell : head };
  return { domain: isDefault ? "" : head.slice(0, colon), name: head.slice(colon + 1) };
}

/** `none:none`, `Uint64:42`, `Json:{"a":1}`: the payload's type and value begin the six fields. */
const PAYLOAD =
  /:(?:none:none|(?:Uint64|Int64|Uint32|Int32|Double|Float):[^:]*|Json:[\s\S]*|JsonRegistered:[\s\S]*):(?:none:none|RGB:0x[0-9a-fA-F]+):(?:none:none|(?:ASCII|UNICODE|REGISTERED):[\s\S]*|:?invalid handle|[^:]*:[^:]*)$/;

/** Where the six fields begin: the last place that fits them, unless a payload or message has more. */
function attributesAt(entry: string): number {
  const none = ":none:none:none:none:none:none";
  if (entry.endsWith(none)) return entry.length - none.length;
  return entry.search(PAYLOAD);
}
