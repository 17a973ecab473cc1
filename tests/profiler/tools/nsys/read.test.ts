import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../../src/profiler/analysis/build.ts";
import { readNsysExport } from "../../../../src/profiler/tools/nsys/read/read-export.ts";
import { call, globalId, kernel, range, type Tables, writeExport } from "./exports.ts";

const read = (tables: Tables) => readNsysExport(writeExport(tables));

/** The only process of a timeline. */
function onlyProcess(tables: Tables) {
  const { processes } = read(tables);
  expect(processes).toHaveLength(1);
  const [process] = processes;
  if (process === undefined) throw new Error("no process");
  return process;
}

const strings = [
  { id: 1, value: "gemm<float>(float*)" },
  { id: 2, value: "_Z4gemm" },
  { id: 3, value: "registered" },
];

describe("streams", () => {
  const activity = { globalPid: globalId(7), start: 10, end: 20, correlationId: 1 };
  const tables = (streams: Tables): Tables => ({
    CUPTI_ACTIVITY_KIND_KERNEL: [{ ...activity, deviceId: 0, contextId: 1, streamId: 13 }],
    ...streams,
  });
  const listed = { hwId: 0, vmId: 0, processId: 7, contextId: 1, priority: 0 };

  it("are the null ones of each context where the file lists streams with their types", () => {
    const streams = [
      { ...listed, streamId: 7, flag: 3 },
      { ...listed, streamId: 13, flag: 1 },
      { ...listed, streamId: 14, flag: 2 },
      { ...listed, contextId: 2, streamId: 15, flag: 3 },
      { ...listed, processId: 8, streamId: 99, flag: 3 },
    ];
    expect(onlyProcess(tables({ TARGET_INFO_CUDA_STREAM: streams })).defaultStreams).toEqual([
      { context: 1, stream: 7 },
      { context: 2, stream: 15 },
    ]);
  });

  it("are unknown of a process without any in the list, and of a file without a list", () => {
    const others = [{ ...listed, processId: 8, streamId: 7, flag: 3 }];
    expect(onlyProcess(tables({ TARGET_INFO_CUDA_STREAM: others }))).not.toHaveProperty(
      "defaultStreams",
    );
    expect(onlyProcess(tables({}))).not.toHaveProperty("defaultStreams");
  });
});

describe("rows without a time", () => {
  it("are left out, with a note for each table", () => {
    const activity = { globalPid: globalId(7), start: 10, end: 20, correlationId: 1 };
    const kernels = [1, 2].map(() => ({ ...activity, start: "soon", deviceId: 0, streamId: 7 }));
    const { notes, processes } = read({
      NVTX_EVENTS: [{ ...range }, { ...range, start: null }],
      CUPTI_ACTIVITY_KIND_KERNEL: [{ ...activity, deviceId: 0, streamId: 7 }, ...kernels],
    });
    expect(processes.map((process) => [process.ranges.length, process.kernels.length])).toEqual([
      [1, 1],
    ]);
    expect(notes).toEqual(
      expect.arrayContaining([
        "NVTX_EVENTS: 1 row without a time or process was left out: the file is damaged, or was changed",
        "CUPTI_ACTIVITY_KIND_KERNEL: 2 rows without a time or process were left out: the file is damaged, or was changed",
      ]),
    );
    expect(read({ NVTX_EVENTS: [{ ...range }] }).notes.join()).not.toContain("left out");
  });
});

