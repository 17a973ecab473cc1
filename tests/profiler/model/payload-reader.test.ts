import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type PayloadBlob,
  type PayloadSchema,
  payloadField,
  type SchemaEntry,
  type SchemaTable,
} from "../../../src/profiler/model/payload.ts";
import { entryFlag, readPayloads } from "../../../src/profiler/model/payload-reader.ts";

const entry = (more: Partial<SchemaEntry> & Pick<SchemaEntry, "type">): SchemaEntry => ({
  flags: 0,
  detail: 0,
  offset: 0,
  name: "x",
  unit: "",
  scale: 1,
  counterFlags: 0n,
  scope: 0n,
  timeDomain: 0n,
  ...more,
});

const schema = (
  entries: readonly SchemaEntry[],
  more: Partial<PayloadSchema> = {},
): PayloadSchema => ({
  name: "",
  type: 1,
  flags: 0,
  staticSize: 0,
  packAlign: 0,
  entries,
  ...more,
});

const tableOf = (schemas: Readonly<Record<string, PayloadSchema>>): SchemaTable => ({
  schema: (id) => schemas[String(id)],
  enumeration: () => undefined,
});

const blob = (id: bigint, bytes: readonly number[], address = 0n): PayloadBlob => ({
  schema: id,
  address,
  data: new DataView(Uint8Array.from(bytes).buffer),
});

function numbersOf(blobs: readonly PayloadBlob[], table: SchemaTable): string[] {
  const found: string[] = [];
  readPayloads(blobs, table, {
    number: (_, path, value, index) =>
      void found.push(`${path}${index === null ? "" : `[${index}]`}=${value}`),
  });
  return found;
}

const ID = 1n << 24n;

describe("values of an enumeration", () => {
  test.each([
    [[2, 0, 0, 0], "max"],
    [[255, 255, 255, 255], "none"],
    [[7, 0, 0, 0], "(no value of the enumeration)"],
  ])("of the bytes %j have the name %s, and are no numbers", (bytes, name) => {
    const values = new Map([
      [2n, "max"],
      [-1n, "none"],
    ]);
    const table: SchemaTable = {
      schema: (id) => (id === ID ? schema([entry({ type: ID + 1n, name: "op" })]) : undefined),
      enumeration: (id) => (id === ID + 1n ? { name: "operation", size: 4, values } : undefined),
    };
    const found: string[] = [];
    readPayloads([blob(ID, bytes)], table, {
      number: () => void found.push("a number"),
      named: (path, value) => void found.push(`${path} = ${value}`),
    });
    expect(found).toEqual([`op = ${name}`]);
  });
});

