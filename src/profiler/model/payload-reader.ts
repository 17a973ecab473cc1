/** Reads the numbers of structured payloads, according to their schemas. */
import type {
  PayloadBlob,
  PayloadEnumeration,
  PayloadSchema,
  PayloadVisitor,
  SchemaEntry,
  SchemaTable,
} from "./payload.ts";

export const entryFlag = {
  pointer: 1 << 1,
  offsetFromBase: 1 << 2,
  offsetFromHere: 1 << 3,
  arrayMask: 7 << 4,
  hide: 1 << 9,
  messageMask: 3 << 10,
  message: 1 << 10,
  timestamp: 2 << 10,
  eventMask: 7 << 12,
} as const;

const arrayOf = { fixed: 1, terminated: 2, lengthAt: 3, lengthInPayload: 4 } as const;
const schemaType = { union: 3, unionWithSelector: 4 } as const;
const POINTER_BYTES = 8;
/** The limit for one event, for structures without an end, and schemas that contain themselves. */
const MOST_NUMBERS = 4096;
const DEEPEST = 16;

type Read = (data: DataView, offset: number, size: number) => number | bigint;

interface Scalar {
  readonly size: number;
  /** Null: the bytes hold no number. */
  readonly read: Read | null;
}

const signed: Read = (data, offset, size) =>
  size === 1
    ? data.getInt8(offset)
    : size === 2
      ? data.getInt16(offset, true)
      : size === 4
        ? data.getInt32(offset, true)
        : data.getBigInt64(offset, true);
const unsigned: Read = (data, offset, size) =>
  size === 1
    ? data.getUint8(offset)
    : size === 2
      ? data.getUint16(offset, true)
      : size === 4
        ? data.getUint32(offset, true)
        : data.getBigUint64(offset, true);
const wide =
  (high: (data: DataView, offset: number) => bigint): Read =>
  (data, offset) =>
    (high(data, offset + 8) << 64n) | data.getBigUint64(offset, true);

