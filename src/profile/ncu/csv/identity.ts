import { parsePushPopCell, parseStartEndCell } from "../nvtx-cell.ts";
import {
  GRAPH_NAME,
  type NcuResult,
  NO_RANGES,
  type NvtxRange,
  type NvtxState,
} from "../results.ts";
import { type CellPlaces, cellText, rawCellText } from "./cells.ts";
import type { TableLayout } from "./layout.ts";

/** What a row says about its result beside metrics. */
export type ResultIdentity = Omit<NcuResult, "columns" | "values" | "rules" | "deviceName">;

/** Reads the columns that identify results. Texts that repeat from row to row are shared. */
export function createIdentityReader({ columns }: TableLayout) {
  const texts = new Map<string, string>();
  const states = new Map<string, NvtxState>();
  const share = (text: string): string => {
    const known = texts.get(text);
    if (known !== undefined) return known;
    if (texts.size < MAX_SHARED) texts.set(text, text);
    return text;
  };

  const stateOf = (bytes: Buffer, places: CellPlaces): NvtxState => {
    const pushPop = rawCellText(bytes, places, columns.pushPop);
    const startEnd = rawCellText(bytes, places, columns.startEnd);
    if (pushPop === "" && startEnd === "") return NO_RANGES;
    const key = `${pushPop}\0${startEnd}`;
    const known = states.get(key);
    if (known !== undefined) return known;
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

  // ncu calls a range `range` and gives it no stream and no block, and a graph `graph` and gives it no block. The name
  // alone does not tell: a kernel may be called so.
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
      device: device === null ? null : share(`cuda:${device}`),
      // Tables of versions that do not know graphs have neither device nor block.
      kernelName: kernelName === "graph" && device !== null && !hasBlock ? GRAPH_NAME : kernelName,
      context: orNull(text(columns.context)),
      stream,
      nvtx: stateOf(bytes, places),
    };
  };
}

const MAX_SHARED = 100_000;

const orNull = (text: string): string | null => (text === "" || text === "n/a" ? null : text);