describe("NVTX events", () => {
  it("are ranges of both kinds, those imported from NVTXT too, and marks", () => {
    const { ranges, marks } = onlyProcess({
      NVTX_EVENTS: [
        { ...range },
        { ...range, start: 20, end: 80, eventType: 60, text: "S" },
        { ...range, start: 30, end: 40, eventType: 70, text: "imported push" },
        { ...range, start: 50, end: 60, eventType: 71, text: "imported start" },
        { ...range, start: 55, end: null, eventType: 34, text: "here" },
        { ...range, start: 1, end: null, eventType: 33, text: "a category" },
      ],
    });
    expect(
      ranges.map(({ id, kind, name, startNs, endNs }) => [id, kind, name, startNs, endNs]),
    ).toEqual([
      [0, "push_pop", "A", 10, 90],
      [1, "start_end", "S", 20, 80],
      [2, "push_pop", "imported push", 30, 40],
      [3, "start_end", "imported start", 50, 60],
    ]);
    expect(marks).toMatchObject([{ name: "here", timeNs: 55, threadId: 8 }]);
  });

  it("have the numbers of structured payloads, by the schemas of their domain", () => {
    // Header: domain, schema, bytes, bytes with the header.
    const payload = (
      schema: bigint,
      words: readonly bigint[],
      domain = 1n,
      size = words.length,
    ) => {
      const header = [domain, schema, BigInt(size * 8), BigInt(size * 8 + 32)];
      return Buffer.from(BigUint64Array.from([...header, ...words]).buffer);
    };
    const entry = { domainId: 1, schemaId: 16777217, flags: null, arrayOrUnionDetail: null };
    const { ranges } = onlyProcess({
      NVTX_EVENTS: [
        { ...range, start: 1, end: 2, binaryData: payload(16777217n, [77n, 4096n]) },
        { ...range, start: 3, end: 4, binaryData: payload(16777217n, [77n, 1n]).toString("hex") },
        // Of a domain that has no such schema, cut short, with another behind it, and none.
        { ...range, start: 5, end: 6, binaryData: payload(16777217n, [77n, 1n], 2n) },
        { ...range, start: 7, end: 8, binaryData: payload(16777217n, [77n], 1n, 2) },
        {
          ...range,
          start: 9,
          end: 10,
          binaryData: Buffer.concat([payload(5n, [3n]), payload(16777217n, [77n, 8n])]),
        },
        { ...range, start: 11, end: 12, binaryData: null },
      ],
      NVTX_PAYLOAD_SCHEMAS: [
        {
          domainId: 1,
          schemaId: 16777217,
          name: null,
          type: 1,
          flags: null,
          payloadSize: 16,
          alignTo: null,
        },
      ],
      NVTX_PAYLOAD_SCHEMA_ENTRIES: [
        { ...entry, idx: 1, type: 22, name: "Message size [bytes]", offset: 8 },
        { ...entry, idx: 0, type: 18, name: "NCCL communicator ID", offset: null },
      ],
    });
    const numbers = ranges.map(({ values = [] }) =>
      values.map(({ field: { name, unit }, value }) => `${name} ${value}${unit}`).join(", "),
    );
    expect(numbers).toEqual([
      "NCCL communicator ID 77, Message size 4096byte",
      "NCCL communicator ID 77, Message size 1byte",
      "",
      "",
      "payload 3, NCCL communicator ID 77, Message size 8byte",
      "",
    ]);
  });

  it("count the values of enumerations in structured payloads by their names", () => {
    const [schema, flags, colors] = [16777217, 16777218n, 16777219n];
    const payload = (color: number, flag: number) => {
      const header = BigUint64Array.from([1n, BigInt(schema), 8n, 40n]);
      return Buffer.concat([Buffer.from(header.buffer), Buffer.of(color, 0, 0, 0, flag, 0, 0, 0)]);
    };
    const named = { domainId: 1, schemaId: schema, flags: null, arrayOrUnionDetail: null };
    const of = (schemaId: bigint, value: number, name: string) => ({
      ...{ domainId: 1, schemaId, idx: value, name, value },
    });
    const { ranges } = onlyProcess({
      NVTX_EVENTS: [
        { ...range, start: 1, end: 2, binaryData: payload(2, 1) },
        { ...range, start: 3, end: 4, binaryData: payload(1, 9) },
        { ...range, start: 5, end: 6, binaryData: payload(7, 0) },
      ],
      NVTX_PAYLOAD_SCHEMAS: [
        { ...named, name: "state", type: 1, flags: null, payloadSize: 8, alignTo: null },
      ],
      NVTX_PAYLOAD_SCHEMA_ENTRIES: [
        { ...named, idx: 0, type: colors, name: "color", offset: 0 },
        { ...named, idx: 1, type: flags, name: "mode", offset: 4 },
      ],
      NVTX_PAYLOAD_ENUMS: [
        { domainId: 1, schemaId: colors, name: "Color", size: 4 },
        { domainId: 1, schemaId: flags, name: "Mode", size: 4 },
        // Of another domain, with the same number.
        { domainId: 2, schemaId: colors, name: "Other", size: 4 },
      ],
      NVTX_PAYLOAD_ENUM_ENTRIES: [
        of(colors, 1, "red"),
        of(colors, 2, "green"),
        of(flags, 1, "read"),
        of(flags, 0, "none"),
        { ...of(colors, 1, "of another domain"), domainId: 2 },
      ],
    });
    expect(
      ranges.map(({ values = [] }) => values.map(({ field, value }) => [field.name, value])),
    ).toEqual([
      [
        ["color = green", 1],
        ["mode = read", 1],
      ],
      [
        ["color = red", 1],
        ["mode = (no value of the enumeration)", 1],
      ],
      [
        ["color = (no value of the enumeration)", 1],
        ["mode = none", 1],
      ],
    ]);
  });

  it("name threads, the last one counting; a process that did nothing else is none of the timeline", () => {
    const name = { ...range, start: 1, end: null, eventType: 39, textId: null };
    const { processes } = read({
      StringIds: strings,
      NVTX_EVENTS: [
        { ...name, text: "main" },
        { ...name, text: "data loader" },
        { ...name, text: null, textId: 3, globalTid: globalId(7, 9) },
        { ...name, text: null, textId: 99, globalTid: globalId(7, 10) },
        { ...name, text: "of another process", globalTid: globalId(9, 8) },
        { ...range, textId: null },
      ],
    });
    expect(processes.map(({ pid, threadNames }) => [pid, [...(threadNames ?? [])]])).toEqual([
      [
        7,
        [
          [8, "data loader"],
          [9, "registered"],
        ],
      ],
    ]);
  });

  it("are named by a text or by a registered string, in domains that are numbered per process", () => {
    const domain = { start: 1, end: null, eventType: 75, textId: null };
    const { processes } = read({
      StringIds: strings,
      NVTX_EVENTS: [
        { ...domain, text: "of 7", domainId: 1, globalTid: globalId(7, 7) },
        { ...domain, text: "of 9", domainId: 1, globalTid: globalId(9, 9) },
        { ...range, text: null, textId: 3, domainId: 1 },
        { ...range, text: "B", textId: null, domainId: 1, globalTid: globalId(9, 9) },
        { ...range, text: null, textId: 99, domainId: 0 },
        { ...range, text: "C", textId: null, domainId: 5 },
      ],
    });
    const labels = processes.map(({ pid, ranges }) => [
      pid,
      ranges.map(({ domain: of, name }) => `${of}:${name}`).sort(),
    ]);
    expect(labels).toEqual([
      [7, [":", "domain 5:C", "of 7:registered"]],
      [9, ["of 9:B"]],
    ]);
  });

  it("have what is inside for themselves where only their domains differ", () => {
    const domain = { start: 1, end: null, eventType: 75, textId: null, globalTid: globalId(7, 7) };
    const step = (domainId: number, start: number) => [
      { ...range, text: "step", textId: null, domainId, start, end: start + 40 },
      { ...range, text: "load", textId: null, domainId: 0, start: start + 10, end: start + 20 },
    ];
    const { scopes } = buildRegionModel(
      read({
        NVTX_EVENTS: [
          { ...domain, text: "A", domainId: 1 },
          { ...domain, text: "B", domainId: 2 },
          ...step(1, 100),
          ...step(2, 200),
          ...step(2, 300),
        ],
      }),
    );
    expect(
      scopes[0]?.regions.map(({ path, domain: of, path_domains, invocations }) => [
        path.join("/"),
        path_domains ?? of,
        invocations,
      ]),
    ).toEqual([
      ["step", "A", 1],
      ["step/load", ["A", ""], 1],
      ["step", "B", 2],
      ["step/load", ["B", ""], 2],
      // The time from 140 to 200 and from 240 to 300, in no range.
      ["(outside)", "", 0],
    ]);
  });

  it("open where an end is missing, or is the moment at which nsys stopped", () => {
    const events = [
      { ...range, start: 1, end: null, text: "no end" },
      { ...range, start: 2, end: 500, text: "ended by nsys" },
      { ...range, start: 3, end: 499, text: "closed" },
    ];
    const details = [{ duration: 500 }];
    const ends = (tables: Tables) => onlyProcess(tables).ranges.map(({ endNs }) => endNs);
    expect(ends({ NVTX_EVENTS: events, ANALYSIS_DETAILS: details })).toEqual([null, null, 499]);
    expect(ends({ NVTX_EVENTS: events })).toEqual([null, 500, 499]);
    const open = onlyProcess({ NVTX_EVENTS: events, ANALYSIS_DETAILS: details });
    expect(open.ranges.map(({ endThreadId }) => endThreadId)).toEqual([null, null, 8]);
  });

  it("keep the closing thread, colours and payloads as large as they are", () => {
    const events = [
      {
        ...range,
        eventType: 60,
        endGlobalTid: globalId(7, 9),
        uint64Value: -1n,
        color: 0xff00ff00,
      },
      { ...range, start: 11, endGlobalTid: null, uint64Value: null, color: null },
    ];
    const [first, second] = onlyProcess({ NVTX_EVENTS: events }).ranges;
    expect(first).toMatchObject({ threadId: 8, endThreadId: 9, color: 0xff00ff00, category: null });
    expect(first?.payload).toBe(2n ** 64n - 1n);
    expect(second).toMatchObject({ endThreadId: 8, payload: null });
  });

  it("that start together nest by their length", () => {
    const inner = { ...range, end: 50, text: "inner" };
    const { ranges } = onlyProcess({ NVTX_EVENTS: [inner, { ...range, text: "outer" }] });
    expect(ranges.map(({ name }) => name)).toEqual(["outer", "inner"]);
  });
});

