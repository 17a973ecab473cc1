import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildRegionModel } from "../../../../src/profiler/analysis/build.ts";
import { createEventStream } from "../../../../src/profiler/tools/pytorch/event-stream.ts";
import { readTorchTrace } from "../../../../src/profiler/tools/pytorch/read-trace.ts";

type Event = Readonly<Record<string, unknown>>;

const PID = 100;
const onHost = (cat: string, name: string, ts: number, dur: number, args: Event = {}): Event => ({
  ...{ ph: "X", cat, name, pid: PID, tid: 7, ts, dur, args },
});
const onGpu = (
  cat: string,
  name: string,
  ts: number,
  dur: number,
  correlation: number,
  args: Event = {},
): Event => ({
  ...{ ph: "X", cat, name, pid: 0, tid: 20, ts, dur },
  args: { device: 0, context: 1, stream: 20, correlation, ...args },
});

const textOf = (events: readonly Event[], header: Event = {}): string =>
  JSON.stringify({ schemaVersion: 1, ...header, traceEvents: events, traceName: "t.json" });

const read = (events: readonly Event[], header: Event = {}) =>
  readTorchTrace([Buffer.from(textOf(events, header))]);

async function processOf(events: readonly Event[], header: Event = {}) {
  const [process] = (await read(events, header)).timeline.processes;
  if (process === undefined) throw new Error("no process");
  return process;
}

