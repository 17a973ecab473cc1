/** Reports of ncu made of a real one: changed in one place, as versions and programs differ. */
import { PbfReader, PbfWriter } from "pbf";

/** Where the first block with results, its payload and its first result begin. */
export function firstResult(report: Buffer) {
  for (let at = 8 + report.readUInt32LE(4); ; ) {
    const headerSize = report.readUInt32LE(at);
    const header = report.subarray(at + 4, at + 4 + headerSize);
    const counts = countsOf(header);
    const payload = at + 4 + headerSize;
    if (counts.results === 0) {
      at = payload + counts.payload;
      continue;
    }
    let message = payload;
    for (let source = 0; source < counts.sources; source++)
      message += 4 + report.readUInt32LE(message);
    return { at, header, counts, payload, message };
  }
}

/** The report of one kernel with NVTX ranges of two threads added to its result. */
export function withNvtx(report: Buffer): { readonly threadId: number; readonly bytes: Buffer } {
  let threadId = 0;
  const bytes = withField(report, (result) => {
    threadId = threadOf(result);
    return nvtxField(threadId);
  });
  return { threadId, bytes };
}

/** A report with a field added to its first result. */
export function withField(report: Buffer, fieldOf: (result: Buffer) => Uint8Array): Buffer {
  const { at, header, counts, payload, message } = firstResult(report);
  const size = report.readUInt32LE(message);
  const result = report.subarray(message + 4, message + 4 + size);
  const added = fieldOf(result);
  // A field that stands twice in a header counts the second time.
  const payloadSize = new PbfWriter();
  payloadSize.writeVarintField(5, counts.payload + added.length);
  const grown = Buffer.concat([header, payloadSize.finish()]);
  return Buffer.concat([
    report.subarray(0, at),
    uint32(grown.length),
    grown,
    report.subarray(payload, message),
    uint32(size + added.length),
    result,
    added,
    report.subarray(message + 4 + size),
  ]);
}

/** The block of results twice: each adds names, and a third block the last ones. */
export function withLateNames(report: Buffer): Buffer {
  const { at, header, counts, payload } = firstResult(report);
  const names = stringsOf(header);
  const [half, most] = [Math.floor(names.length / 2), names.length - 3];
  const results = report.subarray(payload, payload + counts.payload);
  return Buffer.concat([
    report.subarray(0, at),
    blockOf(counts, names.slice(0, half), results),
    blockOf(counts, names.slice(half, most), results),
    blockOf({ sources: 0, results: 0 }, names.slice(most), Buffer.alloc(0)),
  ]);
}

function blockOf(
  { sources, results }: { readonly sources: number; readonly results: number },
  names: readonly string[],
  payload: Buffer,
): Buffer {
  const header = new PbfWriter();
  header.writeVarintField(1, sources);
  header.writeVarintField(2, results);
  header.writeMessage(
    4,
    (_: null, table: PbfWriter) => {
      for (const name of names) table.writeStringField(1, name);
    },
    null,
  );
  header.writeVarintField(5, payload.length);
  const bytes = header.finish();
  return Buffer.concat([uint32(bytes.length), bytes, payload]);
}

function stringsOf(header: Buffer): readonly string[] {
  const strings: string[] = [];
  new PbfReader(header).readFields((tag, _, pbf) => {
    if (tag === 4)
      pbf.readMessage((inner, _none, table) => {
        if (inner === 1) strings.push(table.readString());
      }, null);
  }, null);
  return strings;
}

/** A report whose results are of a program of this name. */
export function withProcessName(report: Buffer, name: string): Buffer {
  const { at, header, payload } = firstResult(report);
  const process = new PbfWriter();
  process.writeMessage(
    6,
    (text: string, inner: PbfWriter) => inner.writeStringField(3, text),
    name,
  );
  const grown = Buffer.concat([header, process.finish()]);
  return Buffer.concat([
    report.subarray(0, at),
    uint32(grown.length),
    grown,
    report.subarray(payload),
  ]);
}

/** The number of the name of a result's first metric. */
export function firstMetric(result: Buffer): number {
  let nameId: number | null = null;
  new PbfReader(result).readFields((tag, _, pbf) => {
    if (tag !== 13 || nameId !== null) return;
    pbf.readMessage((inner, _none, metric) => {
      if (inner === 1) nameId = metric.readVarint();
    }, null);
  }, null);
  if (nameId === null) throw new Error("the result has no metric");
  return nameId;
}

export function metricField(nameId: number, value: number): Uint8Array {
  const writer = new PbfWriter();
  writer.writeMessage(
    13,
    (_: null, metric: PbfWriter) => {
      metric.writeVarintField(1, nameId);
      metric.writeMessage(2, (_none: null, own: PbfWriter) => own.writeDoubleField(3, value), null);
    },
    null,
  );
  return writer.finish();
}

function nvtxField(threadId: number): Uint8Array {
  const writer = new PbfWriter();
  const stack = (domain: number, names: readonly string[]) => (_: unknown, pbf: PbfWriter) => {
    pbf.writeVarintField(1, domain);
    for (const name of names)
      pbf.writeMessage(
        3,
        (text: string, inner: PbfWriter) => inner.writeStringField(1, text),
        name,
      );
  };
  const ranges =
    (domain: number, own: readonly (readonly [number, string])[]) =>
    (_: unknown, pbf: PbfWriter) => {
      pbf.writeVarintField(1, domain);
      for (const [id, name] of own)
        pbf.writeMessage(
          3,
          (text: string, inner: PbfWriter) => {
            inner.writeVarintField(1, id);
            inner.writeStringField(2, text);
          },
          name,
        );
    };
  writer.writeMessage(
    21,
    (_: null, state: PbfWriter) => {
      for (const [id, name] of [
        [1, "<default domain>"],
        [2, "lib"],
      ] as const)
        state.writeMessage(
          1,
          (text: string, domain: PbfWriter) => {
            domain.writeVarintField(1, id);
            domain.writeStringField(2, text);
          },
          name,
        );
      const thread = (id: number, own: readonly (readonly [number, readonly string[]])[]) =>
        state.writeMessage(
          2,
          (_none: null, pbf: PbfWriter) => {
            pbf.writeVarintField(1, id);
            for (const [domain, names] of own) pbf.writeMessage(2, stack(domain, names), null);
          },
          null,
        );
      thread(threadId + 1, [[1, ["backward"]]]);
      thread(threadId, [
        [1, ["A", "A::A1"]],
        [2, ["inner"]],
      ]);
      state.writeMessage(3, ranges(2, [[9, "second"]]), null);
      state.writeMessage(3, ranges(1, [[4, "first"]]), null);
      state.writeVarintField(4, 1);
    },
    null,
  );
  return writer.finish();
}

function countsOf(header: Buffer) {
  const counts = { sources: 0, results: 0, payload: 0 };
  const names = { 1: "sources", 2: "results", 5: "payload" } as const;
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = header[at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  while (at < header.length) {
    const tag = varint();
    if (tag % 8 === 2) {
      const length = varint();
      at += length;
      continue;
    }
    const value = varint();
    const name = names[Math.floor(tag / 8) as keyof typeof names];
    if (name !== undefined) counts[name] = value;
  }
  return counts;
}

/** The thread is the first field. */
function threadOf(result: Buffer): number {
  let value = 0;
  for (let at = 1, scale = 1; ; at++, scale *= 128) {
    const byte = result[at] ?? 0;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