describe("GPU activities", () => {
  it("belong to the thread of the call with their correlation, in their process", () => {
    const { processes } = read({
      StringIds: strings,
      CUPTI_ACTIVITY_KIND_KERNEL: [
        kernel,
        { ...kernel, start: 60, end: 65, deviceId: 1, globalPid: globalId(9) },
      ],
      CUPTI_ACTIVITY_KIND_RUNTIME: [call, { ...call, start: 40, globalTid: globalId(9, 99) }],
    });
    const found = processes.map(({ pid, kernels }) => [pid, [...kernels]]);
    const expected = {
      kind: "kernel",
      name: "gemm<float>(float*)",
      stream: 7,
    };
    expect(found).toMatchObject([
      [7, [{ ...expected, device: 0, launchThreadId: 8, launchNs: 20, startNs: 30, endNs: 50 }]],
      [9, [{ ...expected, device: 1, launchThreadId: 99, launchNs: 40, startNs: 60, endNs: 65 }]],
    ]);
  });

  it("have their own names each, however many there are and whatever is missing of them", () => {
    const many = 4_200;
    const rows = Array.from({ length: many }, (_, i) => ({
      ...kernel,
      start: 30 + i,
      end: 31 + i,
      correlationId: i + 1,
      // Ids come again, also far apart; some have no text.
      demangledName: 3 * (i % 600) + 1,
      shortName: 3 * (i % 600) + 2,
      mangledName: i === 1 ? 2n ** 60n : 3 * (i % 600) + 3,
    }));
    const texts = Array.from({ length: 600 }, (_, i) => [
      ...(i % 7 === 1 ? [] : [{ id: 3 * i + 1, value: `long ${i}` }]),
      ...(i % 14 === 1 ? [] : [{ id: 3 * i + 2, value: `short ${i}` }]),
      ...(i % 28 === 1 ? [] : [{ id: 3 * i + 3, value: `raw ${i}` }]),
    ]).flat();
    const { kernels } = onlyProcess({
      StringIds: [...texts, { id: 2n ** 60n, value: "raw, far away" }],
      CUPTI_ACTIVITY_KIND_KERNEL: rows,
    });
    const expected = rows.map((_, i) => {
      const id = i % 600;
      const raw = i === 1 ? "raw, far away" : id % 28 === 1 ? undefined : `raw ${id}`;
      if (id % 7 !== 1) return `long ${id}`;
      return id % 14 !== 1 ? `short ${id}` : (raw ?? "(unnamed kernel)");
    });
    expect([...kernels].map(({ name }) => name)).toEqual(expected);
  });

  it("of a machine do not mix with those of another that has the same process id", () => {
    const { processes } = read({
      NVTX_EVENTS: [range, { ...range, globalTid: globalId(7, 8, 3n) }],
      CUPTI_ACTIVITY_KIND_KERNEL: [{ ...kernel, globalPid: globalId(7, 0, 3n) }],
      CUPTI_ACTIVITY_KIND_RUNTIME: [call],
    });
    expect(processes.map(({ pid, ranges }) => [pid, ranges.length])).toEqual([
      [7, 1],
      [7, 1],
    ]);
    expect(processes.flatMap(({ kernels }) => [...kernels])).toMatchObject([
      { launchThreadId: null },
    ]);
  });

  it("of no process are those of the only one there is, with a note", () => {
    const { globalPid: _, ...homeless } = kernel;
    const said =
      "CUPTI_ACTIVITY_KIND_KERNEL has no column globalPid, so the process of its rows is unknown: they are";
    const tables = {
      CUPTI_ACTIVITY_KIND_KERNEL: [homeless],
      CUPTI_ACTIVITY_KIND_RUNTIME: [call],
    };
    const one = read({ ...tables, NVTX_EVENTS: [range] });
    expect(one.processes).toMatchObject([{ pid: 7, ranges: [{ name: "A" }] }]);
    expect([...(one.processes[0]?.kernels ?? [])]).toMatchObject([
      { launchThreadId: 8, launchNs: 20, startNs: 30 },
    ]);
    expect(one.notes).toEqual([`${said} assigned to process 7, the only one in the file`]);
    const none = read({ CUPTI_ACTIVITY_KIND_KERNEL: [homeless] });
    expect(none.processes.map(({ pid, kernels }) => [pid, kernels.length])).toEqual([[0, 1]]);
    expect(none.notes).toContain(`${said} assigned to a single process without a number`);
    const several = read({
      ...tables,
      NVTX_EVENTS: [range, { ...range, globalTid: globalId(9, 9) }],
    });
    expect(several.processes.map(({ pid, kernels }) => [pid, kernels.length])).toEqual([
      [7, 0],
      [9, 0],
    ]);
    expect(several.notes).toContain(`${said} left out, since the file has several processes`);
  });

  it("and ranges whose tables lack what they cannot be read without are named", () => {
    const { eventType: _, globalTid: __, ...untyped } = range;
    const { start: ___, demangledName: ____, ...unplaced } = kernel;
    const { globalTid: _____, ...nowhere } = call;
    const lacking = read({
      NVTX_EVENTS: [untyped],
      CUPTI_ACTIVITY_KIND_KERNEL: [unplaced],
      CUPTI_ACTIVITY_KIND_RUNTIME: [nowhere],
    });
    expect(lacking.processes).toEqual([]);
    expect(lacking.notes).toEqual([
      "NVTX_EVENTS has no column eventType and none globalTid: its ranges and marks are left out",
      "CUPTI_ACTIVITY_KIND_KERNEL has no column start: its rows are left out",
      "CUPTI_ACTIVITY_KIND_RUNTIME has no column globalTid: no kernel can be assigned to its calls",
      "CUPTI_ACTIVITY_KIND_KERNEL has no column demangledName, shortName, mangledName: kernels have no names",
    ]);
  });

  it("of managed memory that moved by itself lack no call", () => {
    const moved = { ...kernel, correlationId: 0, copyKind: 11, bytes: 4096 };
    const tables = (copies: number) => ({
      NVTX_EVENTS: [range],
      CUPTI_ACTIVITY_KIND_KERNEL: [kernel],
      CUPTI_ACTIVITY_KIND_RUNTIME: [call],
      CUPTI_ACTIVITY_KIND_MEMCPY: Array.from({ length: copies }, () => moved),
    });
    expect(onlyProcess(tables(1)).notes).toEqual([
      "process 7: 1 copy of managed memory, which no call requests, counts as outside every range",
    ]);
    expect(onlyProcess(tables(1200)).notes).toEqual([
      "process 7: 1,200 copies of managed memory, which no call requests, count as outside every range",
    ]);
    const asked = { ...moved, copyKind: 1 };
    expect(
      onlyProcess({ ...tables(1), CUPTI_ACTIVITY_KIND_MEMCPY: [asked] }).notes.join(),
    ).toContain("1 of 2 GPU activities");
  });

  it("without a launching call are outside of every range, with a note", () => {
    const tables = {
      NVTX_EVENTS: [{ ...range, eventType: 60 }],
      CUPTI_ACTIVITY_KIND_KERNEL: [kernel, { ...kernel, correlationId: 2 }],
      CUPTI_ACTIVITY_KIND_RUNTIME: [call],
    };
    expect(onlyProcess(tables).notes).toEqual([
      "process 7: the calls that launched 1 of 2 GPU activities are not in the file; these count as outside every range",
    ]);
    const [whole] = buildRegionModel(read(tables)).scopes;
    expect(whole?.regions.map(({ kind, kernelNs }) => [kind, kernelNs])).toEqual([
      ["start_end", 20],
      ["outside", 20],
    ]);
  });

  it("are many for one call where a CUDA graph was launched", () => {
    const nodes = [1n, 2n, 3n].map((node) => ({ ...kernel, graphNodeId: node, graphId: 4 }));
    const { kernels } = onlyProcess({
      CUPTI_ACTIVITY_KIND_KERNEL: nodes,
      CUPTI_ACTIVITY_KIND_RUNTIME: [call],
    });
    expect([...kernels].map(({ graph, launchNs }) => [graph, launchNs])).toEqual(
      [1n, 2n, 3n].map((node) => [{ id: 4, node }, 20]),
    );
  });

  it("are of no graph where a damaged file has no number for its node", () => {
    const nodes = [5n, "5", "no node", 5.5, null].map((graphNodeId) => ({
      ...kernel,
      graphNodeId,
      graphId: 4,
    }));
    const { kernels } = onlyProcess({
      CUPTI_ACTIVITY_KIND_KERNEL: nodes,
      CUPTI_ACTIVITY_KIND_RUNTIME: [call],
    });
    expect([...kernels].map(({ graph }) => graph)).toEqual([
      { id: 4, node: 5n },
      ...Array(4).fill(undefined),
    ]);
  });

  it("include graphs that were traced as a whole, with a note on how to see their kernels", () => {
    const { demangledName, ...graph } = kernel;
    const { kernels, notes } = onlyProcess({
      CUPTI_ACTIVITY_KIND_GRAPH_TRACE: [{ ...graph, graphId: 4 }],
      CUPTI_ACTIVITY_KIND_RUNTIME: [call],
    });
    expect([...kernels]).toMatchObject([{ name: "[CUDA graph 4]", launchThreadId: 8 }]);
    expect(notes.join()).toContain("--cuda-graph-trace=node");
    expect(demangledName).toBe(1);
  });

  it("include copies and sets, which are no kernels", () => {
    const { demangledName, ...activity } = kernel;
    const { kernels } = onlyProcess({
      CUPTI_ACTIVITY_KIND_MEMCPY: [{ ...activity, copyKind: 1, bytes: 4096 }],
      CUPTI_ACTIVITY_KIND_MEMSET: [{ ...activity, bytes: 16 }],
      CUPTI_ACTIVITY_KIND_RUNTIME: [call],
    });
    expect([...kernels]).toMatchObject([
      { kind: "memcpy", name: "[CUDA memcpy Host-to-Device]", bytes: 4096, launchThreadId: 8 },
      { kind: "memset", name: "[CUDA memset]", bytes: 16, launchThreadId: 8 },
    ]);
    expect(demangledName).toBe(1);
  });

  it("are launched by the outer one of a runtime call and the driver call inside it", () => {
    const { kernels } = onlyProcess({
      CUPTI_ACTIVITY_KIND_KERNEL: [kernel],
      CUPTI_ACTIVITY_KIND_RUNTIME: [{ ...call, start: 22 }, call, { ...call, start: 23 }],
    });
    expect([...kernels]).toMatchObject([{ launchNs: 20 }]);
  });

  it("are launched by calls of the driver alone, which older exports have in a table of their own", () => {
    const { kernels } = onlyProcess({
      CUPTI_ACTIVITY_KIND_KERNEL: [kernel, { ...kernel, correlationId: 2 }],
      CUPTI_ACTIVITY_KIND_RUNTIME: [call],
      CUPTI_ACTIVITY_KIND_DRIVER: [
        { ...call, start: 21 },
        { ...call, start: 24, globalTid: globalId(7, 9), correlationId: 2 },
      ],
    });
    expect([...kernels]).toMatchObject([
      { launchThreadId: 8, launchNs: 20 },
      { launchThreadId: 9, launchNs: 24 },
    ]);
  });

  it("have waits of the host beside them", () => {
    const wait = { start: 60, end: 80, streamId: 7, correlationId: 1, globalPid: globalId(7) };
    const { synchronizations } = onlyProcess({
      CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: [
        { ...wait, syncType: 4 },
        { ...wait, syncType: 2 },
        { ...wait, syncType: 3, correlationId: 5 },
      ],
      CUPTI_ACTIVITY_KIND_RUNTIME: [call],
    });
    expect(synchronizations).toEqual([
      { kind: "context", threadId: 8, callNs: 20, startNs: 60, endNs: 80, stream: 7 },
    ]);
  });
});
