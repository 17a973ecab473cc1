import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { readRecording } from "../../src/profiler/tools/recorder/read.ts";
import { fakeGpu, gpuEnvironment } from "./fake-gpu.ts";
import { availableClients, buildFixture } from "./fixtures.ts";
import { bare, GEMM, onlyProcess, summary, work } from "./gpu-recording.ts";
import { outline } from "./outline.ts";
import { recordingDirectory } from "./record.ts";
import { recordGpu } from "./record-gpu.ts";

const canBuild = availableClients("the recorder and the GPU").length > 0;

describe.runIf(canBuild)("with a GPU, the recorder", () => {
  test("records kernels, copies and sets with the calls that launched them", async () => {
    const process = await onlyProcess(["regions"]);
    expect(summary(process)).toEqual(work);
    expect(process.notes).toEqual([]);
    expect(outline({ processes: [process] })).toEqual(["main outer(inner)"]);
    for (const kernel of process.kernels) {
      expect(kernel.launchThreadId).toBe(process.pid);
      expect(kernel.context).toBe(kernel.device + 1);
      expect(kernel.stream).toBe(7);
    }
    const [, copy] = process.kernels;
    expect(copy?.bytes).toBe(4096);
  });

  test("places launches in order with the ranges of their thread", async () => {
    const { ranges, kernels } = await onlyProcess(["regions"]);
    const inside = (name: string) => {
      const range = ranges.find((one) => one.name === name);
      return [...kernels]
        .filter(
          ({ launchNs }) =>
            launchNs >= (range?.startNs ?? Number.NaN) && launchNs < (range?.endNs ?? Number.NaN),
        )
        .map(({ name: kernel }) => kernel);
    };
    expect(inside("inner")).toEqual(["relu", GEMM, "[CUDA memset]", "relu", "pool"]);
    expect(inside("outer")).toEqual(work.slice(1).map(([, name]) => name));
  });

  test("gives all kernels of a graph to the call that launched it", async () => {
    const { kernels } = await onlyProcess(["regions"]);
    const nodes = [...kernels].filter(({ graph }) => graph !== undefined);
    expect(nodes.map(({ name, graph }) => [name, graph])).toEqual([
      ["relu", { id: 3, node: (3n << 32n) + 1n }],
      ["pool", { id: 3, node: (3n << 32n) + 2n }],
    ]);
    expect(new Set(nodes.map(({ correlation }) => correlation)).size).toBe(1);
    expect(new Set(nodes.map(({ launchNs }) => launchNs)).size).toBe(1);
  });

  test("records how long the host waited, and not what streams wait for each other", async () => {
    const { synchronizations, pid } = await onlyProcess(["regions"]);
    expect(synchronizations).toHaveLength(1);
    const [wait] = synchronizations ?? [];
    expect(wait).toMatchObject({ kind: "context", threadId: pid, stream: null });
    expect((wait?.endNs ?? 0) - (wait?.startNs ?? 0)).toBe(70_000);
  });

  test.each([
    ["does not fill the file with the answers of events that are asked", {}, 0, 20_000],
    [
      "takes them where CUPTI knows no other way, and counts none as a wait",
      { FAKE_CUPTI_FAIL: "ActivityEnableAllSyncRecords=15" },
      100_000,
      Number.POSITIVE_INFINITY,
    ],
  ])("%s", async (_, env, least, most) => {
    const { timeline, directory } = await recordGpu(["polls", "10000"], env);
    const [process] = timeline.processes;
    expect([...(process?.kernels ?? [])].map(({ name }) => name)).toEqual(["relu"]);
    expect(process?.synchronizations).toEqual([]);
    expect(process?.notes).toEqual([]);
    const [file = ""] = readdirSync(directory);
    const { size } = statSync(join(directory, file));
    expect(size).toBeGreaterThan(least);
    expect(size).toBeLessThan(most);
  });

  test("records a launch once, be it of the runtime, which calls the driver, or of the driver alone", async () => {
    const { timeline, directory } = await recordGpu(["unseen", "10001"]);
    const [process] = timeline.processes;
    expect(process?.notes.join()).toContain("10,001 kernel launches have no kernel");
    const [file = ""] = readdirSync(directory);
    // 12 bytes each.
    expect(statSync(join(directory, file)).size).toBeLessThan(200_000);
  });

  test("takes a function that the host runs in a stream for no launch", async () => {
    const process = await onlyProcess(["host functions"]);
    expect([...process.kernels].map(({ name }) => name)).toEqual(["relu"]);
    expect(process.notes).toEqual([]);
  });

  test("names the devices", async () => {
    expect((await onlyProcess(["plain"])).devices).toEqual([
      { index: 0, name: "Pretended GPU A", computeCapability: "9.0" },
      { index: 1, name: "Pretended GPU B", computeCapability: "9.1" },
    ]);
  });

  test.each([12, 13, 14, 16, 18, 22, 24, 130001])(
    "reads the records of CUPTI API version %i, in any order",
    async (version) => {
      const process = await onlyProcess(["regions"], {
        FAKE_CUPTI_VERSION: `${version}`,
        FAKE_CUPTI_REVERSE: "1",
      });
      expect(process.notes).toEqual([]);
      const byText = (a: unknown[], b: unknown[]) => (`${a}` < `${b}` ? -1 : 1);
      expect(summary(process).sort(byText)).toEqual([...work].sort(byText));
      // Records had no graph before CUDA 11.1; what stood at its place must not be taken for one.
      expect([...process.kernels].filter(({ graph }) => graph !== undefined)).toHaveLength(
        version < 14 ? 0 : 2,
      );
      // The pretended GPU begins two microseconds after the launch or later. CUPTI's own clock,
      // in use before CUDA 11.8, runs an epoch apart from ours.
      for (const { launchNs, startNs } of process.kernels) {
        expect(startNs - launchNs).toBeGreaterThan(0);
        expect(startNs - launchNs).toBeLessThan(5e9);
      }
    },
  );

  test("keeps threads, streams and many buffers apart", async () => {
    const threads = 8;
    const launches = 2000;
    const process = await onlyProcess(["threads", `${threads}`, `${launches}`], {
      FAKE_CUPTI_BUFFER_RECORDS: "100",
      FAKE_CUPTI_REVERSE: "1",
    });
    expect(process.notes).toEqual([]);
    expect([...process.kernels]).toHaveLength(threads * launches);
    expect(new Set([...process.kernels].map(({ correlation }) => correlation)).size).toBe(
      threads * launches,
    );
    // Worker t launches on stream t, kernels of t + 1 ns, each inside a range of its own.
    const workers = new Map(process.ranges.map(({ threadId, name }) => [threadId, name]));
    for (const { launchThreadId, stream, name, startNs, endNs } of process.kernels) {
      expect(workers.get(launchThreadId ?? -1)).toBe(`worker ${stream}`);
      expect(endNs - startNs).toBe((stream ?? 0) + 1);
      expect(name).toBe((stream ?? 0) % 2 === 0 ? "even" : "odd");
    }
    for (const threadId of workers.keys()) {
      const kernels = [...process.kernels].filter(
        ({ launchThreadId }) => launchThreadId === threadId,
      );
      const ranges = process.ranges.filter((range) => range.threadId === threadId);
      expect(kernels).toHaveLength(ranges.length);
      kernels.forEach(({ launchNs }, i) => {
        expect(launchNs).toBeGreaterThanOrEqual(ranges[i]?.startNs ?? Number.NaN);
        expect(launchNs).toBeLessThanOrEqual(ranges[i]?.endNs ?? Number.NaN);
      });
    }
  });

  test("waits at the end for a buffer that CUPTI's thread still reads", async () => {
    const process = await onlyProcess(["threads", "1", "150"], {
      FAKE_CUPTI_BUFFER_RECORDS: "100",
      FAKE_CUPTI_SLOW_THREAD: "1",
    });
    expect(process.notes).toEqual([]);
    expect([...process.kernels]).toHaveLength(150);
  });

  test("waits for it, too, where the thread that ends the program is to be cancelled", async () => {
    const process = await onlyProcess(["exit cancelled"], { FAKE_CUPTI_SLOW_THREAD: "1" });
    expect(process.notes).toEqual([]);
    expect([...process.kernels]).toHaveLength(1);
    expect(process.finished).toBe(true);
  });

  test("says how many records CUPTI dropped", async () => {
    const process = await onlyProcess(["threads", "2", "100"], { FAKE_CUPTI_DROP: "10" });
    expect([...process.kernels]).toHaveLength(180);
    expect(bare(process.notes)).toEqual(["20 records of GPU work were dropped by CUPTI"]);
  });

  test("says what had not finished at the end, and keeps the rest", async () => {
    const process = await onlyProcess(["unfinished"]);
    expect([...process.kernels].map(({ name }) => name)).toEqual(["short"]);
    expect(bare(process.notes)).toEqual([
      "1 kernel or copy had not finished when the process ended",
    ]);
  });

  test("says how many records a full disk had no room for, and blames nothing else", async () => {
    const { program } = await fakeGpu();
    const directory = recordingDirectory();
    const limited = ["-c", 'ulimit -f 256; exec "$0" threads 1 10000', program];
    await execa("bash", limited, { env: await gpuEnvironment(directory) });
    const [process] = readRecording(directory).processes;
    const notes = bare(process?.notes ?? []);
    const [, lost] = /^([\d,]+) records of GPU work could not be written to the file$/m.exec(
      notes.join("\n"),
    ) ?? [null, ""];
    expect([...(process?.kernels ?? [])].length + Number(lost?.replaceAll(",", ""))).toBe(10_000);
    expect(notes.join("\n")).toMatch(/recording stopped after [\d.]+ s \(EFBIG\)/);
    expect(notes.join("\n")).not.toContain("the GPU's records did not arrive");
  });

  test("counts the driver's call inside the runtime's as no launch of its own, whatever its number", async () => {
    const process = await onlyProcess(["threads", "2", "50"], { FAKE_CUDA_OWN_CORRELATIONS: "1" });
    expect(process.kernels).toHaveLength(100);
    expect(process.notes).toEqual([]);
  });

  test("fetches what was recorded before a context is destroyed", async () => {
    const process = await onlyProcess(["reset"]);
    expect([...process.kernels].map(({ name }) => name)).toEqual([
      "before the reset",
      "after the reset",
      "before the release",
    ]);
    expect(process.notes).toEqual([]);
  });

  test("reads nothing from a buffer without records", async () => {
    const process = await onlyProcess(["regions"], { FAKE_CUPTI_EMPTY_BUFFER: "1" });
    expect(summary(process)).toEqual(work);
    expect(process.notes).toEqual([]);
  });

  test.each(["ActivityFlushAll", "ActivityGetNextRecord"])(
    "tells of kernels that %s kept back, though the process ended well",
    async (call) => {
      const process = await onlyProcess(["regions"], { FAKE_CUPTI_FAIL: `${call}=999` });
      expect([...process.kernels]).toEqual([]);
      const notes = bare(process.notes).join("\n");
      expect(notes).toMatch(`some GPU work was not recorded: cupti${call}: unknown error`);
      expect(notes).toMatch(/^\d+ kernel launch(?:es have| has) no kernel: /m);
    },
  );

  test("loses little in a crash: what is older than half a second is in the file", async () => {
    const { outcome, timeline } = await recordGpu(["crash"]);
    expect(outcome.code).toBeUndefined();
    const [process] = timeline.processes;
    expect([...(process?.kernels ?? [])].map(({ name }) => name)).toEqual(["fetched"]);
    expect(process?.kernels.at(0)?.launchNs).toBeLessThan(process?.ranges[0]?.endNs ?? 0);
    expect(bare(process?.notes ?? []).join("\n")).toMatch(/^1 kernel launch has no kernel: /m);
  });

  test.runIf(process.platform === "linux")(
    "fetches in time, whatever the time of day is set to meanwhile",
    async () => {
      const clock = await buildFixture("clock_ahead.cc", "own client", ["-shared", "-fPIC"]);
      const { timeline } = await recordGpu(["crash"], { LD_PRELOAD: clock });
      const [crashed] = timeline.processes;
      expect([...(crashed?.kernels ?? [])].map(({ name }) => name)).toEqual(["fetched"]);
    },
  );

  test("counts every record of a buffer that came while it wrote down another", async () => {
    const { kernels, synchronizations, notes } = await onlyProcess(["regions"], {
      FAKE_CUPTI_TWICE: "1",
    });
    // Beside them a stream that waits for another, which is of no interest.
    const lost = [...kernels].length + (synchronizations?.length ?? 0) + 1;
    expect(bare(notes)).toEqual([
      `${lost} records of GPU work could not be written to the file`,
      "1 event could not be recorded",
    ]);
  });

  test("fetches a kernel that ends long after the last launch", async () => {
    const [process] = (await recordGpu(["late crash"])).timeline.processes;
    if (process === undefined) throw new Error("nothing was recorded");
    expect(summary(process)).toEqual([["kernel", "long", 0, 1_200_000_000]]);
  });
});