describe("a trace of the PyTorch profiler", () => {
  test("kernels belong to the operator that launched them, in whatever order the file has them", async () => {
    const events = [
      onGpu("kernel", "gemm", 40, 30, 5),
      onHost("cuda_driver", "cuLaunchKernel", 23, 2, { correlation: 5 }),
      onHost("cuda_runtime", "cudaLaunchKernel", 22, 4, { correlation: 5 }),
      onHost("cpu_op", "aten::addmm", 20, 10),
      onHost("user_annotation", "forward", 10, 25),
      onGpu("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 80, 5, 6, { bytes: 4096 }),
      onHost("cuda_runtime", "cudaMemcpyAsync", 50, 4, { correlation: 6 }),
      onGpu("gpu_memset", "Memset (Device)", 90, 1, 999),
      onHost("python_function", "train.py(1): main", 0, 100),
      onGpu("gpu_user_annotation", "forward", 40, 30, 0),
    ];
    const { timeline } = await read(events);
    const [process] = timeline.processes;
    expect([...(process?.kernels ?? [])]).toMatchObject([
      { name: "gemm", launchThreadId: 7, launchNs: 22_000, startNs: 40_000, endNs: 70_000 },
      { kind: "memcpy", name: "[CUDA memcpy Host-to-Device]", bytes: 4096, launchNs: 50_000 },
      { kind: "memset", name: "[CUDA memset]", launchThreadId: null },
    ]);
    expect(process?.notes).toEqual([
      "process 100: the calls that launched 1 of 3 GPU activities are not in the file; these count as outside every range",
    ]);
    expect(timeline.notes).toEqual([
      "1 call of Python functions (with_stack) is not shown as a region",
    ]);
    const model = buildRegionModel(timeline, {
      selection: { include: [], exclude: [] },
      aggregate: true,
    });
    const regions = model.scopes[0]?.regions ?? [];
    const addmm = regions.find(({ path }) => path.at(-1) === "aten::addmm");
    expect(addmm?.path).toEqual(["forward", "aten::addmm"]);
  });

  test("an event that the profiler did not see the end of is open", async () => {
    const { ranges } = await processOf([
      onHost("user_annotation", "step", 10, 90, { finished: "false" }),
    ]);
    expect(ranges).toMatchObject([{ name: "step", startNs: 10_000, endNs: null }]);
  });

  test("calls that wait for the GPU", async () => {
    const { synchronizations } = await processOf([
      onHost("cuda_runtime", "cudaStreamSynchronize", 5, 2, { correlation: 1 }),
      onHost("cuda_runtime", "cudaDeviceSynchronize", 1, 2),
      onHost("cuda_driver", "cuEventSynchronize", 9, 1),
      onHost("cuda_runtime", "cudaStreamWaitEvent", 12, 1),
    ]);
    expect(synchronizations?.map(({ kind, startNs, endNs }) => [kind, startNs, endNs])).toEqual([
      ["context", 1000, 3000],
      ["stream", 5000, 7000],
      ["event", 9000, 10_000],
    ]);
  });

  test("the memory of a GPU's allocator is a counter, and the CPU's where there is no GPU", async () => {
    const at = (ts: number, type: number, allocated: number): Event => ({
      ...{ ph: "i", cat: "cpu_instant_event", s: "t", name: "[memory]", pid: PID, tid: 7, ts },
      args: {
        ...{ "Device Type": type, "Device Id": type - 1, "Total Allocated": allocated },
        "Total Reserved": type * 2048,
      },
    });
    const operator = onHost("cpu_op", "aten::empty", 1, 5);
    const both = await processOf([operator, at(4, 1, 512), at(2, 1, 1024), at(3, 0, 64)]);
    expect(both.counters?.map(({ name, values }) => [name, ...values])).toEqual([
      ["memory allocated, gpu:0", 1024, 512],
      ["memory reserved, gpu:0", 2048, 2048],
    ]);
    const host = await processOf([operator, at(3, 0, 64)]);
    expect(host.counters?.map(({ name, values }) => [name, ...values])).toEqual([
      ["memory allocated, cpu", 64],
    ]);
  });

  test("collectives have the bytes that they send and receive", async () => {
    const { ranges } = await processOf([
      onHost("cpu_op", "record_param_comms", 1, 5, {
        "Collective name": "_allgather_base",
        dtype: "BFloat16",
        "In msg nelems": 100,
        "Out msg nelems": 400,
      }),
    ]);
    expect(ranges[0]?.values?.map(({ field, value }) => [field.name, field.unit, value])).toEqual([
      ["sent", "byte", 200],
      ["received", "byte", 800],
    ]);
  });

  test("times since 1970 stay exact, and the names of the first versions are read", async () => {
    const ts = 1_700_000_000_123_456;
    const { timeline, machine } = await read(
      [
        onHost("Operator", "aten::add", ts + 1, 8),
        onHost("Runtime", "cudaLaunchKernel", ts + 2, 3, { correlation: 3 }),
        onGpu("Kernel", "add", ts - 4, 2, 3),
        { ph: "M", name: "process_name", pid: PID, tid: 0, ts, args: { name: "python3" } },
        { ph: "M", name: "thread_name", pid: PID, tid: 7, ts, args: { name: "thread 7 (loader)" } },
      ],
      {
        deviceProperties: [{ id: 0, name: "NVIDIA H100 80GB HBM3" }],
        distributedInfo: { backend: "nccl", rank: 3, world_size: 8 },
      },
    );
    const [process] = timeline.processes;
    const [range] = process?.ranges ?? [];
    expect(timeline.originNs + BigInt(range?.startNs ?? 0)).toBe(1_700_000_000_123_457_000n);
    expect(process?.kernels.at(0)).toMatchObject({ launchThreadId: 7 });
    expect((range?.startNs ?? 0) - (process?.kernels.at(0)?.startNs ?? 0)).toBe(5000);
    expect(process).toMatchObject({ executable: "python3", rank: { rank: 3, size: 8 } });
    expect(process?.threadNames?.get(7)).toBe("loader");
    expect(machine.gpus).toEqual(["NVIDIA H100 80GB HBM3"]);
  });

  test("one recorded with PyTorch 1.13 of Debian, without Kineto: sums of operators are those of its events", async () => {
    const file = new URL("../../../fixtures/pytorch/cpu-1.13.pt.trace.json.gz", import.meta.url);
    const bytes = gunzipSync(readFileSync(file));
    const events: readonly Event[] = JSON.parse(bytes.toString("utf8"));
    const { timeline, problem } = await readTorchTrace([bytes]);
    expect(problem).toBeNull();
    const ranges = timeline.processes[0]?.ranges ?? [];
    const sums = (items: readonly (readonly [name: string, us: number])[]) => {
      const byName: Record<string, number> = {};
      for (const [name, us] of items) byName[name] = (byName[name] ?? 0) + us;
      return byName;
    };
    expect(
      sums(ranges.map(({ name, startNs, endNs }) => [name, ((endNs ?? 0) - startNs) / 1000])),
    ).toEqual(sums(events.map(({ name, dur }) => [String(name), Number(dur)])));
    expect(ranges.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["forward", "backward", "aten::conv2d", "ProfilerStep#1"]),
    );
  });
});

