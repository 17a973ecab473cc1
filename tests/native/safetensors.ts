import { readFileSync, writeFileSync } from "node:fs";

/** A float32 tensor as the tests handle it; values are those of float32. */
export interface Tensor {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/**
 * A second, independent reader of the format: what the native program writes must mean the same to
 * somebody else.
 */
export function readTensors(path: string): Map<string, Tensor> {
  const bytes = readFileSync(path);
  const length = Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.toString("utf8", 8, 8 + length)) as Record<
    string,
    { dtype: string; shape: number[]; data_offsets: [number, number] }
  >;
  const tensors = new Map<string, Tensor>();
  for (const [name, entry] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    if (entry.dtype !== "F32") throw new Error(`${name} is ${entry.dtype}`);
    const [begin, end] = entry.data_offsets;
    const data = bytes.buffer.slice(
      bytes.byteOffset + 8 + length + begin,
      bytes.byteOffset + 8 + length + end,
    );
    tensors.set(name, { shape: entry.shape, values: new Float32Array(data) });
  }
  return tensors;
}

export function tensorNamed(tensors: ReadonlyMap<string, Tensor>, name: string): Tensor {
  const found = tensors.get(name);
  if (found === undefined) throw new Error(`no tensor ${name}`);
  return found;
}

export function writeTensors(path: string, tensors: ReadonlyMap<string, Tensor>): void {
  const header: Record<string, unknown> = {};
  const parts: Buffer[] = [];
  let offset = 0;
  for (const [name, { shape, values }] of tensors) {
    const part = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
    header[name] = { dtype: "F32", shape, data_offsets: [offset, offset + part.length] };
    offset += part.length;
    parts.push(part);
  }
  writeFileSync(path, assemble(JSON.stringify(header), Buffer.concat(parts)));
}

/** A file from a header text and data, both taken as they are. */
export function assemble(header: string | Buffer, data: Buffer): Buffer {
  const text = Buffer.from(header);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, data]);
}
