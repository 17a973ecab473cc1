/**
 * Reports of Nsight Compute with chosen kernels and NVTX states, made from a real report by NVIDIA's
 * published report format (Customization Guide, "Report File Format"), so that the real matcher of
 * `--nvtx-include` and the real printer can be asked about them without a GPU.
 */
import { readFileSync } from "node:fs";

export interface RangeSketch {
  /** Empty for the default domain. */
  readonly domain?: string;
  readonly name: string;
}

export interface ResultSketch {
  /** Kernel name; of a result of another kind nothing is shown. */
  readonly kernel: string;
  readonly kind?: "kernel" | "range" | "graph";
  /** Ranges of the launching thread, outermost first. */
  readonly pushPop?: readonly RangeSketch[];
  readonly startEnd?: readonly RangeSketch[];
}

/** A protobuf field as it stands in a message. */
interface Field {
  readonly number: number;
  readonly wire: number;
  /** Tag and value. */
  readonly bytes: Buffer;
  /** The value alone of a length-delimited field. */
  readonly value: Buffer;
}

/** Field numbers of `ProfilerReport.proto`. */
const PROFILE_RESULT = {
  thread: 1,
  function: 6,
  demangled: 7,
  metrics: 13,
  api: 16,
  sections: 17,
  nvtx: 21,
} as const;
const HEADER = { sources: 1, results: 2, payload: 5, ranges: 7, graphs: 9 } as const;
const KEPT_OF_KERNEL = [1, 2, 3, 4, 5, 8, 9, 10, 11, 13, 14, 15, 16, 17, 20, 22, 23, 24, 25];

/** The bytes of a report with these results, each with the metrics of the template's first one. */
export function buildReport(templateFile: string, results: readonly ResultSketch[]): Buffer {
  const template = readFileSync(templateFile);
  const start = 8 + template.readUInt32LE(4);
  const parts: Buffer[] = [template.subarray(0, start)];
  let replaced = false;
  for (let at = start; at < template.length; ) {
    const headerSize = template.readUInt32LE(at);
    const payloadAt = at + 4 + headerSize;
    const header = fieldsOf(template.subarray(at + 4, payloadAt));
    const end = payloadAt + numberOf(header, HEADER.payload);
    if (numberOf(header, HEADER.results) === 0) parts.push(template.subarray(at, end));
    else if (!replaced) {
      const size = template.readUInt32LE(payloadAt);
      const model = fieldsOf(template.subarray(payloadAt + 4, payloadAt + 4 + size));
      // ncu prints no ranges of a block that has kernels, too.
      for (const kind of ["kernel", "range", "graph"]) {
        const alike = results.filter((result) => (result.kind ?? "kernel") === kind);
        if (alike.length > 0) parts.push(resultBlock(header, model, alike));
      }
      replaced = true;
    }
    at = end;
  }
  return Buffer.concat(parts);
}

/** A block with all results in place of the template's one. */
function resultBlock(
  header: readonly Field[],
  model: readonly Field[],
  results: readonly ResultSketch[],
): Buffer {
  const kernels = results.filter(({ kind = "kernel" }) => kind === "kernel");
  const ranges = results.filter(({ kind }) => kind === "range");
  const graphs = results.filter(({ kind }) => kind === "graph");
  const payload = Buffer.concat(
    [
      ...kernels.map((kernel) => kernelResult(kernel, model)),
      ...ranges.map((range) => rangeResult(range, model)),
      ...graphs.map((graph) => graphResult(graph, model)),
    ].map((message) => Buffer.concat([uint32(message.length), message])),
  );
  const replaced: readonly number[] = Object.values(HEADER);
  const blockHeader = Buffer.concat([
    varintField(HEADER.sources, 0),
    varintField(HEADER.results, kernels.length),
    ...header.filter(({ number }) => !replaced.includes(number)).map(({ bytes }) => bytes),
    varintField(HEADER.payload, payload.length),
    varintField(HEADER.ranges, ranges.length),
    varintField(HEADER.graphs, graphs.length),
  ]);
  return Buffer.concat([uint32(blockHeader.length), blockHeader, payload]);
}

function kernelResult(result: ResultSketch, model: readonly Field[]): Buffer {
  return Buffer.concat([
    ...model.filter(({ number }) => KEPT_OF_KERNEL.includes(number)).map(({ bytes }) => bytes),
    textField(PROFILE_RESULT.function, result.kernel),
    textField(PROFILE_RESULT.demangled, result.kernel),
    field(PROFILE_RESULT.nvtx, nvtxState(result, numberOf(model, PROFILE_RESULT.thread))),
  ]);
}

