/**
 * The records of NVTX's extensions: descriptions of payloads and counters, structures that belong to an event, samples,
 * and events that the program reported later, on its own clocks.
 */
import { getOrCreate } from "../../../foundation/system/get-or-create.ts";
import {
  namedField,
  type PayloadBlob,
  type PayloadEnumeration,
  type PayloadField,
  type PayloadNumber,
  type PayloadSchema,
  type PayloadStamp,
  payloadField,
  type SchemaEntry,
  type SchemaTable,
} from "../../model/payload.ts";
import { readPayloads } from "../../model/payload-reader.ts";
import { createProgramClocks } from "./clocks.ts";
import type { EventSink, NoteCollector, SampleEvent } from "./events.ts";
import { recordFlag, recordType } from "./format.ts";
import {
  bytesOf,
  type CounterDefinition,
  inlineText,
  type NameTable,
  type RecordReader,
  readCounter,
  readEnumeration,
  readSchema,
} from "./records.ts";

/** A structure recorded before its event. */
export interface PendingPayload extends PayloadBlob {
  /** Id of the domain that its schema belongs to. */
  readonly domain: number;
  /** Its message; null without one. */
  readonly text: string | null;
}

/** The contents of an event's structures, in addition to its record. */
export interface PayloadContents {
  readonly numbers: readonly PayloadNumber[];
  readonly name: string | null;
  readonly category: number | null;
  readonly color: number | null;
}

/** The context of a record. */
interface RecordPlace {
  readonly names: NameTable;
  readonly threadId: number;
}

/** The extensions of one recording: all threads may use the descriptions of one. */
export interface Extensions {
  /** Processes a record with a description. */
  readonly define: (record: RecordReader) => void;
  readonly payload: (record: RecordReader, names: NameTable) => PendingPayload;
  /** @param name the event's name so far */
  readonly contents: (payloads: readonly PendingPayload[], name: string) => PayloadContents;
  readonly sample: (record: RecordReader, timeNs: number, place: RecordPlace) => void;
  readonly batchSample: (record: RecordReader, place: RecordPlace) => void;
  /** @param pending the payloads before it */
  readonly deferred: (
    record: RecordReader,
    pending: readonly PendingPayload[],
    place: RecordPlace,
  ) => void;
  /** Processes a record about clocks. */
  readonly clock: (record: RecordReader) => void;
  /** Once, after all records: delivers events that had to wait for the clocks. */
  readonly finish: () => void;
}

interface DomainDefinitions extends SchemaTable {
  readonly counters: Map<bigint, CounterDefinition>;
  readonly scopes: Map<bigint, { readonly parent: bigint; readonly path: string }>;
}

/** An event at a time of one of the program's clocks. */
interface Waiting {
  readonly domain: number;
  readonly timeDomain: bigint;
  readonly ticks: bigint;
  readonly endTicks: bigint | null;
  readonly deliver: (startNs: number, endNs: number) => void;
}

const sampleKind = { bytes: 0, integer: 1, float: 2, none: 3 } as const;
const missing = { zero: 0, unchanged: 1 } as const;
const OF_THREAD = 22n;
const FIRST_OWN_SCOPE = 1n << 24n;
const schemaEvents = { pushPop: 2, startEnd: 3 } as const;
const HOLDS = 3n;

/** Rows for scopes that are not threads, beyond all thread ids. */
const FIRST_SCOPE_ROW = 2 ** 32;

/** What is known of the extensions of a recording. */
interface ExtensionState {
  readonly domains: Map<number, DomainDefinitions & Writable>;
  readonly clocks: ReturnType<typeof createProgramClocks>;
  /** The columns of numbers, by entry and path: many values share them. */
  readonly fields: Map<SchemaEntry, Map<string, PayloadField>>;
  readonly named: Map<string, PayloadField>;
  /** The last sample of each series. */
  readonly last: Map<string, SampleEvent>;
  /** The row of each scope, by its path. */
  readonly rows: Map<string, number>;
  readonly waiting: Waiting[];
  readonly sink: EventSink;
  readonly notes: NoteCollector;
  /** Whether structures have this machine's byte order. */
  readonly isReadable: boolean;
}

const NO_CONTENTS: PayloadContents = { numbers: [], name: null, category: null, color: null };

