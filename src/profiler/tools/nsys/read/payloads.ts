/**
 * Structured payloads in an export (since nsys 2024): schemas are in separate tables; the structures of an event follow
 * one another in `binaryData`, each after a header of 32 bytes: domain, schema, bytes, bytes with the header.
 */
import { isBytes } from "../../../../foundation/system/builtin-types.ts";
import { getOrCreate } from "../../../../foundation/system/get-or-create.ts";
import {
  namedField,
  type PayloadBlob,
  type PayloadEnumeration,
  type PayloadField,
  type PayloadNumber,
  type PayloadSchema,
  payloadField,
  type SchemaEntry,
  type SchemaTable,
} from "../../../model/payload.ts";
import { readPayloads } from "../../../model/payload-reader.ts";
import type { ExportDatabase } from "./database.ts";
import { integer, NVTX_TABLE, wideInteger } from "./export-schema.ts";
import type { SqlValue } from "./queries.ts";

const SCHEMAS = "NVTX_PAYLOAD_SCHEMAS";
const ENTRIES = "NVTX_PAYLOAD_SCHEMA_ENTRIES";
const ENUMERATIONS = "NVTX_PAYLOAD_ENUMS";
const ENUM_ENTRIES = "NVTX_PAYLOAD_ENUM_ENTRIES";
const HEADER_BYTES = 32;

/** The numbers in an event's `binaryData`; undefined without any. */
export type PayloadNumbers = (binary: SqlValue) => readonly PayloadNumber[] | undefined;

/** Null if the export has no payloads, so that the column need not be read. */
export function createPayloadNumbers(database: ExportDatabase): PayloadNumbers | null {
  if (!database.tables.has(SCHEMAS) || !database.has(NVTX_TABLE, "binaryData")) return null;
  const tableOf = readTables(database);
  const fields = new Map<SchemaEntry, Map<string, PayloadField>>();
  const names = new Map<string, PayloadField>();
  return (binary) => {
    const numbers: PayloadNumber[] = [];
    for (const [domain, blobs] of blobsOf(bytesOf(binary)))
      readPayloads(blobs, tableOf(domain), {
        number(entry, path, value) {
          const ofEntry = getOrCreate(fields, entry, () => new Map<string, PayloadField>());
          const field = getOrCreate(ofEntry, path, () => payloadField(path, entry.unit));
          numbers.push({ field, value });
        },
        named(path, name) {
          const field = getOrCreate(names, `${path}\0${name}`, () => namedField(path, name));
          numbers.push({ field, value: 1 });
        },
      });
    return numbers.length === 0 ? undefined : numbers;
  };
}

/** The column is declared as text, so other programs that copy exports write hexadecimal digits. */
function bytesOf(binary: SqlValue): Uint8Array {
  if (isBytes(binary)) return binary;
  const isHex = typeof binary === "string" && /^(?:[0-9a-f]{2})+$/i.test(binary);
  return isHex ? Uint8Array.from(Buffer.from(binary, "hex")) : new Uint8Array();
}

function blobsOf(bytes: Uint8Array): ReadonlyMap<number, PayloadBlob[]> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const domains = new Map<number, PayloadBlob[]>();
  for (let offset = 0; offset + HEADER_BYTES <= view.byteLength; ) {
    const domain = view.getUint32(offset, true);
    const schema = view.getBigUint64(offset + 8, true);
    const size = Number(view.getBigUint64(offset + 16, true));
    const start = offset + HEADER_BYTES;
    if (size > view.byteLength - start) break;
    const data = new DataView(bytes.buffer, bytes.byteOffset + start, size);
    getOrCreate(domains, domain, (): PayloadBlob[] => []).push({ schema, data, address: 0n });
    offset = start + size;
  }
  return domains;
}

interface Tables extends SchemaTable {
  readonly schemas: Map<bigint, PayloadSchema & { readonly entries: SchemaEntry[] }>;
  readonly enumerations: Map<bigint, PayloadEnumeration & { readonly values: Map<bigint, string> }>;
}

function readTables({ tables, rows }: ExportDatabase): (domain: number) => SchemaTable {
  const domains = new Map<number, Tables>();
  const tablesOf = (domain: SqlValue) => getOrCreate(domains, integer(domain) ?? 0, emptyTables);
  const text = (value: SqlValue) => (typeof value === "string" ? value : "");
  const common = { domain: "domainId", schema: "schemaId", name: "name" };
  for (const row of rows(SCHEMAS, {
    ...common,
    type: "type",
    flags: "flags",
    size: "payloadSize",
    align: "alignTo",
  }))
    tablesOf(row.domain).schemas.set(wideInteger(row.schema) ?? 0n, {
      name: text(row.name),
      type: integer(row.type) ?? 0,
      flags: integer(row.flags) ?? 0,
      staticSize: integer(row.size) ?? 0,
      packAlign: integer(row.align) ?? 0,
      entries: [],
    });
  const entries = [
    ...rows(ENTRIES, {
      ...common,
      idx: "idx",
      flags: "flags",
      type: "type",
      detail: "arrayOrUnionDetail",
      offset: "offset",
    }),
  ].sort((a, b) => (integer(a.idx) ?? 0) - (integer(b.idx) ?? 0));
  for (const row of entries)
    tablesOf(row.domain)
      .schemas.get(wideInteger(row.schema) ?? 0n)
      ?.entries.push({
        flags: integer(row.flags) ?? 0,
        type: wideInteger(row.type) ?? 0n,
        detail: integer(row.detail) ?? 0,
        offset: integer(row.offset) ?? 0,
        name: text(row.name),
        unit: "",
        scale: 1,
        counterFlags: 0n,
        scope: 0n,
        timeDomain: 0n,
      });
  if (tables.has(ENUMERATIONS))
    for (const row of rows(ENUMERATIONS, { ...common, size: "size" }))
      tablesOf(row.domain).enumerations.set(wideInteger(row.schema) ?? 0n, {
        name: text(row.name),
        size: integer(row.size) ?? 0,
        values: new Map(),
      });
  if (tables.has(ENUM_ENTRIES))
    for (const row of rows(ENUM_ENTRIES, { ...common, value: "value" }))
      tablesOf(row.domain)
        .enumerations.get(wideInteger(row.schema) ?? 0n)
        ?.values.set(wideInteger(row.value) ?? 0n, text(row.name));
  return tablesOf;
}

function emptyTables(): Tables {
  const schemas: Tables["schemas"] = new Map();
  const enumerations: Tables["enumerations"] = new Map();
  return {
    schemas,
    enumerations,
    schema: (id) => schemas.get(id),
    enumeration: (id) => enumerations.get(id),
  };
}