describe("the text of a trace", () => {
  const EVENTS = [
    { ph: "X", name: 'a "quoted" }{][ name\\', args: { list: [1, [2, { deep: "\\" }]] } },
    { ph: "X", name: "Ωperator, 漢字", ts: 1.5e3 },
    {},
    { ph: "M", name: "traceEvents", args: { traceEvents: [{}] } },
  ];
  const collect = (pieces: readonly Uint8Array[]) => {
    const events: unknown[] = [];
    const stream = createEventStream((some) => void events.push(...some));
    for (const piece of pieces) if (!stream.push(piece)) break;
    return { ...stream.finish(), events };
  };
  const split = (bytes: Uint8Array, at: readonly number[]): readonly Uint8Array[] => {
    const cuts = [...new Set(at.map((cut) => cut % bytes.length))].sort((a, b) => a - b);
    return [0, ...cuts].map((cut, index) => bytes.subarray(cut, cuts[index] ?? bytes.length));
  };

  const value = fc.jsonValue({ maxDepth: 3 });
  const event = fc.dictionary(fc.string(), value, { maxKeys: 4 });
  const space = fc.constantFrom(undefined, 1, "\t");

  test("is split into the same events wherever its pieces end", () => {
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 6 }),
        fc.dictionary(
          fc.string().filter((key) => !["traceEvents", "__proto__"].includes(key)),
          value,
          { maxKeys: 3 },
        ),
        fc.array(fc.nat(), { maxLength: 8 }),
        fc.tuple(space, fc.boolean()),
        (events, header, cuts, [indent, isFirst]) => {
          const whole = isFirst
            ? { traceEvents: events, ...header }
            : { ...header, traceEvents: events };
          const text = JSON.stringify(whole, null, indent);
          const found = collect(split(Buffer.from(text), cuts));
          expect(found).toMatchObject({
            problem: null,
            events: JSON.parse(JSON.stringify(events)),
          });
          expect(found.header).toEqual({
            ...JSON.parse(JSON.stringify(header)),
            traceEvents: [],
          });
        },
      ),
    );
  });

  test("that ends anywhere gives the events before, and says that it is cut", () => {
    const text = Buffer.from(JSON.stringify({ schemaVersion: 1, traceEvents: EVENTS, end: 1 }));
    for (let length = 1; length < text.length; length++) {
      const { events, problem } = collect([text.subarray(0, length)]);
      expect(problem).not.toBeNull();
      expect(events).toEqual(EVENTS.slice(0, events.length));
    }
    expect(collect([text]).problem).toBeNull();
    // Cut behind its events, with all of them.
    expect(collect([text.subarray(0, -1)]).events).toEqual(EVENTS);
  });

  test("with a damaged event gives those before it", () => {
    const text = JSON.stringify({ traceEvents: EVENTS }).replace('{"ph":"M"', '{"ph"="M"');
    expect(collect([Buffer.from(text)])).toMatchObject({
      events: EVENTS.slice(0, 3),
      problem: "event 4 is not valid JSON",
    });
  });
});