/** @param isReadable whether structures have this machine's byte order */
export function createExtensions(
  sinceOrigin: (absoluteNs: bigint) => number,
  sink: EventSink,
  notes: NoteCollector,
  isReadable: boolean,
): Extensions {
  const state: ExtensionState = {
    domains: new Map(),
    clocks: createProgramClocks(sinceOrigin),
    fields: new Map(),
    named: new Map(),
    last: new Map(),
    rows: new Map(),
    waiting: [],
    sink,
    notes,
    isReadable,
  };
  return {
    define: (record) => define(state, record),
    payload: (record, names) => payload(state, record, names),
    contents: (payloads, name) => (isReadable ? contents(state, payloads, name) : NO_CONTENTS),
    sample: (record, timeNs, place) => sample(state, record, timeNs, place),
    batchSample: (record, place) => batchSample(state, record, place),
    deferred: (record, pending, place) => deferred(state, record, pending, place),
    clock: (record) => pairClocks(state, record),
    finish: () => deliverWaiting(state),
  };
}

const domainOf = ({ domains }: ExtensionState, id: number) =>
  getOrCreate(domains, id, () => emptyDomain(id));

const fieldOf = ({ fields }: ExtensionState, entry: SchemaEntry, path: string): PayloadField =>
  getOrCreate(
    getOrCreate(fields, entry, () => new Map<string, PayloadField>()),
    path,
    () => payloadField(path, entry.unit),
  );

const namedFieldOf = ({ named }: ExtensionState, path: string, name: string): PayloadField =>
  getOrCreate(named, `${path}\0${name}`, () => namedField(path, name));

function define(state: ExtensionState, record: RecordReader): void {
  const { clocks, notes } = state;
  record.u32(); // its number: a later one of the same id replaces it, and streams give the newest first
  const domain = domainOf(state, record.u32());
  const id = record.u64();
  if ((record.flags() & recordFlag.truncated) !== 0)
    notes.count("descriptions of payloads with more entries than are recorded");
  switch (record.type()) {
    case recordType.schema: {
      const schema = readSchema(record);
      if (!domain.schemas.has(id)) domain.schemas.set(id, schema);
      return;
    }
    case recordType.enumeration: {
      const enumeration = readEnumeration(record);
      if (!domain.enumerations.has(id)) domain.enumerations.set(id, enumeration);
      return;
    }
    case recordType.counter: {
      const counter = readCounter(record);
      if (!domain.counters.has(id)) domain.counters.set(id, counter);
      return;
    }
    case recordType.scope:
      domain.scopes.set(id, { parent: record.u64(), path: inlineText(record) });
      return;
    default: {
      record.u64(); // its scope
      const type = record.u64();
      clocks.define({ domain: domain.id, id, type, resolution: Number(record.u64()) });
    }
  }
}

function contents(
  state: ExtensionState,
  payloads: readonly PendingPayload[],
  name: string,
): PayloadContents {
  const numbers: PayloadNumber[] = [];
  let category: number | null = null;
  let color: number | null = null;
  readPayloads(payloads, domainOf(state, payloads[0]?.domain ?? 0), {
    number: (entry, path, value) =>
      void numbers.push({ field: fieldOf(state, entry, path), value }),
    named: (path, name) => void numbers.push({ field: namedFieldOf(state, path, name), value: 1 }),
    attribute(is, value) {
      if (is === "category") category = Number(value);
      if (is === "color") color = Number(value);
    },
  });
  const said = payloads.find(({ text }) => text !== null)?.text ?? null;
  return { numbers, name: name === "" ? said : null, category, color };
}

/** Delivers the numbers of a counter, each as a separate series. */
function emit(
  { last, sink }: ExtensionState,
  counter: CounterDefinition,
  domain: { readonly id: number; readonly name: string },
  moment: { readonly timeNs: number; readonly threadId: number },
  value: { readonly path: string; readonly number: number; readonly entry: SchemaEntry | null },
): void {
  const { entry, path } = value;
  const flags = entry === null || entry.counterFlags === 0n ? counter.flags : entry.counterFlags;
  const name = path === "" ? counter.name : counter.name === "" ? path : `${counter.name}.${path}`;
  const field = payloadField(name, entry?.unit || counter.unit);
  const event: SampleEvent = {
    kind: "sample",
    domain: domain.name,
    name: field.name,
    unit: field.unit,
    threadId: (entry?.scope || counter.scope) === OF_THREAD ? moment.threadId : null,
    holds: ((flags >> 8n) & 15n) === HOLDS,
    timeNs: moment.timeNs,
    value: value.number,
  };
  last.set(JSON.stringify([domain.id, name, event.threadId]), event);
  sink(event);
}