describe.runIf(canBuild)("both ways into a process", () => {
  test("a program without NVTX is recorded through CUDA's variable alone", async () => {
    const process = await onlyProcess(["plain"], { NVTX_INJECTION64_PATH: undefined });
    expect(summary(process)).toEqual([["kernel", "relu", 0, 100]]);
    expect(process.ranges).toEqual([]);
  });

  test("ranges before CUDA is used and kernels after it make one recording", async () => {
    const process = await onlyProcess(["ranges first"]);
    expect(process.ranges.map(({ name }) => name)).toEqual(["before CUDA", "after"]);
    expect(summary(process)).toEqual([["kernel", "relu", 0, 100]]);
    expect(process.notes).toEqual([]);
  });

  test("NVTX's variable alone serves a program that has loaded the driver already", async () => {
    const process = await onlyProcess(["regions"], { CUDA_INJECTION64_PATH: undefined });
    expect(summary(process)).toEqual(work.slice(1)); // the first launch came before any range
  });

  test("HYDRACONF_RECORDER_GPU=off leaves the GPU alone", async () => {
    const process = await onlyProcess(["regions"], { HYDRACONF_RECORDER_GPU: "off" });
    expect([...process.kernels]).toEqual([]);
    expect(process.notes).toEqual([]);
    expect(process.ranges).toHaveLength(2);
  });

  test("a child forked before CUDA is used records for itself", async () => {
    const { outcome, timeline } = await recordGpu(["fork first"]);
    expect(outcome).toEqual({ code: 0, stdout: "", stderr: "" });
    const names = timeline.processes.map((process) => [...process.kernels].map(({ name }) => name));
    expect(names.sort()).toEqual([["of child"], ["of parent"]]);
    expect(timeline.processes.flatMap(({ notes }) => notes)).toEqual([]);
  });

  test("a child forked later keeps its ranges and leaves the parent's kernels alone", async () => {
    const { outcome, timeline } = await recordGpu(["fork"]);
    expect(outcome).toEqual({ code: 0, stdout: "", stderr: "" });
    const kernels = timeline.processes.map((process) =>
      [...process.kernels].map(({ name }) => name),
    );
    expect(kernels).toEqual([["before the fork", "after the fork"], []]);
    expect(timeline.processes[1]?.ranges.map(({ name }) => name)).toEqual(["in child"]);
    expect(timeline.processes.flatMap(({ notes }) => notes)).toEqual([]);
  });
});
