/** Splits the text of a Chrome trace into its events, of which few are in memory at a time. */

/** What a trace has beside its events. */
export interface TraceEnd {
  /** The trace's object, in which the list of events is empty; empty itself if there is none, or it could not be read. */
  readonly header: Readonly<Record<string, unknown>>;
  /** The number of events that were read. */
  readonly events: number;
  /** Why what follows them could not be read; null for a whole trace. */
  readonly problem: string | null;
}

export interface EventStream {
  /** Bytes of the trace in their order; false: nothing more is read. */
  readonly push: (bytes: Uint8Array) => boolean;
  /** Once, at the end of the file. */
  readonly finish: () => TraceEnd;
}

/** Events are parsed together, because a call of the parser for each takes twice as long. */
const BATCH_BYTES = 1 << 20;
/** No event and no other part of a trace is larger. */
const LONGEST_PART = 1 << 26;

const EVENTS_KEY = "traceEvents";

const CODE = {
  quote: 0x22,
  comma: 0x2c,
  openList: 0x5b,
  backslash: 0x5c,
  closeList: 0x5d,
  openMap: 0x7b,
  closeMap: 0x7d,
} as const;

/** @param onEvents receives the parsed events in the order of the file */
export function createEventStream(onEvents: (events: readonly unknown[]) => void): EventStream {
  let text: Uint8Array = new Uint8Array();
  /** Where what follows the last finished event begins. */
  let pending = 0;
  let depth = 0;
  let isString = false;
  let isEscaped = false;
  /** The last string directly in the trace's object, which is a key if a list follows. */
  let key = "";
  let place: "before" | "events" | "after" = "before";
  /** The depth of the list of events: 1 in an object, 0 where the list is the trace. */
  let listDepth = 1;
  /** The ends of the finished events of the batch. */
  let ends: number[] = [];
  let events = 0;
  let problem: string | null = null;
  const around: string[] = [];
  let aroundLength = 0;

  const keepAround = (end: number): void => {
    const piece = utf8(text, pending, end);
    around.push(piece);
    aroundLength += piece.length;
    pending = end;
  };

  const parseBatch = (): void => {
    const end = ends.at(-1);
    if (end === undefined) return;
    const parsed = parsedList(utf8(text, skipComma(text, pending), end));
    if (parsed !== null) deliver(parsed);
    else parseSingly();
    pending = end;
    ends = [];
  };

  /** The events before the one that is wrong. */
  const parseSingly = (): void => {
    const good: unknown[] = [];
    for (const end of ends) {
      const parsed = parsedList(utf8(text, skipComma(text, pending), end));
      if (parsed === null) {
        problem = `event ${events + good.length + 1} is not valid JSON`;
        break;
      }
      good.push(...parsed);
      pending = end;
    }
    deliver(good);
  };

  const deliver = (parsed: readonly unknown[]): void => {
    events += parsed.length;
    if (parsed.length > 0) onEvents(parsed);
  };

  const isListOfEvents = (): boolean => depth === 0 || (depth === 1 && key === EVENTS_KEY);

  /** Reads from an index to the end of the text in memory. */
  const scan = (from: number): void => {
    for (let offset = from; offset < text.length && problem === null; offset++) {
      const code = text[offset];
      if (isString) {
        if (isEscaped) isEscaped = false;
        else if (code === CODE.backslash) isEscaped = true;
        else if (code === CODE.quote) isString = false;
        else if (depth === 1 && key.length <= EVENTS_KEY.length)
          key += String.fromCharCode(code ?? 0);
      } else if (code === CODE.quote) {
        isString = true;
        if (depth === 1) key = "";
      } else if (code === CODE.openMap || code === CODE.openList) {
        if (place === "before" && code === CODE.openList && isListOfEvents()) {
          keepAround(offset + 1);
          listDepth = depth;
          place = "events";
        }
        depth++;
      } else if (code === CODE.closeMap || code === CODE.closeList) {
        depth--;
        if (place !== "events") continue;
        if (depth === listDepth + 1) {
          ends.push(offset + 1);
          if (offset - pending >= BATCH_BYTES) parseBatch();
        } else if (depth === listDepth) {
          parseBatch();
          pending = offset;
          place = "after";
        }
      }
    }
  };

  return {
    push(bytes) {
      if (problem !== null) return false;
      const from = text.length - pending;
      text = from === 0 ? bytes : joined(text.subarray(pending), bytes);
      pending = 0;
      scan(from);
      if (place === "events") parseBatch();
      else if (problem === null) keepAround(text.length);
      if (text.length - pending > LONGEST_PART || aroundLength > LONGEST_PART)
        problem ??= `a part of it is longer than ${LONGEST_PART / 2 ** 20} MB`;
      return problem === null;
    },
    finish() {
      if (problem === null && (depth !== 0 || isString || place === "before"))
        problem = place === "before" && depth === 0 ? "it has no events" : "its end is missing";
      const closing = place !== "events" ? "" : listDepth === 0 ? "]" : "]}";
      const header = parsedList(`${around.join("")}${closing}`)?.[0];
      return { header: isRecord(header) ? header : {}, events, problem };
    },
  };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function parsedList(items: string): readonly unknown[] | null {
  try {
    const parsed: unknown = JSON.parse(`[${items}]`);
    return Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** Blanks, and the comma between the last finished event and what follows. */
function skipComma(text: Uint8Array, from: number): number {
  let offset = from;
  while (offset < text.length && (text[offset] ?? 0) <= 0x20) offset++;
  return text[offset] === CODE.comma ? offset + 1 : from;
}

const utf8 = ({ buffer, byteOffset }: Uint8Array, from: number, end: number): string =>
  Buffer.from(buffer, byteOffset + from, end - from).toString("utf8");

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}
