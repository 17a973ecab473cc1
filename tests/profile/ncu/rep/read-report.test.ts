import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { PbfReader, PbfWriter } from "pbf";
import { afterAll, describe, expect, test } from "vitest";
import { unitOfMetric } from "../../../../src/profile/ncu/rep/metric-units.ts";
import type { NcuResult } from "../../../../src/profile/ncu/results.ts";
import { isConfigError } from "../../../../src/values/errors.ts";
import { runs } from "../../../runs.ts";
import { readNcuCsv } from "../csv/whole-csv.ts";
import { samplesOrSkip } from "../samples.ts";
import { readNcuReport } from "./whole-report.ts";

const sample = samplesOrSkip("our reader of ncu's report files");
const directory = mkdtempSync(join(tmpdir(), "hydraconf-rep-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const written = (name: string, bytes: Uint8Array): string => {
  const file = join(directory, name);
  writeFileSync(file, bytes);
  return file;
};

const refusal = (file: string): string => {
  try {
    readNcuReport(file);
    return "accepted";
  } catch (error) {
    if (!isConfigError(error)) throw error;
    return `${error.code}: ${error.message}`;
  }
};

describe.skipIf(sample === null)("our reader of ncu's report files", () => {
  const path = (name: string) => sample?.(name) ?? "";

  test.each([
    // The precision of each table: two decimals in base units, seven digits in others.
    ["r1.ncu-rep", "raw-1kernel-t4-base-units.csv", 0.0051, 0],
    ["gpm.ncu-rep", "raw-multi-launch-rtx2060.csv", 0.0051, 1e-4],
    ["mojo.ncu-rep", "raw-multi-kernel-gtx1660-ncu2024.1.csv", 0.0051, 1e-4],
  ])("%s holds what ncu prints of it", async (report, table, digits, share) => {
    const own = readNcuReport(path(report));
    const printed = await readNcuCsv(path(table));
    expect(own.notes).toEqual([]);
    expect(own.toolVersion).toMatch(/^202\d\.\d\.\d/);
    expect(own.sections.get("GPU Speed Of Light Throughput")?.length).toBeGreaterThan(3);
    expect(own.results.length).toBe(printed.results.length);
    expect(own.results.length).toBeGreaterThan(0);
    let compared = 0;
    for (const [index, result] of own.results.entries()) {
      const { columns, values, rules: _rules, ...identity } = printed.results[index] as NcuResult;
      expect(result).toMatchObject(identity);
      expect(result.mangledName).toMatch(/^\w+$/);
      for (const [name, at] of columns.index) {
        const expected = values[at] as number;
        const found = result.values[result.columns.index.get(name) ?? -1] ?? Number.NaN;
        if (Number.isNaN(expected)) expect(found, name).toBeNaN();
        else {
          const off = Math.abs(found - expected);
          expect(off, `${name}: ${found}, printed ${expected}`).toBeLessThanOrEqual(
            digits + Math.abs(expected) * share,
          );
          compared++;
        }
      }
    }
    expect(compared).toBeGreaterThan(200);
  });

  test("knows the units of nearly all metrics from their names", async () => {
    const [own] = readNcuReport(path("r1.ncu-rep")).results;
    const [printed] = (await readNcuCsv(path("raw-1kernel-t4-base-units.csv"))).results;
    if (own === undefined || printed === undefined) throw new Error("both have a result");
    const wrong = printed.columns.names.filter((name, at) => {
      const place = own.columns.index.get(name);
      return place !== undefined && own.columns.units[place] !== printed.columns.units[at];
    });
    expect(wrong.length).toBeLessThan(printed.columns.names.length * 0.02);
    for (const name of ["gpu__time_duration.sum", "dram__bytes_read.sum", "lts__t_sectors.sum"])
      expect(wrong).not.toContain(name);
  });

  // As ncu 2024.1 prints them.
  test.each([
    ["pmsampling:sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed", "%"],
    ["pmsampling:sm__inst_executed_realtime.avg.per_cycle_active", "inst/cycle"],
    ["FE_B.TriageAC.gr__ctas_launched_queue_sync.sum", "block"],
    ["sm__cycles_active.avg.peak_sustained_elapsed.per_second", "cycle/s"],
    ["sm__ops_path_tensor_src_fp16.sum.per_cycle_elapsed", "/cycle"],
    ["smsp__issue_active.avg.per_cycle_active", ""],
    ["l1tex__lsu_writeback_active.avg.per_second", "cycle/s"],
    ["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "sector/request"],
    ["derived__sm__sass_thread_inst_executed_op_ffma_pred_on_x2", "thread"],
    ["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst"],
    ["launch__sm_count", "SM"],
    ["profiler__pmsampler_interval_time", "ns"],
  ])("the unit of %s is %j", (name, unit) => {
    expect(unitOfMetric(name)).toBe(unit);
  });

  test("reads what ncu's rules say", () => {
    const [result] = readNcuReport(path("r1.ncu-rep")).results;
    const occupancy = result?.rules?.find(({ rule }) => rule === "AchievedOccupancy");
    expect(occupancy).toMatchObject({ section: "Occupancy", type: "OPT" });
    expect(occupancy?.text).toContain(
      "theoretical (100.0%) and measured achieved occupancy (79.4%)",
    );
    for (const { text } of result?.rules ?? []) expect(text).not.toMatch(/@\w+:/);
  });

  test("takes the last value of a metric that stands twice, as ncu does", () => {
    const [plain] = readNcuReport(path("r1.ncu-rep")).results;
    const [name = ""] = plain?.columns.names ?? [];
    const again = withField(readFileSync(path("r1.ncu-rep")), (result) =>
      metricField(firstMetric(result), 4711.5),
    );
    const [result] = readNcuReport(written("twice.ncu-rep", again)).results;
    expect(result?.columns.names).toEqual(plain?.columns.names);
    expect(result?.values[result.columns.index.get(name) ?? -1]).toBe(4711.5);
  });

  test.each([
    [2 ** 64, 0],
    [40 * 2 ** 64, 0],
    [1.5e19, 1.5e19],
  ])("shows a counter of %d as %d, as ncu does: it has 64 bits", (counted, shown) => {
    const [name = ""] = readNcuReport(path("r1.ncu-rep")).results[0]?.columns.names ?? [];
    const changed = withField(readFileSync(path("r1.ncu-rep")), (result) =>
      metricField(firstMetric(result), counted),
    );
    const [result] = readNcuReport(written("counted.ncu-rep", changed)).results;
    expect(result?.values[result.columns.index.get(name) ?? -1]).toBe(shown);
  });

  test("knows names that a later block adds, whichever block a result stands in", () => {
    const whole = readFileSync(path("r1.ncu-rep"));
    const [plain] = readNcuReport(path("r1.ncu-rep")).results;
    const { results } = readNcuReport(written("late-names.ncu-rep", withLateNames(whole)));
    expect(results).toHaveLength(2);
    for (const { columns, values } of results) {
      expect(columns.names).toEqual(plain?.columns.names);
      expect(values).toEqual(plain?.values);
    }
  });

  test.each([
    ["/opt/my tools/train", "train"],
    ["C:\\work\\bin\\estimate.exe\0", "estimate.exe"],
    ["\\\\host\\share\\estimate.exe", "estimate.exe"],
    ["/opt/odd\\name", "odd\\name"],
  ])("knows the program of %s", (program, name) => {
    const renamed = withProcessName(readFileSync(path("r1.ncu-rep")), program);
    const [result] = readNcuReport(written("program.ncu-rep", renamed)).results;
    expect(result?.processName).toBe(name);
  });

  test("knows the ranges of all threads", () => {
    const { threadId, bytes } = withNvtx(readFileSync(path("r1.ncu-rep")));
    const [result] = readNcuReport(written("nvtx.ncu-rep", bytes)).results;
    expect(threadId).toBeGreaterThan(0);
    expect(result?.nvtx).toEqual({
      pushPop: [
        { domain: "", name: "A" },
        { domain: "", name: "A::A1" },
        { domain: "lib", name: "inner" },
      ],
      startEnd: [
        { domain: "", name: "first" },
        { domain: "lib", name: "second" },
      ],
      otherThreads: [[{ domain: "", name: "backward" }]],
    });
  });

  test("reads a report that was cut short as far as it goes", () => {
    const whole = readFileSync(path("gpm.ncu-rep"));
    const all = readNcuReport(path("gpm.ncu-rep")).results.length;
    for (const share of [0.3, 0.6, 0.9]) {
      const cut = whole.subarray(0, Math.floor(whole.length * share));
      const { results, notes } = readNcuReport(written("cut.ncu-rep", cut));
      expect(results.length).toBeLessThan(all);
      expect(notes.join()).toContain("was cut short");
    }
  });

  test("leaves out a result that is damaged, says so, and reads the others", () => {
    const whole = readFileSync(path("gpm.ncu-rep"));
    const all = readNcuReport(path("gpm.ncu-rep")).results;
    // An unknown field of wire type 7, which there is none of, at the start of the first result.
    whole.set([0xa7, 0x06], firstResult(whole).message + 4);
    const { results, notes } = readNcuReport(written("damaged.ncu-rep", whole));
    expect(results.map(({ id }) => id)).toEqual(all.map(({ id }) => id).slice(1));
    expect(notes.join()).toContain("1 damaged result was left out");
  });

  test("refuses or reads whatever bytes are wrong, and never fails otherwise", () => {
    const whole = readFileSync(path("r1.ncu-rep"));
    const place = fc.oneof(
      fc.nat(whole.length - 1),
      fc.nat(200),
      fc.nat(400).map((off) => Math.min(firstResult(whole).message + off, whole.length - 1)),
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(place, fc.nat(255)), { minLength: 1, maxLength: 6 }),
        (wrong) => {
          const bytes = Buffer.from(whole);
          for (const [at, byte] of wrong) bytes[at] = byte;
          refusal(written("fuzzed.ncu-rep", bytes));
        },
      ),
      { numRuns: runs(150) },
    );
  });

  test("refuses what is no report", () => {
    expect(refusal(written("other.ncu-rep", Buffer.from("hello, this is text")))).toMatch(
      /^profile\.input: .*it does not begin like one$/,
    );
    expect(refusal(written("tiny.ncu-rep", Buffer.from("NVR\0")))).toContain("header is damaged");
  });
});

/** Where the first block with results, its payload and its first result begin. */
function firstResult(report: Buffer) {
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
function withNvtx(report: Buffer): { readonly threadId: number; readonly bytes: Buffer } {
  let threadId = 0;
  const bytes = withField(report, (result) => {
    threadId = threadOf(result);
    return nvtxField(threadId);
  });
  return { threadId, bytes };
}

/** A report with a field added to its first result. */
function withField(report: Buffer, fieldOf: (result: Buffer) => Uint8Array): Buffer {
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
function withLateNames(report: Buffer): Buffer {
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
function withProcessName(report: Buffer, name: string): Buffer {
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
function firstMetric(result: Buffer): number {
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

function metricField(nameId: number, value: number): Uint8Array {
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