function float16(data: DataView, offset: number): number {
  const bits = data.getUint16(offset, true);
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function bfloat16(data: DataView, offset: number): number {
  const float = new DataView(new ArrayBuffer(4));
  float.setUint32(0, data.getUint16(offset, true) * 2 ** 16);
  return float.getFloat32(0);
}

const float32: Read = (data, offset) => data.getFloat32(offset, true);
const float64: Read = (data, offset) => data.getFloat64(offset, true);

/** Predefined types, with their sizes on 64-bit Linux if those depend on the machine. */
const SCALARS: ReadonlyMap<number, Scalar> = new Map<number, Scalar>([
  [1, { size: 1, read: null }], // characters
  [2, { size: 1, read: unsigned }],
  [3, { size: 2, read: signed }],
  [4, { size: 2, read: unsigned }],
  [5, { size: 4, read: signed }],
  [6, { size: 4, read: unsigned }],
  [7, { size: 8, read: signed }],
  [8, { size: 8, read: unsigned }],
  [9, { size: 8, read: signed }],
  [10, { size: 8, read: unsigned }],
  [11, { size: 1, read: signed }],
  [12, { size: 1, read: unsigned }],
  [13, { size: 2, read: signed }],
  [14, { size: 2, read: unsigned }],
  [15, { size: 4, read: signed }],
  [16, { size: 4, read: unsigned }],
  [17, { size: 8, read: signed }],
  [18, { size: 8, read: unsigned }],
  [19, { size: 4, read: float32 }],
  [20, { size: 8, read: float64 }],
  [21, { size: 16, read: null }], // long double
  [22, { size: 8, read: unsigned }], // size_t
  [23, { size: 8, read: null }], // an address
  [24, { size: 4, read: null }],
  [25, { size: 1, read: null }],
  [26, { size: 2, read: null }],
  [27, { size: 4, read: null }],
  [32, { size: 1, read: null }], // a byte
  [33, { size: 16, read: wide((data, offset) => data.getBigInt64(offset, true)) }],
  [34, { size: 16, read: wide((data, offset) => data.getBigUint64(offset, true)) }],
  [42, { size: 2, read: float16 }],
  [43, { size: 4, read: float32 }],
  [44, { size: 8, read: float64 }],
  [45, { size: 16, read: null }],
  [50, { size: 2, read: bfloat16 }],
  [52, { size: 4, read: float32 }],
  [80, { size: 8, read: null }], // a registered string
]);

/** Types with a meaning for NVTX rather than numbers of the program. */
const ATTRIBUTES: ReadonlyMap<
  number,
  {
    readonly size: number;
    readonly is: Parameters<NonNullable<PayloadVisitor["attribute"]>>[0] | null;
  }
> = new Map([
  [68, { size: 4, is: "category" }],
  [69, { size: 4, is: "color" }],
  [70, { size: 8, is: "scope" }],
  [71, { size: 4, is: null }],
  [72, { size: 8, is: null }],
  [73, { size: 4, is: "thread" }],
  [74, { size: 8, is: "thread" }],
]);

/** Bytes per character of text types. */
const TEXTS: ReadonlyMap<number, number> = new Map([
  [75, 1],
  [76, 1],
  [77, 2],
  [78, 4],
]);

const EVENTS = ["sample", "begin", "end", "mark", "sample"] as const;

/**
 * Visits the values in the structures of one event. Unreadable parts are skipped up to the next readable one: an
 * unregistered schema, a truncated structure, an entry after one of unknown size.
 */
export function readPayloads(
  blobs: readonly PayloadBlob[],
  table: SchemaTable,
  visitor: PayloadVisitor,
): void {
  const reading: Reading = { blobs, table, visitor, layouts: new Map(), left: MOST_NUMBERS };
  for (const blob of blobs) readBlob(reading, blob);
}

interface Layout {
  readonly size: number;
  readonly align: number;
}

/** The reading of the structures of one event. */
interface Reading {
  readonly blobs: readonly PayloadBlob[];
  readonly table: SchemaTable;
  readonly visitor: PayloadVisitor;
  readonly layouts: Map<bigint, Layout | null>;
  /** How many more numbers are visited. */
  left: number;
}

function readBlob(reading: Reading, blob: PayloadBlob): void {
  if (blob.schema < 1024n) {
    const entry = { ...PLAIN, type: blob.schema };
    const layout = layoutOf(reading, entry);
    if (layout !== null) readOne(reading, entry, blob, 0, "", null, 0, () => null);
    return;
  }
  const schema = reading.table.schema(blob.schema);
  if (schema !== undefined && schema.type !== schemaType.unionWithSelector)
    readSchema(reading, schema, blob, 0, "", 0);
}

function layoutOf(
  reading: Reading,
  entry: Pick<SchemaEntry, "type" | "size" | "align">,
): Layout | null {
  const { layouts, table } = reading;
  const { type, size, align } = entry;
  const scalar = type < 1024n ? (SCALARS.get(Number(type)) ?? ATTRIBUTES.get(Number(type))) : null;
  if (scalar != null) {
    const bytes = size === undefined || size === 0 ? scalar.size : size;
    return { size: bytes, align: align === undefined || align === 0 ? bytes : align };
  }
  const enumeration = table.enumeration(type);
  if (enumeration !== undefined)
    return enumeration.size === 0 ? null : { size: enumeration.size, align: enumeration.size };
  if (layouts.has(type)) return layouts.get(type) ?? null;
  const schema = table.schema(type);
  if (schema === undefined) return null;
  layouts.set(type, null); // for a schema that contains itself
  const layout = layoutOfSchema(reading, schema);
  layouts.set(type, layout);
  return layout;
}

function layoutOfSchema(reading: Reading, schema: PayloadSchema): Layout | null {
  let end: number | null = 0;
  let align = 1;
  const isUnion = schema.type === schemaType.union || schema.type === schemaType.unionWithSelector;
  for (const entry of schema.entries) {
    const extent = extentOf(reading, entry, null);
    if (extent === null) end = null;
    else {
      const alignment = packed(schema, extent.align);
      align = Math.max(align, alignment);
      const start: number =
        entry.offset !== 0 || end === null || isUnion ? entry.offset : alignedTo(end, alignment);
      if (end !== null || entry.offset !== 0)
        end = Math.max(isUnion ? (end ?? 0) : 0, start + extent.size);
    }
  }
  if (schema.staticSize !== 0) return { size: schema.staticSize, align };
  return end === null ? null : { size: alignedTo(end, align), align };
}

/**
 * The size and alignment of an entry in its structure. @param lengthOf length of arrays whose length is stored
 * elsewhere; null: unknown
 */
function extentOf(
  reading: Reading,
  entry: SchemaEntry,
  lengthOf: ((entry: SchemaEntry) => number | null) | null,
): Layout | null {
  if (
    (entry.flags & (entryFlag.pointer | entryFlag.offsetFromBase | entryFlag.offsetFromHere)) !==
    0
  )
    return { size: POINTER_BYTES, align: POINTER_BYTES };
  const array = (entry.flags & entryFlag.arrayMask) >> 4;
  const character = entry.type < 1024n ? TEXTS.get(Number(entry.type)) : undefined;
  if (character !== undefined) {
    if (array === 0 && entry.detail === 0) return { size: POINTER_BYTES, align: POINTER_BYTES };
    if (array > arrayOf.fixed) return null;
    return { size: entry.detail * character, align: character };
  }
  const layout = layoutOf(reading, entry);
  if (layout === null) return null;
  if (array === 0) return layout;
  const length = array === arrayOf.fixed ? entry.detail : (lengthOf?.(entry) ?? null);
  return length === null ? null : { size: layout.size * length, align: layout.align };
}

function readSchema(
  reading: Reading,
  schema: PayloadSchema,
  blob: PayloadBlob,
  base: number,
  path: string,
  depth: number,
): void {
  if (depth > DEEPEST) return;
  const { data } = blob;
  /** Values of the entries so far that may be lengths or select a member of a union. */
  const numbers: (number | null)[] = [];
  let end: number | null = base;
  const place = (entry: SchemaEntry, extent: Layout): number | null =>
    entry.offset !== 0 || schema.type === schemaType.union
      ? base + entry.offset
      : end === null
        ? null
        : base + alignedTo(end - base, packed(schema, extent.align));
  for (const entry of schema.entries) {
    const array = (entry.flags & entryFlag.arrayMask) >> 4;
    const lengthOf = ({ detail }: SchemaEntry): number | null =>
      array === arrayOf.lengthAt
        ? (numbers[detail] ?? null)
        : array === arrayOf.lengthInPayload
          ? lengthIn(reading, detail)
          : null;
    const extent = extentOf(reading, entry, lengthOf);
    const layout = layoutOf(reading, entry);
    const start =
      layout === null && extent === null && entry.offset === 0
        ? null
        : place(entry, extent ?? layout ?? UNALIGNED);
    let number: number | null = null;
    const name = entry.name === "" ? path : path === "" ? entry.name : `${path}.${entry.name}`;
    if (start === null) {
      // Its position is unknown.
    } else if ((entry.flags & entryFlag.pointer) !== 0) {
      const found =
        start + POINTER_BYTES <= data.byteLength
          ? placeOf(reading, data.getBigUint64(start, true))
          : null;
      const length = array === arrayOf.fixed ? entry.detail : array === 0 ? 1 : lengthOf(entry);
      if (found !== null && layout !== null && length !== null)
        readArray(reading, entry, layout, { ...found, length }, name, depth);
    } else if (array === 0) {
      number = readOne(
        reading,
        entry,
        blob,
        start,
        name,
        null,
        depth,
        (index) => numbers[index] ?? null,
      );
    } else if (layout !== null) {
      const length =
        array === arrayOf.terminated
          ? lengthUntilZero(data, start, layout.size)
          : extent === null
            ? null
            : extent.size / layout.size;
      if (length !== null) {
        readArray(reading, entry, layout, { blob, offset: start, length }, name, depth);
        if (array === arrayOf.terminated) {
          numbers.push(null);
          end = start + (length + 1) * layout.size;
          continue;
        }
      }
    }
    numbers.push(number);
    end = start === null || extent === null ? null : start + extent.size;
  }
}

function readArray(
  reading: Reading,
  entry: SchemaEntry,
  layout: Layout,
  {
    blob,
    offset: start,
    length,
  }: { readonly blob: PayloadBlob; readonly offset: number; readonly length: number },
  path: string,
  depth: number,
): void {
  for (let index = 0; index < length && reading.left > 0; index++) {
    const place = start + index * layout.size;
    if (place + layout.size > blob.data.byteLength) return;
    readOne(reading, entry, blob, place, path, index, depth, () => null);
  }
}

/** @returns the number, if other entries may refer to it */
function readOne(
  reading: Reading,
  entry: SchemaEntry,
  blob: PayloadBlob,
  start: number,
  path: string,
  index: number | null,
  depth: number,
  numberAt: (entry: number) => number | null,
): number | null {
  const { table, visitor } = reading;
  const { data } = blob;
  const type = entry.type < 1024n ? Number(entry.type) : null;
  const layout = layoutOf(reading, entry);
  const enumeration = type === null ? table.enumeration(entry.type) : undefined;
  if (type === null && enumeration === undefined) {
    const schema = table.schema(entry.type);
    if (schema === undefined || schema.type === schemaType.unionWithSelector) return null;
    if (schema.type !== schemaType.union) readSchema(reading, schema, blob, start, path, depth + 1);
    else {
      const member = schema.entries[numberAt(entry.detail) ?? -1];
      if (member !== undefined)
        readSchema(reading, { ...schema, entries: [member] }, blob, start, path, depth + 1);
    }
    return null;
  }
  if (layout === null || start < 0 || start + layout.size > data.byteLength) return null;
  const attribute = type === null ? undefined : ATTRIBUTES.get(type);
  if (attribute !== undefined) {
    const value = unsigned(data, start, attribute.size);
    if (attribute.is !== null) visitor.attribute?.(attribute.is, BigInt(value));
    return null;
  }
  // A flags enumeration with a long name has no number; 3-byte enumerations do not exist.
  const read = type === null ? unsigned : (SCALARS.get(type)?.read ?? null);
  if (read === null || ![1, 2, 4, 8, 16].includes(layout.size)) return null;
  const raw = read(data, start, layout.size);
  if ((entry.flags & entryFlag.messageMask) === entryFlag.timestamp) {
    const is = EVENTS[(entry.flags & entryFlag.eventMask) >> 12] ?? "sample";
    visitor.stamp?.({
      is,
      ticks: BigInt(Math.trunc(Number(raw)) === raw ? raw : BigInt(raw)),
      timeDomain: entry.timeDomain,
    });
    return null;
  }
  const number = Number(raw);
  if ((entry.flags & entryFlag.hide) === 0 && reading.left > 0) {
    reading.left--;
    if (enumeration !== undefined) visitor.named?.(path, nameIn(enumeration, BigInt(raw)));
    else if (Number.isFinite(number)) visitor.number(entry, path, number * entry.scale, index);
  }
  return number;
}

/** The position of an address in the structures of this event. */
function placeOf(
  { blobs }: Reading,
  address: bigint,
): { readonly blob: PayloadBlob; readonly offset: number } | null {
  for (const blob of blobs)
    if (
      blob.address !== 0n &&
      address >= blob.address &&
      address < blob.address + BigInt(blob.data.byteLength)
    )
      return { blob, offset: Number(address - blob.address) };
  return null;
}

/** The first number in another payload of the event. */
function lengthIn({ blobs, table }: Reading, payload: number): number | null {
  const blob = blobs[payload];
  if (blob === undefined) return null;
  const type = blob.schema < 1024n ? SCALARS.get(Number(blob.schema)) : undefined;
  if (type?.read != null && blob.data.byteLength >= type.size)
    return Number(type.read(blob.data, 0, type.size));
  let first: number | null = null;
  const only = {
    number: (_entry: SchemaEntry, _path: string, value: number) => {
      first ??= value;
    },
  };
  const schema = table.schema(blob.schema);
  if (schema !== undefined) readPayloads([blob], table, only);
  return first;
}

/** The bytes are read as an unsigned number, but values of the enumeration may be signed. */
const nameIn = ({ values, size }: PayloadEnumeration, raw: bigint): string =>
  values.get(raw) ??
  [...values].find(([value]) => BigInt.asUintN(8 * size, value) === raw)?.[1] ??
  "(no value of the enumeration)";

const UNALIGNED: Layout = { size: 0, align: 1 };

/** The entry for a payload that is a single number. */
const PLAIN: SchemaEntry = {
  flags: 0,
  type: 0n,
  detail: 0,
  offset: 0,
  name: "",
  unit: "",
  scale: 1,
  counterFlags: 0n,
  scope: 0n,
  timeDomain: 0n,
};

const alignedTo = (offset: number, align: number): number => Math.ceil(offset / align) * align;

const packed = ({ packAlign }: PayloadSchema, align: number): number =>
  packAlign === 0 ? align : Math.min(packAlign, align);

function lengthUntilZero(data: DataView, start: number, size: number): number {
  let length = 0;
  for (let offset = start; offset + size <= data.byteLength; offset += size, length++) {
    let isZero = true;
    for (let byte = 0; byte < size; byte++) isZero &&= data.getUint8(offset + byte) === 0;
    if (isZero) return length;
  }
  return length;
}
