/**
 * Structured payloads of NVTX's extension: structures of the program's memory, and the schemas that say what stands where
 * in them. The numbers in them belong to the range that carries them. (nvtx3/nvToolsExtPayload.h has the rules.)
 */

/** A number that a program gave with a range or mark. */
export interface PayloadNumber {
  readonly field: PayloadField;
  readonly value: number;
}

/** What a number is of. The same object for all values of it. */
export interface PayloadField {
  /** Names of nested structures and its own, with dots; `payload` where the program gives none. */
  readonly name: string;
  /** In the singular, e.g. `byte`, `token`, `FLOP`; empty where it is not known. */
  readonly unit: string;
  /** `amount`: sums mean something; `label`: a number that only names something, such as a rank. */
  readonly kind: "amount" | "value" | "label";
}

export interface SchemaEntry {
  readonly flags: number;
  /** A predefined type, or the id of a schema or enumeration. */
  readonly type: bigint;
  /** Of an array its length, or the entry that has it; of a text its length; of a union the entry that selects. */
  readonly detail: number;
  /** 0: behind the entry before it. */
  readonly offset: number;
  /** Of a predefined type in that program; absent where it is as everywhere. */
  readonly size?: number;
  readonly align?: number;
  readonly name: string;
  /** As the program says; empty where it does not. */
  readonly unit: string;
  /** What a value is multiplied with. */
  readonly scale: number;
  /** Of `nvtxSemanticsCounter_t`. */
  readonly counterFlags: bigint;
  readonly scope: bigint;
  readonly timeDomain: bigint;
}

export interface PayloadSchema {
  readonly name: string;
  /** `NVTX_PAYLOAD_SCHEMA_TYPE_*`. */
  readonly type: number;
  readonly flags: number;
  /** 0: not known. */
  readonly staticSize: number;
  /** 0: as usual. */
  readonly packAlign: number;
  readonly entries: readonly SchemaEntry[];
}

export interface PayloadEnumeration {
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  readonly values: ReadonlyMap<bigint, string>;
}

/** What is known by an id in one domain. */
export interface SchemaTable {
  readonly schema: (id: bigint) => PayloadSchema | undefined;
  readonly enumeration: (id: bigint) => PayloadEnumeration | undefined;
}

/** One structure of an event, as it was in the program's memory. */
export interface PayloadBlob {
  readonly schema: bigint;
  readonly data: DataView;
  /** Where it was in the program's memory; 0n where that is not known. */
  readonly address: bigint;
}

/** A time stamp in a structure, of an event that was handed over later. */
export interface PayloadStamp {
  readonly is: "begin" | "end" | "mark" | "sample";
  readonly ticks: bigint;
  readonly timeDomain: bigint;
}

export interface PayloadVisitor {
  /** A number. @param index its place in an array; null outside of one */
  readonly number: (entry: SchemaEntry, path: string, value: number, index: number | null) => void;
  /** A value of an enumeration, by its name. */
  readonly named?: (path: string, name: string) => void;
  readonly stamp?: (stamp: PayloadStamp) => void;
  /** Values that NVTX itself knows. */
  readonly attribute?: (is: "category" | "color" | "thread" | "scope", value: bigint) => void;
}

// Names and units. A program that gives no unit often has it in the name: "Message size [bytes]", "tokens".

/** The units of which sums and rates mean something, as reports write them. */
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

/** Words of numbers that name something: their mean says nothing. */
const LABELS =
  /(?:^|[^a-z])(?:id|ids|rank|ranks|root|peer|tag|comm|communicator|handle|pointer|ptr|address|addr|index|idx|hash|seed|device|stream|channel|version|type|kind|op|operation|flags)$/i;

const BRACKETED = /^(.*?)\s*[[(]\s*([^\])]+?)\s*[\])]\s*$/;

/** What a number of this name and unit is. @param unit as the program says; empty where it does not */
export function payloadField(name: string, unit = ""): PayloadField {
  const [, before, inside] = unit === "" ? (BRACKETED.exec(name) ?? []) : [];
  const said = unit === "" ? (inside ?? "") : unit;
  const short = inside === undefined || before === undefined || before === "" ? name : before;
  const amount = AMOUNTS.get(said.toLowerCase());
  if (amount !== undefined) return { name: short || "payload", unit: amount, kind: "amount" };
  if (said !== "") return { name: short || "payload", unit: said, kind: "value" };
  // camelCase and snake_case alike.
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

/** How often an enumeration has one of its values: a number that is 1 each time. */
export const namedField = (path: string, name: string): PayloadField => ({
  name: `${path || "payload"} = ${name}`,
  unit: "call",
  kind: "amount",
});