/** `RangeResult`: its own field numbers; the metrics are those of the kernel. */
function rangeResult(result: ResultSketch, model: readonly Field[]): Buffer {
  const thread = numberOf(model, PROFILE_RESULT.thread);
  return Buffer.concat([
    varintField(1, thread),
    varintField(2, 0),
    varintField(6, numberOf(model, PROFILE_RESULT.api)),
    varintField(11, 1),
    ...model
      .filter(({ number }) => number === PROFILE_RESULT.metrics)
      .map(({ value }) => field(RANGE_RESULT.metrics, value)),
    ...model
      .filter(({ number }) => number === PROFILE_RESULT.sections)
      .map(({ value }) => field(RANGE_RESULT.sections, value)),
    field(RANGE_RESULT.nvtx, nvtxState(result, thread)),
  ]);
}

/** `GraphResult`: the same fields, and a stream. */
const graphResult = (result: ResultSketch, model: readonly Field[]): Buffer =>
  Buffer.concat([rangeResult(result, model), varintField(12, 7)]);

const RANGE_RESULT = { metrics: 4, sections: 7, nvtx: 10 } as const;

function nvtxState({ pushPop = [], startEnd = [] }: ResultSketch, thread: number): Buffer {
  const domains = [...new Set(["", ...[...pushPop, ...startEnd].map(domainOf)])];
  const idOf = (range: RangeSketch) => domains.indexOf(domainOf(range)) + 1;
  const ranges = (list: readonly RangeSketch[], id: number) =>
    list.filter((range) => idOf(range) === id);
  const stacks = domains.map((_, index) =>
    field(
      2,
      Buffer.concat([
        varintField(1, index + 1),
        ...ranges(pushPop, index + 1).map(({ name }) => field(3, textField(1, name))),
      ]),
    ),
  );
  let rangeId = 0;
  return Buffer.concat([
    ...domains.map((name, index) =>
      field(
        1,
        Buffer.concat([
          varintField(1, index + 1),
          textField(2, name === "" ? "<default domain>" : name),
        ]),
      ),
    ),
    field(2, Buffer.concat([varintField(1, thread), ...stacks])),
    ...domains.map((_, index) =>
      field(
        3,
        Buffer.concat([
          varintField(1, index + 1),
          ...ranges(startEnd, index + 1).map(({ name }) =>
            field(3, Buffer.concat([varintField(1, ++rangeId), textField(2, name)])),
          ),
        ]),
      ),
    ),
    varintField(4, 1),
  ]);
}

const domainOf = ({ domain = "" }: RangeSketch): string => domain;

function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++];
      if (byte === undefined) throw new Error("a varint runs over the end of its message");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(value);
    }
  };
  while (at < message.length) {
    const start = at;
    const tag = varint();
    const wire = tag & 7;
    let value = message.subarray(at, at);
    if (wire === 0) varint();
    else if (wire === 1) at += 8;
    else if (wire === 5) at += 4;
    else if (wire === 2) {
      const size = varint();
      value = message.subarray(at, at + size);
      at += size;
    } else throw new Error(`wire type ${wire} is not of this format`);
    fields.push({ number: Math.floor(tag / 8), wire, bytes: message.subarray(start, at), value });
  }
  return fields;
}

/** Value of a varint field; 0 where it is absent. */
function numberOf(fields: readonly Field[], number: number): number {
  const found = fields.find((candidate) => candidate.number === number && candidate.wire === 0);
  if (found === undefined) return 0;
  let value = 0;
  let scale = 1;
  let inTag = true;
  for (const byte of found.bytes) {
    if (!inTag) {
      value += (byte & 0x7f) * scale;
      scale *= 128;
    }
    if (inTag && byte < 0x80) inTag = false;
  }
  return value;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  while (left >= 128) {
    bytes.push((left % 128) | 0x80);
    left = Math.floor(left / 128);
  }
  return Buffer.from([...bytes, left]);
}

const varintField = (number: number, value: number): Buffer =>
  Buffer.concat([varint(number * 8), varint(value)]);

const field = (number: number, value: Buffer): Buffer =>
  Buffer.concat([varint(number * 8 + 2), varint(value.length), value]);

const textField = (number: number, text: string): Buffer => field(number, Buffer.from(text));

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