/** @returns the sample's own time stamp, if it has one */
function readSample(
  state: ExtensionState,
  counter: CounterDefinition,
  domain: { readonly id: number; readonly name: string },
  data: DataView,
  moment: { readonly timeNs: number; readonly threadId: number } | null,
): PayloadStamp | null {
  let stamped: PayloadStamp | null = null;
  readPayloads([{ schema: counter.schema, data, address: 0n }], domainOf(state, domain.id), {
    number(entry, path, number, index) {
      const place = index === null ? path : `${path}[${index}]`;
      const scaled = path === "" ? number * counter.scale : number;
      if (moment !== null)
        emit(state, counter, domain, moment, { path: place, number: scaled, entry });
    },
    stamp(stamp) {
      stamped ??= stamp;
    },
  });
  return stamped;
}

function sample(
  state: ExtensionState,
  record: RecordReader,
  timeNs: number,
  { names, threadId }: RecordPlace,
): void {
  const { isReadable, last, notes, sink } = state;
  const id = record.u64();
  const domain = record.u32();
  const kind = record.u32();
  const data = bytesOf(record, record.u32());
  const counter = domainOf(state, domain).counters.get(id);
  if (counter === undefined || !isReadable) {
    notes.count("samples of counters that are not registered");
    return;
  }
  const place = { id: domain, name: names.domain(domain) };
  const moment = { timeNs, threadId };
  const single = (number: number) =>
    emit(state, counter, place, moment, { path: "", number, entry: null });
  if (kind === sampleKind.bytes) readSample(state, counter, place, data, moment);
  else if (data.byteLength < (kind === sampleKind.none ? 4 : 8)) return;
  else if (kind === sampleKind.integer) single(Number(data.getBigInt64(0, true)) * counter.scale);
  else if (kind === sampleKind.float) single(data.getFloat64(0, true) * counter.scale);
  else {
    const reason = data.getUint32(0, true);
    const thread = counter.scope === OF_THREAD ? threadId : null;
    const previous = last.get(JSON.stringify([domain, counter.name, thread]));
    if (reason === missing.zero) single(0);
    else if (reason === missing.unchanged && previous !== undefined) sink({ ...previous, timeNs });
  }
}

function batchSample(
  state: ExtensionState,
  record: RecordReader,
  { names, threadId }: RecordPlace,
): void {
  const { isReadable, notes, waiting } = state;
  const id = record.u64();
  const domain = record.u32();
  const hasTime = record.u32() !== 0;
  const ticks = record.u64();
  const data = bytesOf(record, record.u32());
  const counter = domainOf(state, domain).counters.get(id);
  if (counter === undefined || !isReadable) {
    notes.count("samples of counters that are not registered");
    return;
  }
  const place = { id: domain, name: names.domain(domain) };
  const stamped = readSample(state, counter, place, data, null);
  const timeDomain = stamped?.timeDomain || counter.timeDomain;
  if (!hasTime && stamped === null) {
    notes.count("samples without a time stamp");
    return;
  }
  waiting.push({
    domain,
    timeDomain,
    ticks: hasTime ? BigInt.asIntN(64, ticks) : (stamped?.ticks ?? 0n),
    endTicks: null,
    deliver: (timeNs) => void readSample(state, counter, place, data, { timeNs, threadId }),
  });
}

/** The path of a scope that the program registered; empty for others. */
function scopePath(domain: DomainDefinitions, id: bigint, depth = 0): string {
  const scope = domain.scopes.get(id);
  if (scope === undefined || depth > 16) return "";
  const parent = scopePath(domain, scope.parent, depth + 1);
  return parent === "" ? scope.path : `${parent}/${scope.path}`;
}

/** The row of a timeline for what happened in a scope: that of the thread, unless the scope is the program's own. */
function rowOf(
  { rows, sink }: ExtensionState,
  domain: DomainDefinitions & Writable,
  scope: bigint,
  threadId: number,
): number {
  const path = scope < FIRST_OWN_SCOPE ? "" : scopePath(domain, scope);
  if (path === "") return threadId;
  const existing = rows.get(path);
  if (existing !== undefined) return existing;
  const row = FIRST_SCOPE_ROW + rows.size;
  rows.set(path, row);
  sink({ kind: "thread_name", threadId: row, name: path });
  return row;
}

