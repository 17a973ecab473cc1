/**
 * Structured payloads of NVTX's extension: structures of the program's memory, and the schemas that describe their
 * layout. The numbers in them belong to the range that carries them. (nvtx3/nvToolsExtPayload.h has the rules.)
 */

/** A number that a program attached to a range or mark. */
export interface PayloadNumber {
  readonly field: PayloadField;
  readonly value: number;
}

/** The meaning of a number. All values of one field share the object. */
export interface PayloadField {
  /** The name, after those of the enclosing structures, with dots; `payload` if the program gives none. */
  readonly name: string;
  /** In the singular, e.g. `byte`, `token`, `FLOP`; empty if unknown. */
  readonly unit: string;
  /** `amount`: sums are meaningful; `label`: a number that only identifies something, such as a rank. */
  readonly kind: "amount" | "value" | "label";
}

export interface SchemaEntry {
  readonly flags: number;
  /** A predefined type, or the id of a schema or enumeration. */
  readonly type: bigint;
  /** For an array its length, or the entry that contains it; for a text its length; for a union the selecting entry. */
  readonly detail: number;
  /** 0: directly after the preceding entry. */
  readonly offset: number;
  /** The size of a predefined type in that program; absent if it has the usual one. */
  readonly size?: number;
  readonly align?: number;
  readonly name: string;
  /** The unit that the program gives; empty if it gives none. */
  readonly unit: string;
  /** The factor for values. */
  readonly scale: number;
  /** The flags of `nvtxSemanticsCounter_t`. */
  readonly counterFlags: bigint;
  readonly scope: bigint;
  readonly timeDomain: bigint;
}

export interface PayloadSchema {
  readonly name: string;
  /** `NVTX_PAYLOAD_SCHEMA_TYPE_*`. */
  readonly type: number;
  readonly flags: number;
  /** 0: unknown. */
  readonly staticSize: number;
  /** 0: the default. */
  readonly packAlign: number;
  readonly entries: readonly SchemaEntry[];
}

export interface PayloadEnumeration {
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  readonly values: ReadonlyMap<bigint, string>;
}

/** The schemas and enumerations of one domain, by id. */
export interface SchemaTable {
  readonly schema: (id: bigint) => PayloadSchema | undefined;
  readonly enumeration: (id: bigint) => PayloadEnumeration | undefined;
}

/** One structure of an event, as it was in the program's memory. */
export interface PayloadBlob {
  readonly schema: bigint;
  readonly data: DataView;
  /** Its address in the program's memory; 0n if unknown. */
  readonly address: bigint;
}

/** A time stamp in a structure, for an event that the program reported later. */
export interface PayloadStamp {
  readonly is: "begin" | "end" | "mark" | "sample";
  readonly ticks: bigint;
  readonly timeDomain: bigint;
}

export interface PayloadVisitor {
  /** A number. @param index its index in an array; null outside of one */
  readonly number: (entry: SchemaEntry, path: string, value: number, index: number | null) => void;
  /** A value of an enumeration, by its name. */
  readonly named?: (path: string, name: string) => void;
  readonly stamp?: (stamp: PayloadStamp) => void;
  /** Values with a meaning for NVTX itself. */
  readonly attribute?: (is: "category" | "color" | "thread" | "scope", value: bigint) => void;
}

// Names and units. If a program gives no unit, it is often part of the name: "Message size [bytes]", "tokens".

/** Units whose sums and rates are meaningful, as reports write them. */
const AMOUNTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    byte: "byte",
    bytes: "byte",
    nbytes: "byte",
    b: "byte",
    token: "token",
    tokens: "token",
    ntokens: "token",
    flop: "FLOP",
    flops: "FLOP",
    element: "element",
    elements: "element",
    elem: "element",
    elems: "element",
    sample: "sample",
    samples: "sample",
    item: "item",
    items: "item",
    row: "row",
    rows: "row",
    image: "image",
    images: "image",
    message: "message",
    messages: "message",
    request: "request",
    requests: "request",
    iteration: "iteration",
    iterations: "iteration",
  }),
);

/** Words in names of identifying numbers, whose mean is meaningless. */
const LABELS =
  /(?:^|[^a-z])(?:id|ids|rank|ranks|root|peer|tag|comm|communicator|handle|pointer|ptr|address|addr|index|idx|hash|seed|device|stream|channel|version|type|kind|op|operation|flags)$/i;

const BRACKETED = /^(.*?)\s*[[(]\s*([^\])]+?)\s*[\])]\s*$/;

/**
 * A number without a name: the payload of `nvtxEventAttributes_t`, or a value without a schema. What it means only the
 * program knows, so that it has a sum as well.
 */
export const PLAIN_PAYLOAD: PayloadField = { name: "payload", unit: "", kind: "amount" };

/** The field for a name and unit. @param unit the program's unit; empty if it gives none */
export function payloadField(name: string, unit = ""): PayloadField {
  if (name === "" && unit === "") return PLAIN_PAYLOAD;
  const [, prefix, inside] = unit === "" ? (BRACKETED.exec(name) ?? []) : [];
  const said = unit === "" ? (inside ?? "") : unit;
  const short = inside === undefined || prefix === undefined || prefix === "" ? name : prefix;
  const amount = AMOUNTS.get(said.toLowerCase());
  if (amount !== undefined) return { name: short || "payload", unit: amount, kind: "amount" };
  if (said !== "") return { name: short || "payload", unit: said, kind: "value" };
  // Splits camelCase and snake_case.
  const words = name.replaceAll(/([a-z])([A-Z])/g, "$1 $2");
  const last =
    words
      .toLowerCase()
      .split(/[^a-z]+/)
      .filter((word) => word !== "")
      .at(-1) ?? "";
  const named = last === "b" ? undefined : AMOUNTS.get(last);
  if (named !== undefined) return { name: name || "payload", unit: named, kind: "amount" };
  return { name: name || "payload", unit: "", kind: LABELS.test(words) ? "label" : "value" };
}

/** Counts how often an enumeration has one of its values: a number that is 1 each time. */
export const namedField = (path: string, name: string): PayloadField => ({
  name: `${path || "payload"} = ${name}`,
  unit: "call",
  kind: "amount",
});