describe("readPayloads", () => {
  /** Types, and how C stores them on machines of 64 bits. */
  const types = [
    {
      type: 3n,
      size: 2,
      write: (view: DataView, at: number, n: number) => view.setInt16(at, n, true),
    },
    { type: 11n, size: 1, write: (view: DataView, at: number, n: number) => view.setInt8(at, n) },
    {
      type: 15n,
      size: 4,
      write: (view: DataView, at: number, n: number) => view.setInt32(at, n, true),
    },
    {
      type: 17n,
      size: 8,
      write: (view: DataView, at: number, n: number) => view.setBigInt64(at, BigInt(n), true),
    },
    {
      type: 19n,
      size: 4,
      write: (view: DataView, at: number, n: number) => view.setFloat32(at, n, true),
    },
    {
      type: 20n,
      size: 8,
      write: (view: DataView, at: number, n: number) => view.setFloat64(at, n, true),
    },
  ] as const;

  test("finds what a C compiler placed, whatever the order of types, with and without packing", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            type: fc.constantFrom(...types),
            value: fc.integer({ min: -128, max: 127 }),
            length: fc.integer({ min: 0, max: 3 }),
          }),
          { minLength: 1, maxLength: 8 },
        ),
        fc.constantFrom(0, 1, 2, 4),
        (members, packAlign) => {
          const bytes = new DataView(new ArrayBuffer(1024));
          let end = 0;
          const expected: string[] = [];
          const entries = members.map(({ type: { type, size, write }, value, length }, at) => {
            const align = packAlign === 0 ? size : Math.min(size, packAlign);
            end = Math.ceil(end / align) * align;
            for (let i = 0; i < Math.max(1, length); i++) {
              write(bytes, end, value);
              end += size;
              expected.push(`m${at}${length === 0 ? "" : `[${i}]`}=${value}`);
            }
            return entry({
              type,
              name: `m${at}`,
              ...(length > 0 && { flags: 1 << 4, detail: length }),
            });
          });
          const data = new Uint8Array(bytes.buffer, 0, end);
          const table = tableOf({ [String(ID)]: schema(entries, { packAlign }) });
          expect(numbersOf([blob(ID, [...data])], table)).toEqual(expected);
        },
      ),
    );
  });

  test("never throws, and never reads beyond a structure, whatever its schema says", () => {
    const ids = fc.constantFrom(
      ID,
      ID + 1n,
      ID + 2n,
      5n,
      18n,
      20n,
      33n,
      42n,
      50n,
      68n,
      75n,
      80n,
      100n,
    );
    const anyEntry = fc.record({
      type: ids,
      flags: fc.integer({ min: 0, max: 0x7fff }),
      detail: fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constant(2 ** 40)),
      offset: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 40 }), fc.constant(2 ** 40)),
    });
    const anySchema = fc.record({
      entries: fc.array(anyEntry.map(entry), { maxLength: 5 }),
      type: fc.integer({ min: 0, max: 5 }),
      staticSize: fc.constantFrom(0, 8, 24),
      packAlign: fc.constantFrom(0, 1, 4),
    });
    fc.assert(
      fc.property(
        fc.tuple(anySchema, anySchema),
        fc.array(
          fc.record({
            id: ids,
            bytes: fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 32 }),
          }),
          { maxLength: 3 },
        ),
        (schemas, blobs) => {
          const [first, second] = schemas.map(({ entries, ...more }) => schema(entries, more));
          const table = tableOf({
            ...(first && { [String(ID)]: first }),
            ...(second && { [String(ID + 1n)]: second }),
          });
          const found = numbersOf(
            blobs.map(({ id, bytes }) => blob(id, bytes, 64n)),
            table,
          );
          expect(found.length).toBeLessThanOrEqual(3 * 4096);
        },
      ),
    );
  });

  test("follows a schema that contains itself to an end", () => {
    const table = tableOf({
      [String(ID)]: schema([
        entry({ type: 15n, name: "n" }),
        entry({ type: ID, name: "again", offset: 4 }),
      ]),
    });
    expect(numbersOf([blob(ID, [1, 0, 0, 0, 2, 0, 0, 0])], table)).toEqual(["n=1", "again.n=2"]);
  });

  test("reads what a pointer leads to only in a structure of the same event", () => {
    const pointer = entry({
      type: 15n,
      name: "far",
      flags: entryFlag.pointer | (1 << 4),
      detail: 2,
    });
    const table = tableOf({ [String(ID)]: schema([pointer]) });
    const structure = (address: number) => blob(ID, [address, 0, 0, 0, 0, 0, 0, 0], 256n);
    const referenced = blob(1022n, [7, 0, 0, 0, 8, 0, 0, 0], 64n);
    expect(numbersOf([structure(64), referenced], table)).toEqual(["far[0]=7", "far[1]=8"]);
    expect(numbersOf([structure(200), referenced], table)).toEqual([]);
  });

  test("takes the length of an array from an entry before it, and from another payload", () => {
    const table = tableOf({
      [String(ID)]: schema([
        entry({ type: 12n, name: "n" }),
        entry({ type: 12n, name: "of", flags: 3 << 4, detail: 0 }),
        entry({ type: 12n, name: "after" }),
      ]),
      [String(ID + 1n)]: schema([entry({ type: 12n, name: "of", flags: 4 << 4, detail: 0 })]),
    });
    expect(numbersOf([blob(ID, [2, 5, 6, 9])], table)).toEqual([
      "n=2",
      "of[0]=5",
      "of[1]=6",
      "after=9",
    ]);
    expect(numbersOf([blob(12n, [2]), blob(ID + 1n, [5, 6, 7])], table)).toEqual([
      "=2",
      "of[0]=5",
      "of[1]=6",
    ]);
  });

  test("reads the member of a union that another entry selects", () => {
    const table = tableOf({
      [String(ID)]: schema([
        entry({ type: 12n, name: "which" }),
        entry({ type: ID + 1n, name: "u", detail: 0 }),
        entry({ type: 12n, name: "after" }),
      ]),
      [String(ID + 1n)]: schema(
        [entry({ type: 13n, name: "short" }), entry({ type: 11n, name: "byte" })],
        {
          type: 3,
        },
      ),
    });
    expect(numbersOf([blob(ID, [1, 0, 255, 0, 9])], table)).toEqual([
      "which=1",
      "u.byte=-1",
      "after=9",
    ]);
  });

  test.each([
    [42n, [0x00, 0x3c], 1],
    [42n, [0x00, 0xc0], -2],
    [42n, [0x01, 0x00], 2 ** -24],
    [50n, [0x80, 0x3f], 1],
    [50n, [0x40, 0xc0], -3],
    [33n, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, ...Array<number>(8).fill(0xff)], -1],
  ])("reads a number of type %s", (type, bytes, expected) => {
    expect(numbersOf([blob(type, bytes)], tableOf({}))).toEqual([`=${expected}`]);
  });
});

describe("payloadField", () => {
  test.each([
    ["Message size [bytes]", "", "Message size", "byte", "amount"],
    ["size (B)", "", "size", "byte", "amount"],
    ["nbytes", "", "nbytes", "byte", "amount"],
    ["numTokens", "", "numTokens", "token", "amount"],
    ["batch.prompt_tokens", "", "batch.prompt_tokens", "token", "amount"],
    ["model_flops", "", "model_flops", "FLOP", "amount"],
    ["work", "FLOP", "work", "FLOP", "amount"],
    ["temperature", "C", "temperature", "C", "value"],
    ["loss", "", "loss", "", "value"],
    ["Peer rank", "", "Peer rank", "", "label"],
    ["NCCL communicator ID", "", "NCCL communicator ID", "", "label"],
    ["deviceId", "", "deviceId", "", "label"],
    ["", "", "payload", "", "amount"],
  ])("%s %s", (name, unit, shown, shownUnit, kind) => {
    expect(payloadField(name, unit)).toEqual({ name: shown, unit: shownUnit, kind });
  });
});