function deferred(
  state: ExtensionState,
  record: RecordReader,
  pending: readonly PendingPayload[],
  { names, threadId }: RecordPlace,
): void {
  const { isReadable, notes, sink, waiting } = state;
  const domain = record.u32();
  const ofBatch = record.u64();
  const count = record.u32();
  const payloads = pending.slice(Math.max(0, pending.length - count));
  const definitions = domainOf(state, domain);
  const stamps = new Map<PayloadStamp["is"], PayloadStamp>();
  let scope = ofBatch;
  let thread: number | null = null;
  if (isReadable)
    readPayloads(payloads, definitions, {
      number: () => {},
      stamp: (stamp) => void stamps.set(stamp.is, stamp),
      attribute(is, value) {
        if (is === "scope") scope = value;
        if (is === "thread") thread = Number(value);
      },
    });
  const { numbers, name, category, color } = contents(state, payloads, "");
  const schema = payloads
    .map((payload) => definitions.schema(payload.schema))
    .find((each) => each !== undefined);
  const begin = stamps.get("begin") ?? stamps.get("mark") ?? stamps.get("sample");
  const end = stamps.get("end") ?? null;
  if (begin === undefined) {
    notes.count("events handed over later without a time stamp");
    return;
  }
  const eventKind = ((schema?.flags ?? 0) >> 3) & 7;
  const common = {
    threadId: thread ?? rowOf(state, definitions, scope, threadId),
    domain: names.domain(domain),
    name: name ?? schema?.name ?? "",
    category,
    color,
    payload: null,
    ...(numbers.length > 0 && { values: numbers }),
  };
  waiting.push({
    domain,
    timeDomain: begin.timeDomain,
    ticks: begin.ticks,
    endTicks: end?.ticks ?? null,
    deliver: (startNs, endNs) =>
      sink(
        end === null
          ? { kind: "mark", stream: -1, timeNs: startNs, ...common }
          : {
              kind: "range",
              rangeKind: eventKind === schemaEvents.startEnd ? "start_end" : "push_pop",
              timeNs: startNs,
              endNs,
              ...common,
            },
      ),
  });
}

/** Delivers events that had to wait for the clocks. */
function deliverWaiting({ clocks, notes, waiting }: ExtensionState): void {
  const lost = "events and samples handed over later whose clock is not known";
  for (const { domain, timeDomain, ticks, endTicks, deliver } of waiting.splice(0)) {
    const timeNs = clocks.timeOf(domain, timeDomain, ticks);
    const endNs = endTicks === null ? timeNs : clocks.timeOf(domain, timeDomain, endTicks);
    if (timeNs === null || endNs === null) notes.count(lost);
    else deliver(timeNs, Math.max(timeNs, endNs));
  }
}

function payload(
  { notes }: ExtensionState,
  record: RecordReader,
  names: NameTable,
): PendingPayload {
  const domain = record.u32();
  const schema = record.u64();
  const text = record.u32();
  const address = record.u64();
  const data = bytesOf(record, record.u32());
  if ((record.flags() & recordFlag.truncated) !== 0) notes.count("payloads cut at 16 KiB");
  return { domain, schema, address, data, text: text === 0 ? null : names.text(text) };
}

function pairClocks({ clocks }: ExtensionState, record: RecordReader): void {
  const isFactor = record.type() === recordType.conversion;
  const domain = record.u32();
  const [first, second] = [record.u64(), record.u64()];
  const factor = isFactor ? record.u64() : null;
  const times = [BigInt.asIntN(64, record.u64()), BigInt.asIntN(64, record.u64())] as const;
  clocks.pair({
    domain,
    ids: [first, second],
    times,
    ...(factor !== null && { factor: new Float64Array(BigUint64Array.of(factor).buffer)[0] }),
  });
}

interface Writable {
  readonly id: number;
  readonly schemas: Map<bigint, PayloadSchema>;
  readonly enumerations: Map<bigint, PayloadEnumeration>;
}

function emptyDomain(id: number): DomainDefinitions & Writable {
  const schemas = new Map<bigint, PayloadSchema>();
  const enumerations = new Map<bigint, PayloadEnumeration>();
  return {
    id,
    schemas,
    enumerations,
    counters: new Map(),
    scopes: new Map(),
    schema: (schema) => schemas.get(schema),
    enumeration: (enumeration) => enumerations.get(enumeration),
  };
}
